"""Which executors planners get to see: the fit, the new, and now and then one of the others.

Rules: whatever came with Metnos is always seen, however little it is used: without it nothing could be done at all. Of
all others, what is unfit, unproven or dormant (`fitness_rules.decline`) is hidden from planners and stays in the
library: it runs by name, by a fast path that leads to it, and where another calls it. What is hidden is hidden in one
version; a new one is seen. Now and then a turn sees one of the hidden again, which is decided by the turn's id alone.
Being hidden ends as soon as its reason does.

The one writer of ``executor_hidden`` and ``executor_asked``. Does not archive, ask or record: whoever judges does.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from metnos.core.clock import from_text, to_text
from metnos.executors import fitness, fitness_rules, index
from metnos.executors.fitness_rules import Rules, Why
from metnos.executors.signature import Origin
from metnos.executors.state import USABLE, State
from metnos.store.db import Database

ActiveDays = Callable[[datetime], int]  # on how many days since then the owner was there


@dataclass(frozen=True, slots=True)
class Hidden:
    """An executor that planners do not see."""

    name: str
    digest: str
    why: Why
    since: datetime


@dataclass(frozen=True, slots=True)
class Judged:
    """What a pass over all executors found. ``shown`` are those that had been hidden and can be chosen again."""

    hidden: tuple[Hidden, ...] = ()
    shown: tuple[str, ...] = ()
    extinct: tuple[index.Entry, ...] = ()  # so long in quarantine that they are to go


class Selection:
    """Who is hidden in one workspace. Threads may share it."""

    def __init__(self, db: Database, rules: Rules) -> None:
        self._db = db
        self.rules = rules

    def hidden(self) -> dict[str, Hidden]:
        """Everything that is hidden, by name."""
        rows = self._db.query("SELECT name, digest, why, ts FROM executor_hidden ORDER BY name")
        return {name: Hidden(name, digest, Why(why), from_text(ts)) for name, digest, why, ts in rows}

    def explored(self, turn: str, hidden: Mapping[str, Hidden]) -> str:
        """The one of them that this turn gets to see all the same; mostly none."""
        return fitness_rules.explored(turn, hidden, self.rules)

    def judge(self, now: datetime, active: ActiveDays) -> Judged:
        """Hide what is to be hidden now, and show everything else. Again it changes nothing."""
        before, entries = self.hidden(), index.all_current(self._db)
        wanted = {
            entry.name: Hidden(entry.name, entry.digest, why, now)
            for entry in entries
            if (why := self._decline(entry, now, active)) is not None
        }
        new = tuple(each for each in wanted.values() if not _same(before.get(each.name), each))
        gone = [name for name in before if name not in wanted]
        if new or gone:
            with self._db.write() as tx:
                tx.execute_many("DELETE FROM executor_hidden WHERE name = ?", [(name,) for name in gone])
                tx.execute_many(
                    "INSERT OR REPLACE INTO executor_hidden (name, digest, why, ts) VALUES (?, ?, ?, ?)",
                    [(each.name, each.digest, each.why, to_text(each.since)) for each in new],
                )
        shown = tuple(entry.name for entry in entries if entry.name in gone and entry.state in USABLE)
        extinct = tuple(entry for entry in entries if self._is_extinct(entry, active))
        return Judged(new, shown, extinct)

    def last(self, entry: index.Entry) -> datetime:
        """When an executor was last used, switched on or born."""
        used = index.last_use(self._db, entry.name)
        return max(used, entry.ts) if used else entry.ts

    # -- what the owner was asked

    def was_asked(self, name: str, about: str, standing: str) -> bool:
        """Whether the owner was asked about an executor while it stood as it stands."""
        row = self._db.first("SELECT standing FROM executor_asked WHERE name = ? AND about = ?", (name, about))
        return row is not None and row[0] == standing

    def asked(self, name: str, about: str, standing: str, now: datetime) -> None:
        """Note that the owner was asked: not again, whatever they say, until it stands otherwise."""
        with self._db.write() as tx:
            tx.execute(
                "INSERT OR REPLACE INTO executor_asked (name, about, standing, ts) VALUES (?, ?, ?, ?)",
                (name, about, standing, to_text(now)),
            )

    # -- inside

    def _decline(self, entry: index.Entry, now: datetime, active: ActiveDays) -> Why | None:
        if entry.origin is Origin.BUILTIN or entry.state not in USABLE:
            return None
        found = fitness.of(self._db, entry.name, entry.digest, now, self.rules)
        return fitness_rules.decline(found, active(self.last(entry)), self.rules)

    def _is_extinct(self, entry: index.Entry, active: ActiveDays) -> bool:
        if entry.origin is Origin.BUILTIN or entry.state is not State.QUARANTINE:
            return False
        return active(entry.ts) >= self.rules.extinct_days


def _same(one: Hidden | None, other: Hidden) -> bool:
    return one is not None and (one.digest, one.why) == (other.digest, other.why)
