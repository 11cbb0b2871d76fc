"""A name from the closed vocabulary for a tool of a server, proposed from the words of its own name.

Rules: pure. A proposal only: the owner can give another. Never a name that is taken.
"""

import re
from collections.abc import Collection, Iterator

from metnos.executors import vocabulary

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ELSEWHERE = ("remote", "local")
_READS, _ACTS, _THING = "get", "run", "data"  # where the tool's name says nothing that the vocabulary knows


def propose(tool: str, taken: Collection[str], *, acts: bool) -> str:
    """A free name; empty if there is none, and the owner has to think of one."""
    words = [word.lower() for word in _WORD.findall(tool)]
    return next((name for name in _candidates(words, acts) if name not in taken), "")


def _candidates(words: list[str], acts: bool) -> Iterator[str]:
    verbs = [verb for word in words if (verb := vocabulary.canonical_verb(word, "en"))] or [_ACTS if acts else _READS]
    things = [thing for word in words if (thing := _thing(word))] or [_THING]
    kinds = [kind for word in words if (kind := vocabulary.canonical_qualifier(word, "en"))]
    for thing in dict.fromkeys(things):
        yield f"{verbs[0]}_{thing}"
        yield from (f"{verbs[0]}_{thing}_{kind}" for kind in dict.fromkeys((*kinds, *_ELSEWHERE)))


def _thing(word: str) -> str | None:
    spellings = (word, f"{word}s", word.removesuffix("s"))
    return next((found for each in spellings if (found := vocabulary.canonical_object(each, "en"))), None)
