"""Events of past years, in a file of their own beside the living ones.

Rules: an event leaves the living file only after it is on the disk here, and in the transaction that notes how far its
year has moved (``events_moved``). That note alone says what of this file counts: what lies beyond it is left over from
a move that was cut short, or from a time that was undone, and the next move writes over it. So a crash at any point
loses nothing and counts nothing twice. Events keep their numbers, and their order is the order of numbers, because a
clock may be set back. A year is a year of UTC.

Does not guarantee that the file is small: nothing here is ever forgotten.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from metnos.core.clock import Clock, from_text, to_text
from metnos.mnestome.rules import Event, Kind
from metnos.store.db import Database, Row, Transaction
from metnos.store.migrations import Migration

MIGRATIONS = (
    Migration(
        "0001_past_events",
        (
            """CREATE TABLE events (
                id INTEGER PRIMARY KEY,
                mnest_id TEXT NOT NULL,
                ts TEXT NOT NULL,
                kind TEXT NOT NULL,
                delta REAL,
                new_state TEXT,
                reason TEXT NOT NULL,
                turn TEXT,
                decay_lambda REAL
            ) STRICT""",
            "CREATE INDEX events_mnest ON events (mnest_id, id)",
        ),
    ),
)

COLUMNS = "id, mnest_id, ts, kind, delta, new_state, reason, turn, decay_lambda"
_PLACES = ", ".join("?" * len(COLUMNS.split(", ")))
_BATCH = 5000  # events at a time: the living file is locked for some tens of milliseconds

Progress = Callable[[int], None]


def _quiet(_done: int) -> None:
    """For whoever does not watch."""


class Past:
    """The file of past events. It is made when the first year is over."""

    def __init__(self, path: Path, *, busy_timeout_s: float = 10.0, clock: Clock | None = None) -> None:
        self.path = path
        self._busy_timeout_s = busy_timeout_s
        self._clock = clock
        self._db: Database | None = None

    @property
    def db(self) -> Database | None:
        """The file for reading, if there is one yet."""
        return self._open() if self._db is not None or self.path.exists() else None

    def close(self) -> None:
        if self._db is not None:
            self._db.close()

    # -- reading

    def rows(self, live: Database, mnest: str) -> list[Row]:
        """Everything that happened to one mnest in any year, the oldest first; the columns are `COLUMNS`."""
        mine = f"SELECT {COLUMNS} FROM events WHERE mnest_id = ? ORDER BY id"  # noqa: S608 -- our own words
        # In this order: what moves meanwhile is then seen twice and never missed.
        found = {row[0]: row for row in live.query(mine, (mnest,))}
        past = self.db
        moved = past.query(mine, (mnest,)) if past else []
        upto: dict[str, int] = dict(live.query("SELECT year, upto FROM events_moved")) if moved else {}
        found |= {row[0]: row for row in moved if row[0] <= upto.get(_year(row[2]), 0)}
        return [found[number] for number in sorted(found)]

    def events(self, live: Database, mnest: str) -> list[Event]:
        """The same, as far as weights are concerned."""
        return [
            Event(from_text(ts), Kind(kind), delta, decay_lambda, reason)
            for _, _, ts, kind, delta, _, reason, _, decay_lambda in self.rows(live, mnest)
        ]

    # -- moving

    def due(self, live: Database, now: datetime) -> int:
        """How many events of past years there are to move."""
        row = live.first("SELECT count(*) FROM events WHERE ts < ?", (_begin(now),))
        return int(row[0]) if row else 0

    def move(self, live: Database, now: datetime, progress: Progress = _quiet) -> int:
        """Bring the events of years that are over here; returns how many."""
        done = 0
        while (row := live.first("SELECT min(ts) FROM events WHERE ts < ?", (_begin(now),))) and row[0]:
            done = self._move_year(live, _year(row[0]), now, done, progress)
        return done

    def forget_after(self, number: int) -> int:
        """Take out what came after event ``number``: a mnestome from before it was put back. Returns how many."""
        past = self.db
        if past is None:
            return 0
        with past.write() as tx:
            return tx.execute("DELETE FROM events WHERE id > ?", (number,))

    # -- inside

    def _move_year(self, live: Database, year: str, now: datetime, done: int, progress: Progress) -> int:
        edges = (f"{year}-", f"{year}.")  # "." sorts right behind "-"
        first, last = live.first("SELECT min(id), max(id) FROM events WHERE ts > ? AND ts < ?", edges) or (None, None)
        while first is not None and (rows := self._move_batch(live, year, (first, last), now)):
            first = rows[-1][0] + 1
            done += len(rows)
            progress(done)
        return done

    def _move_batch(self, live: Database, year: str, bounds: tuple[int, int], now: datetime) -> list[Row]:
        """One batch, under the living file's lock from beginning to end: of two who move, one waits."""
        with live.write() as tx:
            rows = tx.query(
                f"SELECT {COLUMNS} FROM events WHERE id BETWEEN ? AND ? AND substr(ts, 1, 4) = ?"  # noqa: S608 -- ours
                " ORDER BY id LIMIT ?",
                (*bounds, year, _BATCH),
            )
            if rows:
                self._copy(year, _moved(tx, year), rows)
                tx.execute(
                    "INSERT INTO events_moved (year, upto, ts) VALUES (?, ?, ?)"
                    " ON CONFLICT DO UPDATE SET upto = excluded.upto, ts = excluded.ts",
                    (year, rows[-1][0], to_text(now)),
                )
                tx.execute_many("DELETE FROM events WHERE id = ?", [(row[0],) for row in rows])
            return rows

    def _copy(self, year: str, upto: int, rows: list[Row]) -> None:
        """What is beyond the note does not count, whatever it is, and goes first."""
        with self._open().write() as tx:
            tx.execute("DELETE FROM events WHERE id > ? AND substr(ts, 1, 4) = ?", (upto, year))
            tx.execute_many(f"INSERT INTO events ({COLUMNS}) VALUES ({_PLACES})", rows)  # noqa: S608 -- our own words

    def _open(self) -> Database:
        if self._db is None:
            self._db = Database(self.path, MIGRATIONS, busy_timeout_s=self._busy_timeout_s, clock=self._clock)
        return self._db


def _moved(tx: Transaction, year: str) -> int:
    row = tx.first("SELECT upto FROM events_moved WHERE year = ?", (year,))
    return int(row[0]) if row else 0


def _begin(now: datetime) -> str:
    return f"{now.astimezone(UTC).year:04d}-"


def _year(ts: str) -> str:
    return ts[:4]
