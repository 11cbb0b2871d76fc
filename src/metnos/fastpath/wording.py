"""How a request is worded, beyond its form: what forms leave out and what may still matter.

A form has stems and no articles, so that *deleted the PDFs* and *delete a PDF* have the form of *delete the PDFs*. What
is compared here are requests as they are kept (see `mask`): words as they were spelled.

Rules: every word that is in the form must be spelled as it was when that form was heard; articles must leave as much
open (*a*, *il*, *i*), files must be one or many in both, and either both end in a question or none. Politeness does not
count. Too strict rather than too lenient: whatever differs is planned. Pure. English and Italian, as in `canonical`.
"""

import re
from collections import Counter
from collections.abc import Iterable

from metnos.fastpath.canonical import canonical
from metnos.fastpath.language import language
from metnos.fastpath.slots_source import fold

_TOKEN = re.compile(r"[^\W_]+|\?")
_ARTICLES = {
    "en": {"a": "one", "an": "one", "some": "some"},
    "it": {
        **dict.fromkeys(("un", "uno", "una"), "one"),
        **dict.fromkeys(("il", "lo", "la", "l"), "the one"),
        **dict.fromkeys(("i", "gli", "le"), "the many"),
    },
}


def otherwise(asked: str, known: str, form: str) -> str:
    """Why a request may mean something else than the one that had its form before; nothing if it may not.

    Both are given with their particulars masked.
    """
    new, old = _TOKEN.findall(fold(asked)), _TOKEN.findall(fold(known))
    stems = set(form.split())
    spelled = [word for word in new if word not in old and canonical(word, ()) in stems]
    if spelled:
        return f"it was never asked with the word {spelled[0]!r}"
    articles = _ARTICLES[language(known)]
    if _counted(new, articles) != _counted(old, articles):
        return "an article or a question mark is another"
    if _many(new, old) != _many(old, new):
        return "one is meant where it was many, or many where it was one"
    return ""


def _counted(words: Iterable[str], articles: dict[str, str]) -> Counter[str]:
    return Counter(articles.get(word, word) for word in words if word in articles or word == "?")


def _many(words: Iterable[str], other: list[str]) -> bool:
    """Whether what only one of two requests says, which is its kind of files, is in the plural."""
    own = (word for word in words if word not in other and canonical(word, ()))
    return any(len(word) > 2 and word.endswith("s") for word in own)
