"""What the tests of ageing share: passings, wishes, owners who are there or not, and a look at everything stored."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from metnos.core.clock import from_text
from metnos.mnestome.past import Past
from metnos.mnestome.rules import Rules, decayed, replay
from metnos.store.db import Database, Row

DAY = timedelta(days=1)
TABLES = ("mnests", "mnests_archive", "events", "events_moved", "ager_facts", "applied_turns")


@dataclass(frozen=True, slots=True)
class Passing:
    src: str = "find_files"
    dst: str = "read_files"
    src_version: str = "1.0.0"
    dst_version: str = "1.0.0"


@dataclass(frozen=True, slots=True)
class Wish:
    name: str = "sign_files"
    source: str = "request"
    source_version: str = ""
    signature: Mapping[str, Any] = field(default_factory=lambda: {"summary": "sign files"})


@dataclass(frozen=True, slots=True)
class Turn:
    turn: str
    closed: datetime
    passings: tuple[Passing, ...] = ()
    desired: tuple[Wish, ...] = ()
    tags: tuple[str, ...] = ()


def everything(db: Database) -> dict[str, list[Row]]:
    return {table: db.query(f"SELECT * FROM {table} ORDER BY 1, 2") for table in TABLES}


def there_since(start: datetime, now: datetime) -> Callable[[datetime], int]:
    """An owner who was there every day since ``start``."""
    return lambda since: max(0, (now - max(since, start)).days)


def away(_since: datetime) -> int:
    return 0


def replayed(db: Database, past: Past, key: str, at: datetime, rules: Rules | None = None) -> float:
    """The weight that a mnest's events alone lead to at a moment."""
    rate = (rules or Rules()).decay_lambda
    events = past.events(db, key)
    for event in events:
        rate = event.decay_lambda or rate
    weight, moment = replay(events, (rules or Rules()).decay_lambda)
    assert moment is not None
    return decayed(weight, moment, at, rate)


def stored(db: Database, key: str, at: datetime) -> float:
    ((weight, ts, rate),) = db.query("SELECT weight, ts_decayed, decay_lambda FROM mnests WHERE id = ?", (key,))
    return decayed(weight, from_text(ts), at, rate)
