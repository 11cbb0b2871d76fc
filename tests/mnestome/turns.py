"""Closed turns as the mnestome sees them, and what its rows must always be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from metnos.mnestome import record
from metnos.mnestome.lists import history, listing
from metnos.mnestome.mnest import Mnest
from metnos.mnestome.past import Past
from metnos.mnestome.rules import Rules, State, replay
from metnos.store.db import Database

START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)
RULES = Rules()


@dataclass(frozen=True, slots=True)
class Wish:
    name: str = "sign_files"
    source: str = "request"
    source_version: str = ""
    signature: Mapping[str, Any] = field(default_factory=lambda: {"summary": "sign files", "inputs": ["path"]})


@dataclass(frozen=True, slots=True)
class Pass:
    src: str = "find_files"
    dst: str = "read_files"
    src_version: str = "1.0.0"
    dst_version: str = "1.0.0"


@dataclass(frozen=True, slots=True)
class Turn:
    turn: str
    closed: datetime = START
    passings: Sequence[Pass] = ()
    desired: Sequence[Wish] = ()
    tags: Sequence[str] = ()


def passed(db: Database, src: str, dst: str, ts: datetime = START, *, times: int = 1, tags: Sequence[str] = ()) -> str:
    """Record a passing, and say which mnest has it."""
    made = [record.record_passing(db, Pass(src, dst), "T", ts, tags) for _ in range(times)]
    assert made[-1] is not None
    return made[-1]


def everything(db: Database) -> list[Mnest]:
    return [each for state in State for each in listing(db, START, state=state)]


def check(db: Database, past: Past | None = None, rules: Rules = RULES) -> None:
    """What always holds of the rows, and that their weights follow from their events alone."""
    found = everything(db)
    tuples = [(each.src, each.src_version, each.dst, each.dst_version) for each in found if each.live]
    assert len(tuples) == len(set(tuples))
    for each in found:
        changes = history(db, each.id, past)
        weight, at = replay([change.event for change in changes], rules.decay_lambda)
        assert each.weight == pytest.approx(weight, abs=1e-9)
        assert changes[-1].weight == weight
        assert each.weighed == at
        assert 0 <= each.weight <= 1
        assert each.uses >= 1
        assert each.first <= each.used <= each.weighed
        assert [change.new_state for change in changes if change.new_state][-1] == each.state
        assert all(change.event.reason for change in changes)


def reasons(db: Database, key: str) -> list[str]:
    return [change.event.reason for change in history(db, key)]
