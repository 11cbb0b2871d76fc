"""Episodes and vectors for tests of whatever keeps or reads them."""

import zlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metnos.core.embedding import Space
from metnos.grimoire.episode import Episode
from metnos.grimoire.episodes import Engine

START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
SPACE = Space("test", "1", "plain", 32)
OTHER = Space("other", "7", "plain", 24)

Vectors = NDArray[np.float32]


def episode(number: int, text: str = "", **fields: Any) -> Episode:
    given = {"ts": START + timedelta(minutes=number), "source": f"turn:{number}"} | fields
    return Episode(id=f"E{number:05}", text=text or f"episode number {number}", **given)


def vectors(count: int, seed: int = 0, dim: int = SPACE.dim) -> Vectors:
    """Directions at random, in clusters, as texts have them."""
    chance = np.random.default_rng(seed)
    centres = chance.normal(size=(max(1, count // 20), dim))
    rows = centres[chance.integers(len(centres), size=count)] + 0.5 * chance.normal(size=(count, dim))
    return unit(rows)


def add_four(store: Engine, start: int) -> Sequence[str]:
    """Add four episodes from this number on, in one call; which of them were new."""
    return store.add([episode(number) for number in range(start, start + 4)], vectors(4, start), SPACE)


def unit(rows: Any) -> Vectors:
    given = np.asarray(rows, dtype=np.float32)
    return np.asarray(given / np.linalg.norm(given, axis=-1, keepdims=True), dtype=np.float32)


def embedded(texts: Sequence[str], dim: int = SPACE.dim) -> Vectors:
    """The same text has the same vector."""
    return np.stack([vectors(1, zlib.crc32(text.encode()), dim)[0] for text in texts])
