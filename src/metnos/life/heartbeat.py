"""The heart of an agent that lives by itself: does what is due, and writes down that it did. The one writer of
``beats``, ``pulse`` and ``places``.

Rules: one process at a time beats. What a beat does may fail (a chain that is away, a busy store): that is written
beside it, and the next one of its kind comes at its time; a failure never stops the others. Every organ can be called
again for the same thing without doing it twice, so a process that dies in the middle of a beat loses nothing.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from metnos.core import files
from metnos.core.clock import Clock, from_text, to_text
from metnos.core.decay import clamp01
from metnos.core.errors import MetnosError
from metnos.life import heartbeat_rules
from metnos.life.heartbeat_rules import ENOUGH, Beat, Pulse
from metnos.life.profile import Rates
from metnos.store.db import Database

LOCK = "heart.lock"
_PUT_BEAT = (
    "INSERT INTO beats (kind, count, last, message) VALUES (?, 1, ?, ?) ON CONFLICT (kind) DO UPDATE SET"
    " count = count + 1, last = excluded.last, message = excluded.message"
)
_PUT_PULSE = "INSERT OR REPLACE INTO pulse (one, curious, fresh) VALUES (1, ?, ?)"
_PUT_PLACE = "INSERT OR REPLACE INTO places (source, place, ts) VALUES (?, ?, ?)"


@dataclass(frozen=True, slots=True)
class Came:
    """What came of a beat: figures by name. ``curious`` and ``fresh`` are what a capture brought."""

    counts: Mapping[str, int] = field(default_factory=dict)
    curious: float = 0.0
    fresh: int = 0


@dataclass(frozen=True, slots=True)
class Beaten:
    """One beat that was done. ``message`` says what went wrong, if something did."""

    kind: Beat
    ts: datetime
    number: int
    counts: Mapping[str, int] = field(default_factory=dict)
    message: str = ""


Organ = Callable[[str], Came]  # is given the name of the beat


class Places:
    """How far each source was read."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    def get(self, source: str) -> int | None:
        row = self._db.first("SELECT place FROM places WHERE source = ?", (source,))
        return None if row is None else int(row[0])

    def put(self, source: str, place: int) -> None:
        with self._db.write() as tx:
            tx.execute(_PUT_PLACE, (source, place, to_text(self._clock.now())))


class Heart:
    """Beats for one agent. ``enough`` says how many episodes hurry a consolidation just now."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        folder: Path,
        rates: Rates,
        organs: Mapping[Beat, Organ],
        enough: Callable[[], int] = lambda: ENOUGH,
    ) -> None:
        self._db = db
        self._clock = clock
        self._folder = folder
        self._rates = rates
        self._organs = organs
        self._enough = enough

    def beat(self, *, also: Collection[Beat] = (), stop: Callable[[], bool] = lambda: False) -> list[Beaten] | None:
        """Do what is due, and ``also`` these; nothing at all if another process is at it."""
        with files.held(self._folder / LOCK) as mine:
            if not mine:
                return None
            done = []
            for kind in Beat:
                due = heartbeat_rules.due(self.pulse(), self._rates, self._clock.now())
                if not stop() and (kind in due or kind in also):
                    done.append(self._one(kind))
            return done

    def wake(self) -> datetime:
        """When something is due next."""
        return heartbeat_rules.wake(self.pulse(), self._rates, self._clock.now())

    def pulse(self) -> Pulse:
        last = {Beat(kind): from_text(ts) for kind, ts in self._db.query("SELECT kind, last FROM beats")}
        row = self._db.first("SELECT curious, fresh FROM pulse")
        curious, fresh = row or (0.0, 0)
        return Pulse(last, curious, fresh, self._enough())

    def beats(self) -> list[Beaten]:
        """The last one of each kind, with how many there were."""
        rows = self._db.query("SELECT kind, last, count, message FROM beats")
        found = {kind: Beaten(Beat(kind), from_text(ts), count, message=said) for kind, ts, count, said in rows}
        return [found[kind] for kind in Beat if kind in found]

    def _one(self, kind: Beat) -> Beaten:
        began, number = self._clock.now(), self._count(kind) + 1
        came, message = Came(), ""
        try:
            came = self._organs[kind](f"{kind} {number}")
        except MetnosError as error:
            message = error.what
        before = self.pulse()
        curious = 0.0 if kind is Beat.THETA else max(before.curious, clamp01(came.curious))
        fresh = 0 if kind is Beat.DELTA else before.fresh + came.fresh
        if message:  # what was not thought about still waits
            curious, fresh = before.curious, before.fresh
        with self._db.write() as tx:
            tx.execute(_PUT_BEAT, (str(kind), to_text(began), message))
            tx.execute(_PUT_PULSE, (curious, fresh))
        return Beaten(kind, began, number, came.counts, message)

    def _count(self, kind: Beat) -> int:
        row = self._db.first("SELECT count FROM beats WHERE kind = ?", (str(kind),))
        return int(row[0]) if row else 0
