"""How a request is worded, beyond its form: what forms leave out and what may still matter.

A form has stems and no articles, so that *deleted the PDFs* and *delete a PDF* have the form of *delete the PDFs*. What
is compared here are requests as they are kept (see `mask`): words as they were spelled.

Rules: every word that is in both forms must be spelled as it was when that form was heard; articles must leave as much
open (*a*, *il*, *i*), what is one in one must not be many in the other, and either both end in a question or none.
Politeness does not count. Too strict rather than too lenient: whatever differs is planned. Pure. English
and Italian, as in `canonical`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from metnos.fastpath.canonical import canonical
from metnos.fastpath.language import language
from metnos.fastpath.slots_source import fold

_TOKEN = re.compile(r"[^\W_]+|\?")
_ARTICLES = {
    "en": {**dict.fromkeys(("a", "an", "one"), "one"), **dict.fromkeys(("some", "any"), "some")},
    "it": {
        **dict.fromkeys(("un", "uno", "una"), "one"),
        **dict.fromkeys(("alcuni", "alcune", "qualche"), "some"),
        **dict.fromkeys(("il", "lo", "la", "l"), "the one"),
        **dict.fromkeys(("i", "gli", "le"), "the many"),
    },
}


def otherwise(asked: str, known: str, form: str, known_form: str) -> str:
    """Why a request may mean something else than the one that it resembles, or has the form of; nothing if it may not.

    Both are given with their particulars masked, and with their plain forms.
    """
    new, old = _TOKEN.findall(fold(asked)), _TOKEN.findall(fold(known))
    shared = set(form.split()) & set(known_form.split())
    spelled = [word for word in new if word not in old and canonical(word, ()) in shared]
    if spelled:
        return f"it was never asked with the word {spelled[0]!r}"
    same, articles = form == known_form, _ARTICLES[language(known)]
    if _counted(new, articles, same) != _counted(old, articles, same) or _at_odds(new, old, articles):
        return "it says *a* or *the*, or asks a question, where it was never asked so"
    if _pairs(new, old) or _pairs(old, new) or (same and _many(new, old) != _many(old, new)):
        return "one is meant where it was many, or many where it was one"
    return ""


def _counted(words: Sequence[str], articles: dict[str, str], same: bool) -> Counter[str]:
    """Articles by what they leave open, and question marks. In other words *the* stands elsewhere and says little."""
    marks = (articles.get(word, word) for word in words if word in articles or word == "?")
    return Counter(mark for mark in marks if same or not mark.startswith("the "))


def _before(words: Sequence[str], articles: dict[str, str]) -> dict[str, str]:
    """Each word that an article stands before, and which."""
    known = {"the": "the", **articles}
    return {after: known[word] for word, after in pairwise(words) if word in known}


def _at_odds(new: Sequence[str], old: Sequence[str], articles: dict[str, str]) -> bool:
    """Whether the same word has *a* before it in one and *the* in the other."""
    one, other = _before(new, articles), _before(old, articles)
    return any(one[word] != other[word] for word in one.keys() & other.keys())


def _pairs(words: Iterable[str], other: list[str]) -> bool:
    """Whether one of two requests has the singular of a word and the other its plural."""
    return any(f"{word}s" in other for word in words if word not in other)


def _many(words: Iterable[str], other: list[str]) -> bool:
    """Whether what only one of two requests says, which is its kind of files, is in the plural."""
    own = (word for word in words if word not in other and canonical(word, ()))
    return any(len(word) > 2 and word.endswith("s") for word in own)
