"""Facts and a place for them, for the tests of several files."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metnos.core.clock import MovableClock
from metnos.core.embedding import Space
from metnos.core.ids import UlidMaker
from metnos.grimoire import happenings
from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Decay, Fact, Kind
from metnos.grimoire.facts import Facts
from metnos.grimoire.memory_schema import MIGRATIONS
from metnos.store.db import Database

START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
SPACE = Space("test", "1", "0", 8)


def fact(key: str = "01FACT", **changes: Any) -> Fact:
    """A well-grounded pattern about the world; what is named is changed."""
    given: dict[str, Any] = {
        "id": key,
        "kind": Kind.PATTERN,
        "text": "read_pdf takes 4 seconds when a file has more than 200 pages",
        "domain": "files",
        "confidence": 0.6,
        "quality": 0.5,
        "provenance": Provenance.SELF,
        "decay": Decay.STRATEGIC,
        "created": START,
        "reinforced": START,
        "applied": START,
        "sources": ("ep1", "ep2", "ep3"),
        "episode_count": 3,
    }
    return Fact(**{**given, **changes})


def place(folder: Path, clock: MovableClock, **options: Any) -> Facts:
    """A memory of its own, with everything told."""
    db = Database(folder / "grimoire.db", MIGRATIONS, clock=clock)
    return Facts(db, clock, UlidMaker(clock), happenings.tell(db, clock), **options)


@contextmanager
def opened(folder: Path, clock: MovableClock, **options: Any) -> Iterator[Facts]:
    made = place(folder, clock, **options)
    try:
        yield made
    finally:
        made.db.close()


def vector(*parts: float) -> NDArray[np.float32]:
    """A direction in the tests' space."""
    made = np.zeros(SPACE.dim, dtype=np.float32)
    made[: len(parts)] = parts
    length = float(np.linalg.norm(made))
    return made / np.float32(length or 1.0)


def on_disk(facts: Facts) -> bytes:
    """Everything that the file and its log hold, freed pages included."""
    folder = facts.db.path.parent
    return b"".join(path.read_bytes() for path in sorted(folder.glob("grimoire.db*")) if path.suffix != ".db-shm")


def told(facts: Facts) -> list[Mapping[str, Any]]:
    """What was told of writes, the oldest first."""
    return [each.data for each in happenings.newest(facts.db, happenings.WRITE, 1000)][::-1]
