"""Putting the mnestome of an earlier month back.

Rules: only the mnestome's own tables go back. The same file holds the index of executors and the fast paths' log, and
an old one of those would bring back what was revoked since. The snapshot is proved sound first, what is there now is
kept beside the snapshots, and the change is one transaction: it happens wholly or not at all. Numbers of events go on
from where they were, so none is ever given twice.

Does not know what happened since that month: whoever calls this offers the turns again to the projection, which works
those in that are not marked, and forgets again what was forgotten. Must not be used while others work with the file.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from metnos.core.errors import DaemonError, StoreCorrupt
from metnos.mnestome import bulk
from metnos.mnestome.past import Past
from metnos.mnestome.snapshot import Snapshots
from metnos.store.db import Database, Transaction

PROJECTIONS = ("mnests", "wishes")  # whose marks tell which turns are in the mnestome
_TABLES = {"mnests": "id", "mnests_archive": "id", "events": "id", "events_moved": "year", "ager_facts": "name"}
_BATCH = 10_000


@dataclass(frozen=True, slots=True)
class Rewound:
    """What was put back, and where that is which was there before."""

    month: str
    mnests: int
    events: int
    aside: Path


def rewind(
    db: Database, snapshots: Snapshots, past: Past, month: str, now: datetime, *, busy: Callable[[], bool]
) -> Rewound:
    """Put the mnestome of a month back. ``busy`` says whether a daemon is at work."""
    if busy():
        raise DaemonError(
            "the daemon is running, and works with the mnestome",
            fix="Stop it first, put the month back, start it again.",
        )
    with snapshots.open(month) as old:
        problems = old.problems()
        if problems:
            raise StoreCorrupt(
                f"the snapshot of {month} is damaged ({problems[0]})", fix="Nothing was changed. Use another month."
            )
        bulk.put_back(db)  # what a night that was killed laid aside is written down in a table that goes back
        aside = snapshots.keep_aside(now)
        with db.write() as tx:
            mnests, events, newest = _take_over(tx, old)
    past.forget_after(newest)
    return Rewound(month, mnests, events, aside)


def _take_over(tx: Transaction, old: Database) -> tuple[int, int, int]:
    """Every row of ours as it was; how many mnests and events that are, and the newest event's number."""
    guards = tx.query("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'events'")
    for name, _ in guards:
        tx.execute(f"DROP TRIGGER {name}")  # events are only ever added, except here, where they go back
    copied = {table: _replace(tx, old, table, key) for table, key in _TABLES.items()}
    for projection in PROJECTIONS:
        _replace(tx, old, "applied_turns", "turn", f"projection = {projection!r}")
    for _, sql in guards:
        tx.execute(sql)
    row = old.first("SELECT seq FROM sqlite_sequence WHERE name = 'events'")
    return copied["mnests"], copied["events"], int(row[0]) if row else 0


def _replace(tx: Transaction, old: Database, table: str, key: str, which: str = "TRUE") -> int:
    columns = [name for _, name, *_ in tx.query(f"PRAGMA table_info({table})")]
    listed, places = ", ".join(columns), ", ".join("?" * len(columns))
    tx.execute(f"DELETE FROM {table} WHERE {which}")  # noqa: S608 -- our own words, as below
    select = f"SELECT {listed} FROM {table} WHERE {which}"  # noqa: S608
    done, rows = 0, old.query(f"{select} ORDER BY {key} LIMIT ?", (_BATCH,))
    while rows:
        tx.execute_many(f"INSERT INTO {table} ({listed}) VALUES ({places})", rows)  # noqa: S608
        done += len(rows)
        last = rows[-1][columns.index(key)]
        rows = old.query(f"{select} AND {key} > ? ORDER BY {key} LIMIT ?", (last, _BATCH))
    return done
