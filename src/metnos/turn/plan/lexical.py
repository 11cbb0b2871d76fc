"""Words of requests and of tools: tokens, light stems, weights of common words, and a ranked index over fields.

The word lists are data in ``lexical.toml``. Rules: English and Italian are treated alike, because a request does not
say in which it is written: a stem only has to make the forms of one word meet, it need not be a word. Words that say
nothing weigh nothing; words that most tools have (make, get, show) weigh little. Pure; no text makes it fail.

Does not guarantee that two words of one stem mean the same.
"""

import math
import re
import tomllib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_CHARACTERS = 4000  # of a text that is looked at; what comes after is hardly what is asked
COMMON_WEIGHT = 0.35  # of a word such as "calculate": it agrees with too many tools to decide much
_SHORTEST_STEM = 4  # shorter ones join words that have nothing to do with one another (data, date)
_DOUBLES = "bdfgmnprt"  # letters that English doubles before an ending: stopping, planned
_SATURATION = 1.2  # the usual k1 of BM25: how fast a word that is repeated stops counting
_LENGTH = 0.5  # between the usual b of 0.75 and none: a tool with much text is rather well described than vague

_WORD = re.compile(r"[^\W_]+(?:[.+#-]?[^\W_]+)*")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PIECE = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Lists:
    """The word lists, folded."""

    stop: frozenset[str]
    common: frozenset[str]
    numbers: frozenset[str]
    times: frozenset[str]
    endings: tuple[str, ...]
    extensions: Mapping[str, str]  # extension -> the kind of thing


@dataclass(frozen=True, slots=True)
class Token:
    """A word of a text, and where it stands."""

    text: str
    start: int
    end: int


@cache
def lists() -> Lists:
    """The word lists as they are shipped."""
    data = tomllib.loads(resources.files("metnos.turn.plan").joinpath("lexical.toml").read_text(encoding="utf-8"))
    words = {kind: " ".join(by.values()).split() for kind, by in data.items() if kind != "extensions"}
    return Lists(
        stop=frozenset(words["stop"]),
        common=frozenset(words["common"]),
        numbers=frozenset(words["numbers"]),
        times=frozenset(words["times"]),
        endings=tuple(sorted(words["endings"], key=lambda ending: (-len(ending), ending))),
        extensions={each: kind for kind, names in data["extensions"].items() for each in names.split()},
    )


def tokens(text: str) -> tuple[Token, ...]:
    """The words of a text in order; a file name is one word."""
    found = _WORD.finditer(text[:MOST_CHARACTERS])
    return tuple(Token(each.group(), each.start(), each.end()) for each in found)


def name_parts(name: str) -> tuple[str, ...]:
    """The words of an identifier: ``find_files``, ``geo.distanceTo``."""
    return tuple(part.lower() for part in _PIECE.findall(_CAMEL.sub(" ", name[:MOST_CHARACTERS])))


def content(text: str) -> tuple[str, ...]:
    """The words of a text that say something, in small letters."""
    return tuple(part for token in tokens(text) for part in name_parts(token.text) if len(part) > 1 and weight(part))


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """What the forms of one word share."""
    plain = fold(word)
    if plain.endswith("ies") and len(plain) > _SHORTEST_STEM:
        plain = f"{plain[:-3]}y"
    elif plain.endswith("s") and not plain.endswith(("ss", "us", "is")) and len(plain) >= _SHORTEST_STEM:
        plain = plain[:-1]
    for ending in lists().endings:
        rest = plain.removesuffix(ending)
        if _SHORTEST_STEM <= len(rest) < len(plain):
            return rest[:-1] if rest[-1] == rest[-2] and rest[-1] in _DOUBLES else rest
    return plain


@lru_cache(maxsize=16384)
def weight(word: str) -> float:
    """How much a word says: 0 for a stop word, little for a common one, else 1."""
    plain = fold(word)
    if not plain or plain in lists().stop:
        return 0.0
    return COMMON_WEIGHT if plain in lists().common or plain.removesuffix("s") in lists().common else 1.0


def fold(word: str) -> str:
    """Small letters without accents."""
    if word.isascii():
        return word.lower()
    # Twice: taking a character apart may give capital letters, and making those small may give what comes apart again.
    apart = unicodedata.normalize("NFKD", word.casefold())
    apart = unicodedata.normalize("NFKD", apart.casefold())
    return "".join(each for each in apart if not unicodedata.combining(each))


class Index:
    """BM25F: documents of weighted fields, scored by the stems of a query."""

    def __init__(self, documents: Sequence[Sequence[tuple[float, Iterable[str]]]]) -> None:
        import numpy as np

        counted = [_counted(document) for document in documents]
        lengths = [sum(each.values()) for each in counted]
        mean = sum(lengths) / max(1, len(lengths)) or 1.0
        found: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        for number, (counts, length) in enumerate(zip(counted, lengths, strict=True)):
            slack = _SATURATION * (1 - _LENGTH + _LENGTH * length / mean)
            for word, count in counts.items():
                found[word].append((number, count / (count + slack)))
        self._size = len(documents)
        self._rows = {word: self._row(pairs) for word, pairs in found.items()}
        self._rarity = {word: self._rare(len(pairs)) for word, pairs in found.items()}
        self._zero = np.zeros(self._size)

    def rarity(self, word: str) -> float:
        """How much it says that a document has this stem: 1 when no document has it, less the more have it."""
        return self._rarity.get(word, 1.0)

    def has(self, word: str) -> bool:
        """Whether any document has this stem."""
        return word in self._rows

    def scores(self, query: Mapping[str, float]) -> "NDArray[np.float64]":
        """For each document, the share of the query's weight that it has: 0 to 1."""
        total = sum(share * self.rarity(word) for word, share in query.items())
        if total <= 0:
            return self._zero.copy()
        summed = self._zero.copy()
        for word, share in query.items():
            row = self._rows.get(word)
            if row is not None:
                summed += row * (share * self._rarity[word])
        return summed / total

    def _row(self, pairs: list[tuple[int, float]]) -> "NDArray[np.float64]":
        import numpy as np

        row = np.zeros(self._size)
        for number, score in pairs:
            row[number] = score
        return row

    def _rare(self, holders: int) -> float:
        """The usual idf, as a share of that of a word which no document has."""
        most = math.log(1 + (self._size + 0.5) / 0.5)
        return math.log(1 + (self._size - holders + 0.5) / (holders + 0.5)) / most


def _counted(document: Sequence[tuple[float, Iterable[str]]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for share, words in document:
        for word in words:
            counts[stem(word)] += share * (weight(word) or 0.1)  # type: ignore[assignment]  # weighted counts
    return counts
