"""What a model says is missing, as a wish: named from the closed vocabulary, or not at all.

A model names things freely (`order_pizza`, `turn_on_lights`). Each of its words is looked up in the vocabulary: as it
stands, by what people say for it, and by likeness; a verb and an object must be found. What a model's words cannot
name the owner's may: that is `metnos.turn.plan.wish`.

Rules: pure; never the name of an executor that is there. After content was read there are no wishes: content must not
decide what is built.
"""

import re
from collections.abc import Callable, Collection, Mapping

from metnos.context.fence import visible
from metnos.core.nearest import nearest
from metnos.executors import vocabulary
from metnos.turn.plan.records import REQUEST, Wish

_CLOSE = 0.8
_MOST_WORDS = 32  # that are compared with what is known
_LONGEST = 80  # characters of a name that are looked at
_SUMMARY = 120

Canonical = Callable[[str], str | None]


def wish(said: str, request: str, source: str, existing: Collection[str]) -> Wish | None:
    """The wish behind a model's name for what is missing; nothing if the vocabulary has no words for it."""
    words = re.findall(r"[a-zà-ÿ]+", said[:_LONGEST].casefold())
    known = vocabulary.load()
    verb, rest = _first(words, known.verbs, vocabulary.canonical_verb)
    thing, rest = _first(rest, known.objects, vocabulary.canonical_object)
    if verb is None or thing is None:
        return None
    qualifier, _ = _first(rest, known.qualifiers, vocabulary.canonical_qualifier)
    plain = str(vocabulary.Name(verb, thing))
    names = [plain, *([str(vocabulary.Name(verb, thing, qualifier))] if qualifier else [])]
    free = [name for name in names if name not in existing]
    if not free:
        return None
    return Wish(free[0], source or REQUEST, " ".join(visible(request).split())[:_SUMMARY], (), (thing,))


def _first(words: list[str], known: Mapping[str, object], canonical: Canonical) -> tuple[str | None, list[str]]:
    """The first word that has a meaning here, and the words behind it."""
    for place, word in enumerate(words):
        for spelled in (word, f"{word}s", word.removesuffix("s")):
            if found := canonical(spelled):
                return found, words[place + 1 :]
    for place, word in enumerate(words[:_MOST_WORDS]):
        close = nearest(word, known, cutoff=_CLOSE) if len(word) > 3 else []
        if close:
            return close[0], words[place + 1 :]
    return None, words
