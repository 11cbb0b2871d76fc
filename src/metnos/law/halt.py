"""Panic: stopping everything at once, from any process, and the list of what runs so that it can be stopped.

Rules: a halt holds from the moment it is stored, in every process, until the owner lifts it; stopping never waits for
the audit, lifting does. What runs is known by its process id together with the time the kernel started it, because a
number alone may belong to another process by now. Does not end any process: whoever reads the list does.
"""

from dataclasses import dataclass

from metnos.core.canon import sha256_hex
from metnos.core.clock import Clock, to_text
from metnos.core.errors import Refused
from metnos.core.ids import UlidMaker
from metnos.law.audit import Audit
from metnos.law.audit_line import Entry
from metnos.law.principal import Principal
from metnos.store.db import Database
from metnos.store.migrations import Migration

HALTED = "everything halted"
LIFTED = "halt lifted"

MIGRATIONS = (
    Migration(
        "0004_halts",
        (
            """CREATE TABLE halts (
                id TEXT PRIMARY KEY,
                ts TEXT NOT NULL,
                reason TEXT NOT NULL,
                lifted TEXT
            ) STRICT""",
            """CREATE TABLE running (
                pid INTEGER PRIMARY KEY CHECK (pid > 1),
                started TEXT NOT NULL,
                ts TEXT NOT NULL
            ) STRICT""",
        ),
    ),
)
FOR_GOOD = Migration(
    "0007_halts_for_good",  # of an agent that was retired: no owner's word brings it back
    ("ALTER TABLE halts ADD COLUMN for_good INTEGER NOT NULL DEFAULT 0 CHECK (for_good IN (0, 1))",),
)
_WAY_BACK = "If all is well again: metnos executor panic --lift"
_NO_WAY_BACK = "See: metnos life status"
_FOR_GOOD = "SELECT reason FROM halts WHERE for_good = 1 LIMIT 1"


@dataclass(frozen=True, slots=True)
class Halt:
    """Why nothing may act, and what the owner can do about it."""

    why: str
    fix: str


@dataclass(frozen=True, slots=True)
class Running:
    """A sandbox that is alive, or was: compare ``started`` with the kernel before ending it."""

    pid: int
    started: str


class Halts:
    """The kill switch of one workspace, and what it has to reach."""

    def __init__(self, db: Database, audit: Audit, clock: Clock) -> None:
        self._db = db
        self._audit = audit
        self._clock = clock
        self._ids = UlidMaker(clock)

    def halt(self, reason: str, *, for_good: bool = False) -> None:
        """Stop everything. From here on nothing gets a permit, in any process; ``for_good``: nobody lifts it."""
        with self._db.write() as tx:
            row = (self._ids(), to_text(self._clock.now()), reason, for_good)
            tx.execute("INSERT INTO halts (id, ts, reason, for_good) VALUES (?, ?, ?, ?)", row)
        # Behind the store, unlike any other line: a log that cannot be written must not keep anything going.
        self._audit.append(Entry(HALTED, {"halt": row[0]}, {"reason": sha256_hex(reason.encode())}))

    def lift(self, by: Principal) -> bool:
        """Let things happen again; says whether anything was halted. Only the owner may."""
        if not by.may_answer:
            raise Refused(f"{by} may not lift a halt", fix="Lift it at the terminal.")
        with self._db.write() as tx:
            if row := tx.first(_FOR_GOOD):
                raise Refused(f"everything was halted for good: {row[0]}", fix=_NO_WAY_BACK)
            count = len(tx.query("SELECT 1 FROM halts WHERE lifted IS NULL"))
            if count:
                names = {"channel": by.channel, "sender": by.sender}
                self._audit.append(Entry(LIFTED, names, counts={"halts": count}))
                tx.execute("UPDATE halts SET lifted = ? WHERE lifted IS NULL", (to_text(self._clock.now()),))
        return bool(count)

    def halted(self) -> Halt | None:
        """Why everything is halted; nothing if it is not."""
        row = self._db.first("SELECT ts, reason FROM halts WHERE lifted IS NULL ORDER BY id DESC LIMIT 1")
        if row is None:
            return None
        why = f"everything was halted at {row[0]}: {row[1] or 'no reason was given'}"
        return Halt(why, _NO_WAY_BACK if self.is_for_good() else _WAY_BACK)

    def why(self) -> str | None:
        """The same, for whoever only shows it."""
        return halt.why if (halt := self.halted()) else None

    def is_for_good(self) -> bool:
        """Whether nothing here will ever act again."""
        return self._db.first(_FOR_GOOD) is not None

    # -- what runs

    def register(self, pid: int, started: str) -> None:
        """Note a sandbox that now runs. An older one of the same number is gone, or it could not have that number."""
        with self._db.write() as tx:
            tx.execute(
                "INSERT OR REPLACE INTO running (pid, started, ts) VALUES (?, ?, ?)",
                (pid, started, to_text(self._clock.now())),
            )

    def unregister(self, pid: int) -> None:
        with self._db.write() as tx:
            tx.execute("DELETE FROM running WHERE pid = ?", (pid,))

    def running(self) -> list[Running]:
        return [Running(*row) for row in self._db.query("SELECT pid, started FROM running ORDER BY pid")]
