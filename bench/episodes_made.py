"""Episodes that were never lived: texts of words as frequent as words are, and vectors in clusters as texts have them.

Rules: the same numbers give the same episodes and vectors, in whatever order and process they are made. A vector is a
centre and as much noise: near ones of one cluster have a cosine of about a half, as sentences about one thing have; a
query is another vector of the same kind, so its nearest are not trivially itself.
"""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metnos.core.embedding import Space
from metnos.grimoire.episode import Episode, Scope

Vectors = NDArray[np.float32]

START = datetime(2026, 1, 1, tzinfo=UTC)

_BLOCK = 1_000  # made at once
_CLUSTERS = 2_000
_NOISE = 1.0  # as long as the centre itself
_WORDS = 20_000
_LENGTH = 20  # words of a text
_TURNS = 50  # of a session
_QUERIES = 10**9  # the number of the first block that queries are made of


def space(dim: int) -> Space:
    return Space("made", "1", "none", dim)


def blocks(count: int, dim: int, start: int = 0) -> Iterator[tuple[list[Episode], Vectors]]:
    """Episodes and their vectors, a thousand at a time."""
    for first in range(start, start + count, _BLOCK):
        many = min(_BLOCK, start + count - first)
        yield [episode(first + offset) for offset in range(many)], vectors(first // _BLOCK, many, dim)


def episode(number: int) -> Episode:
    chance = np.random.default_rng(number)
    ranks = chance.zipf(1.3, size=_LENGTH) % _WORDS
    return Episode(
        id=id_of(number),
        ts=START + timedelta(seconds=30 * number),
        text=" ".join(_word(int(rank)) for rank in ranks),
        source=f"turn:{number}",
        payload={"steps": [{"executor": "find_files", "ok": True, "count": number % 7}]},
        session=f"session:{number // _TURNS}",
        scope=Scope.SESSION if number % 20 == 0 else Scope.OWNER,
        domain=f"domain:{number % 12}",
        curiosity=float(chance.random()),
    )


def id_of(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()[:26]


def vectors(block: int, count: int, dim: int) -> Vectors:
    chance = np.random.default_rng(block)
    centres = _centres(dim)
    noise = chance.normal(size=(count, dim)).astype(np.float32) / np.sqrt(dim)
    return unit(centres[chance.integers(len(centres), size=count)] + _NOISE * noise)


def queries(count: int, dim: int) -> Vectors:
    return vectors(_QUERIES, count, dim)


def questions(count: int) -> list[str]:
    """A few words each, as frequent as in the texts."""
    return [" ".join(episode(_QUERIES + number).text.split()[:6]) for number in range(count)]


def unit(rows: Any) -> Vectors:
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True), dtype=np.float32)


_KNOWN: dict[int, Vectors] = {}


def _centres(dim: int) -> Vectors:
    if dim not in _KNOWN:
        _KNOWN[dim] = unit(np.random.default_rng(dim).normal(size=(_CLUSTERS, dim)).astype(np.float32))
    return _KNOWN[dim]


def _word(rank: int) -> str:
    """A word of its own for each rank; the frequent ones are short."""
    letters = "etaoinshrdlu"
    word = ""
    rank += 1
    while rank:
        rank, place = divmod(rank, len(letters))
        word += letters[place]
    return f"w{word}"
