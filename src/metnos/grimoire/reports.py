"""Reports of consolidations, dreams and checks: what was done, in numbers, the newest first.

Rules: a report holds counts, times and names of rules, never a word of what was remembered, so that forgetting leaves
nothing behind here; at most so many of each kind are kept.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from metnos.core.clock import Clock, from_text, to_text
from metnos.store.db import Database

KINDS = ("curator", "dream", "health", "migration")
KEPT = 400  # of a kind: a year of nights, and then some


@dataclass(frozen=True, slots=True)
class Report:
    """One report."""

    id: int
    kind: str
    ts: datetime
    data: Mapping[str, Any]


class Reports:
    """The table of reports. Threads may share it."""

    def __init__(self, db: Database, clock: Clock, kept: int = KEPT) -> None:
        self._db = db
        self._clock = clock
        self._kept = kept

    def add(self, kind: str, data: Mapping[str, Any]) -> int:
        """Write one down, inside whatever transaction there is; the oldest beyond what is kept goes."""
        if kind not in KINDS:
            raise ValueError(f"{kind!r} is no kind of report; there are {', '.join(KINDS)}")
        with self._db.write() as tx:
            tx.execute(
                "INSERT INTO reports (kind, ts, data) VALUES (?, ?, ?)",
                (kind, to_text(self._clock.now()), json.dumps(dict(data), sort_keys=True)),
            )
            (new,) = tx.query("SELECT last_insert_rowid()")[0]
            tx.execute(
                "DELETE FROM reports WHERE kind = ? AND id <="
                " (SELECT id FROM reports WHERE kind = ? ORDER BY id DESC LIMIT 1 OFFSET ?)",
                (kind, kind, self._kept),
            )
        return int(new)

    def latest(self, kind: str = "", count: int = 10) -> list[Report]:
        """The newest first; of any kind unless one is named."""
        rows = self._db.query(
            "SELECT id, kind, ts, data FROM reports WHERE ? = '' OR kind = ? ORDER BY id DESC LIMIT ?",
            (kind, kind, count),
        )
        return [Report(id_, kind_, from_text(ts), json.loads(data)) for id_, kind_, ts, data in rows]
