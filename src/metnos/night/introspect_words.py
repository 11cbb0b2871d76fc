"""What a proposal is said in: words of the vocabulary, names of arguments, numbers; and what may be somebody's words.

Rules: the only words of an owner or a model in a need are those of a wish's summary, and they stand between quotation
marks (``“…”``), bounded, in one line and without marks, tags or unseen characters: text that is read and never obeyed.
What is fixed in an argument is said only if it is a number or a word of the vocabulary: whatever else an owner gave
stays in its turn. Names that the vocabulary does not know are not said at all. Pure.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from metnos.context.fence import inert
from metnos.executors import vocabulary

OPENS, CLOSES = "“", "”"
MOST_SAID = 160  # characters of a summary: a sentence
_MOST_NAMES = 12  # of arguments, outputs or errors: more is a model that rambles
_PLAIN = re.compile(r"[^\w\s.,;:!?'()/%+-]")
_IDENTIFIER = re.compile(r"[a-z][a-z0-9_]{0,39}")
_TEMPLATE = re.compile(r"\{\{.*\}\}", re.DOTALL)
_LETTERS = re.compile(r"[^\W\d_]+")
_PARTICULAR = re.compile(r"<[a-z]{3,}(?: \(([a-z0-9]+)\))?>")  # what `metnos.turn.plan.wish` puts in a value's place
_SEVERAL = re.compile(r"\.\.\.(?:\s+(?:(?:and|e)\s+)?\.\.\.)+")
FLOW = frozenset({"entries", "from_step", "results"})  # arguments that only pass on what another gave (DESIGN 7)


def phrase(name: str) -> str:
    """``read_files_pdf`` as people say it: *read pdf files*."""
    parts = vocabulary.parse_name(name)
    return " ".join(filter(None, (parts.verb, parts.qualifier, parts.object)))


def said(summary: object) -> str:
    """Somebody's words as inert text, between quotation marks; empty if there are none."""
    words = _PLAIN.sub(" ", inert(str(summary)[: 4 * MOST_SAID]))
    whole = " ".join(words.split())[:MOST_SAID].strip()
    return f"{OPENS}{whole}{CLOSES}" if any(char.isalpha() for char in whole) else ""


def wished(summary: object) -> str:
    """The words of a wish, in the same way. A value in it is its kind, or else dots: *quoted* is nobody's word."""
    plain = _PARTICULAR.sub(lambda found: found[1] or "...", str(summary)[: 4 * MOST_SAID])
    return said(_SEVERAL.sub("...", plain))


def names(found: object) -> tuple[str, ...]:
    """Names of arguments, fields or errors: what is none is left out."""
    listed: Iterable[object] = found if isinstance(found, list | tuple) else ()
    sound = (each for each in listed if isinstance(each, str) and _IDENTIFIER.fullmatch(each))
    return tuple(dict.fromkeys(sound))[:_MOST_NAMES]


def telling(args: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that say something: no flow, no references, no booleans, no defaults, and plain values only."""
    return {
        name: value
        for name, value in args.items()
        if name not in FLOW and _IDENTIFIER.fullmatch(name) and _is_plain(value)
        if name not in defaults or defaults[name] != value
    }


def constant(value: Any) -> str:
    """A fixed value in words that are nobody's own: a number, or the one word of the vocabulary in it; else empty."""
    if isinstance(value, int | float):
        return f"{value:g}"
    found = _LETTERS.findall(str(value).casefold())
    if len(found) != 1 or any(mark in str(value) for mark in "/~@\\"):  # a place or an address is the owner's own
        return ""
    known = vocabulary.load()
    word = vocabulary.canonical_qualifier(found[0]) or found[0]
    return word if word in known.qualifiers or word in known.objects or word in known.verbs else ""


def qualified(name: str, values: Iterable[str]) -> str:
    """A name with the qualifier that one of these words is; empty if there is none, or it has one already."""
    known = vocabulary.load().qualifiers
    found = next((value for value in values if value in known), "")
    return f"{name}_{found}" if found and name.count("_") == 1 and vocabulary.is_known(f"{name}_{found}") else ""


def times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def within(days: int) -> str:
    return "in a day" if days <= 1 else f"in {days} days"


def _is_plain(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    return not (isinstance(value, str) and _TEMPLATE.search(value))
