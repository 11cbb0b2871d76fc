"""Facts, episodes and a memory for tests of what is kept, shown, forgotten and moved."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from metnos.core.clock import MovableClock
from metnos.grimoire import facts_rows
from metnos.grimoire.episode import Episode, Provenance
from metnos.grimoire.fact import Decay, Fact, Kind
from metnos.grimoire.memory_schema import MIGRATIONS
from metnos.store.db import Database

START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


def open_memory(folder: Path) -> Database:
    return Database(folder / "grimoire.db", MIGRATIONS, busy_timeout_s=60, clock=MovableClock(START))


def fact(key: str, text: str, **given: Any) -> Fact:
    made = Fact(
        id=key,
        kind=Kind.HEURISTIC,
        text=text,
        domain="find_files",
        confidence=0.8,
        quality=0.7,
        provenance=Provenance.SELF,
        decay=Decay.STRATEGIC,
        created=START,
        reinforced=START,
        applied=START,
    )
    return replace(made, **given)


def put(db: Database, *facts: Fact) -> None:
    with db.write() as tx:
        for each in facts:
            facts_rows.write(tx, each, None, None)


def episode(key: str, text: str, **given: Any) -> Episode:
    return replace(Episode(id=key, ts=START, text=text, source=f"turn {key}"), **given)
