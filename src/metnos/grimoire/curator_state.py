"""How far consolidation has come: rows of ``progress`` that only the curator writes.

Rules: everything here is an id, a number or a time, never a word of what is remembered. What belongs to a piece of work
is written in the transaction of that work, so a killed process finds either both or neither.
"""

import json
from dataclasses import asdict, astuple, dataclass, field, replace
from typing import Any

from metnos.core.clock import Clock, to_text
from metnos.store.db import Database, Transaction

_PLACE, _FRESH, _NOTABLE, _WATCHED, _PLAN, _DONE = (
    f"curator {name}" for name in ("place", "fresh", "notable", "watched", "plan", "done")
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the curator stands. ``judged`` is the last ``seq`` that it has seen, ``hand`` the last that it weighed."""

    judged: int = 0
    learnt: int = 0  # the last ``seq`` whose order was looked at
    cycle: int = 0
    ticks: int = 0  # since the last cycle
    hand: int = 0
    barren: int = 0  # episodes in a row that were weighed and could not go


@dataclass(frozen=True, slots=True)
class Watched:
    """An episode that a word may still come on, until when, and what was thought of it when last looked at."""

    id: str
    until: str
    verdict: str


@dataclass(frozen=True, slots=True)
class Plan:
    """One cycle's work, laid down before it begins: which episodes are consolidated together.

    ``units`` are lists of episodes; ``first`` and ``last`` bound the new ones for what needs their order, the first
    left out.
    """

    cycle: int
    started: str
    first: int
    last: int
    fresh: tuple[str, ...] = ()
    units: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """How much of a plan is done, and what came of it."""

    units: int = 0
    counts: dict[str, int] = field(default_factory=dict)


class CuratorState:
    """Reads and writes the curator's rows. Writing belongs into somebody's transaction."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    def tick(self, count: int, every: int) -> bool:
        """Count ticks; says whether a cycle is due."""
        with self._db.write() as tx:
            place = self.place()
            self.set_place(tx, replace(place, ticks=place.ticks + count))
        return self.due(every)

    def due(self, every: int) -> bool:
        """Whether enough has happened, or a cycle was begun and not ended."""
        return self.plan() is not None or self.place().ticks >= every

    def place(self) -> Place:
        return Place(**(self._read(_PLACE) or {}))

    def set_place(self, tx: Transaction, place: Place) -> None:
        self._write(tx, _PLACE, asdict(place))

    def fresh(self) -> list[str]:
        """Verified episodes that were not consolidated yet."""
        return list(self._read(_FRESH) or [])

    def set_fresh(self, tx: Transaction, ids: list[str]) -> None:
        self._write(tx, _FRESH, ids)

    def notable(self) -> list[str]:
        """Episodes that stood out when they were new, the oldest first."""
        return list(self._read(_NOTABLE) or [])

    def set_notable(self, tx: Transaction, ids: list[str]) -> None:
        self._write(tx, _NOTABLE, ids)

    def watched(self) -> list[Watched]:
        """Episodes that a word may still come on, the oldest first."""
        return [Watched(*each) for each in self._read(_WATCHED) or []]

    def set_watched(self, tx: Transaction, watched: list[Watched]) -> None:
        self._write(tx, _WATCHED, [astuple(each) for each in watched])

    def plan(self) -> tuple[Plan, Done] | None:
        """The work that was begun and not ended."""
        plan, done = self._read(_PLAN), self._read(_DONE)
        if plan is None:
            return None
        units = tuple(tuple(unit) for unit in plan.pop("units"))
        return Plan(**{**plan, "fresh": tuple(plan["fresh"])}, units=units), Done(**(done or {}))

    def set_plan(self, tx: Transaction, plan: Plan) -> None:
        self._write(tx, _PLAN, asdict(plan))
        self._write(tx, _DONE, asdict(Done()))

    def set_done(self, tx: Transaction, done: Done) -> None:
        self._write(tx, _DONE, asdict(done))

    def end_plan(self, tx: Transaction) -> None:
        tx.execute("DELETE FROM progress WHERE name IN (?, ?)", (_PLAN, _DONE))

    def _read(self, name: str) -> Any:
        row = self._db.first("SELECT value FROM progress WHERE name = ?", (name,))
        return None if row is None else json.loads(row[0])

    def _write(self, tx: Transaction, name: str, value: Any) -> None:
        tx.execute(
            "INSERT OR REPLACE INTO progress (name, value, ts) VALUES (?, ?, ?)",
            (name, json.dumps(value), to_text(self._clock.now())),
        )
