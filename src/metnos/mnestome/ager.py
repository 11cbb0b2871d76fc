"""The ager: what time does to mnests, once a day.

Rules:

- Every row fades by the calendar, whatever its state, once in a local day: a second run finds nothing left to do, and
  one step over months is the same as many small ones. It is weighed in small transactions, so nobody waits long, and
  each row together with its event, so a killed run is simply gone on with.
- What a wrong clock put into the future is weighed anew when the clock was set back, with everything that lies ahead
  counted as happening now: nothing is ever frozen. A clock that says a time before Metnos existed stops the ager.
- Ageing by disuse (a faded wish is removed, a faded mnest is proposed for the archive) happens only when the owner was
  there since the last run, and counts the days on which they were: a holiday forgets nothing.
- A row leaves the living ones in one of three ways, each with an event that says why: a wish by fading, history by its
  age, anything else by the owner's word alone (`archive`).

Does not guarantee which moment of the day it is; does not ask anybody anything and makes no executor: it reports.
A dry run does everything and takes it back, and writers wait for it meanwhile.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from functools import lru_cache
from typing import NamedTuple

from metnos.core.clock import from_text, to_text
from metnos.core.decay import Ebbinghaus, days_between
from metnos.core.errors import MetnosError
from metnos.mnestome import bulk, leaving, proto
from metnos.mnestome.mnest import Mnest
from metnos.mnestome.past import Past
from metnos.mnestome.rules import CLOCK_SET_BACK, Kind, Rules, State, next_state, weight_set_back
from metnos.store.db import Database, Transaction

NIGHTLY = "ager nightly"
EARLIEST = datetime(2025, 1, 1, tzinfo=UTC)  # Metnos is younger: a clock that says less has lost its battery
RAN = "ran"
MANY = 50_000  # rows: from here on it pays to build indexes anew (see `bulk`)
_DUE = "(ts_decayed < ? OR ts_decayed >= ?)"  # of a day: not weighed in it
_BATCH = 1000  # rows in one transaction
_FEW = 6  # questions of one night: as many as an owner wants to read

ActiveDays = Callable[[datetime], int]
Progress = Callable[[int, int], None]


def _quiet(_done: int, _of: int) -> None:
    """For whoever does not watch."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a run did, or would do. ``by_disuse`` says whether the owner was there, so that disuse counted."""

    weighed: int = 0
    faded: int = 0
    set_back: int = 0
    removed: tuple[str, ...] = ()
    archived: int = 0
    proposals: tuple[leaving.Proposal, ...] = ()
    proposable: int = 0
    recurring: tuple[Mnest, ...] = ()
    by_disuse: bool = False
    again: bool = False
    dry_run: bool = False


class _Change(NamedTuple):
    """One row, weighed. ``ahead``: its last weighing lay in the future."""

    rowid: int
    id: str
    before: float
    after: float
    state: State
    becomes: State
    ahead: bool


class _Undone(Exception):
    """Ends a dry run, so that nothing of it stays but its report."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.report = report


@dataclass(frozen=True, slots=True)
class Day:
    """A local day as stored times see it."""

    start: str
    end: str

    @classmethod
    def of(cls, now: datetime, zone: tzinfo | None = None) -> "Day":
        """Without a ``zone``, the machine's own."""
        today = now.astimezone(zone).date()
        start, end = (datetime.combine(day, time.min, zone).astimezone(UTC) for day in (today, today + timedelta(1)))
        return cls(to_text(start), to_text(end))


class Ager:
    """The ager of one mnestome."""

    def __init__(self, db: Database, past: Past, rules: Rules | None = None, zone: tzinfo | None = None) -> None:
        self._db = db
        self._past = past
        self._rules = rules or Rules()
        self._zone = zone

    def age(
        self, now: datetime, active_days: ActiveDays, *, dry_run: bool = False, progress: Progress = _quiet
    ) -> Report:
        """Let everything age. ``active_days`` says on how many days the owner was there after a moment."""
        moment = from_text(to_text(now))  # as the events will say it, to the millisecond
        _refuse_impossible(moment)
        if not dry_run:
            return self._age(moment, active_days, progress)
        try:
            with self._db.write():
                raise _Undone(replace(self._age(moment, active_days, progress), dry_run=True))
        except _Undone as undone:
            return undone.report

    def _age(self, now: datetime, active_days: ActiveDays, progress: Progress) -> Report:
        day, last = Day.of(now, self._zone), self._last_run(now)
        again = to_text(last) >= day.start
        by_disuse = not again and active_days(last) > 0
        report = replace(self._weigh(now, day, progress), again=again, by_disuse=by_disuse)
        if not again:
            archived = leaving.archive_past(self._db, self._past, now, self._rules)
            report = replace(report, archived=archived)
        if by_disuse:
            cutoff = unused_since(now, active_days, self._rules.archive_days)
            report = replace(
                report,
                removed=leaving.remove_noise(self._db, now, active_days, self._rules),
                proposals=leaving.proposals(self._db, cutoff, self._rules, _FEW),
                proposable=leaving.proposable(self._db, cutoff, self._rules),
            )
        if not again:
            set_fact(self._db, RAN, to_text(now))
        recurring = proto.recurring(self._db, now, self._rules.recurring_uses, self._rules.recurring_weight)
        return replace(report, recurring=tuple(recurring))

    def _last_run(self, now: datetime) -> datetime:
        """When it last ran. One that lies in the future was a wrong clock's, and says nothing."""
        found = fact(self._db, RAN)
        return from_text(found) if found and found <= to_text(now) else EARLIEST

    # -- weighing

    def _weigh(self, now: datetime, day: Day, progress: Progress) -> Report:
        weighed = faded = set_back = 0
        row = self._db.first(f"SELECT count(*) FROM mnests WHERE {_DUE}", (day.start, day.end))  # noqa: S608 -- ours
        total = int(row[0]) if row else 0
        with bulk.without_order(self._db, total, MANY):
            for first, last in self._batches(day):
                with self._db.write() as tx:
                    changes = self._changes(tx, first, last, now, day)
                    _apply(tx, changes, to_text(now), self._rules)
                weighed += len(changes)
                faded += sum(each.state is not each.becomes for each in changes)
                set_back += sum(each.ahead for each in changes)
                progress(weighed, total)
        return Report(weighed=weighed, faded=faded, set_back=set_back)

    def _batches(self, day: Day) -> Iterator[tuple[str, str]]:
        """First and last id of each lot of rows that were not weighed today. Found without the writers' lock."""
        last = ""
        while True:
            found = self._db.query(
                f"SELECT id FROM mnests WHERE id > ? AND {_DUE} ORDER BY id LIMIT ?",  # noqa: S608 -- our own words
                (last, day.start, day.end, _BATCH),
            )
            if not found:
                return
            (first,), (last,) = found[0], found[-1]
            yield first, last

    def _changes(self, tx: Transaction, first: str, last: str, now: datetime, day: Day) -> list[_Change]:
        """What becomes of the rows between two ids, as they are now that nobody else can change them."""
        rows = tx.query(
            "SELECT rowid, id, weight, ts_decayed, decay_lambda, state FROM mnests"  # noqa: S608 -- our own words
            f" WHERE id BETWEEN ? AND ? AND {_DUE}",
            (first, last, day.start, day.end),
        )
        changes = []
        for rowid, key, weight, weighed, decay_lambda, text in rows:
            ahead = weighed >= day.end
            after = self._set_back(key, now) if ahead else weight * _factor(weighed, now, decay_lambda)
            state = _STATES[text]
            changes.append(_Change(rowid, key, weight, after, state, next_state(state, after, self._rules), ahead))
        return changes

    def _set_back(self, key: str, now: datetime) -> float:
        return weight_set_back(self._past.events(self._db, key), self._rules.decay_lambda, now)


_STATES = {str(state): state for state in State}


@lru_cache(maxsize=4096)
def _factor(weighed: str, now: datetime, decay_lambda: float) -> float:
    """What is left of a weight. Most rows were weighed at one moment, so there are few different ones."""
    return Ebbinghaus.per_day(decay_lambda).factor(days_between(from_text(weighed), now))


def _apply(tx: Transaction, changes: list[_Change], now: str, rules: Rules) -> None:
    tx.execute_many(
        "UPDATE mnests SET weight = ?, ts_decayed = ? WHERE rowid = ?",
        [(each.after, now, each.rowid) for each in changes if not each.ahead],
    )
    tx.execute_many(
        "UPDATE mnests SET weight = ?, ts_decayed = ?, ts_used = min(ts_used, ?), ts_first = min(ts_first, ?)"
        " WHERE rowid = ?",
        [(each.after, now, now, now, each.rowid) for each in changes if each.ahead],
    )
    fades = Kind.DECAY.value  # plain text: to bind a member of an enum costs as much as the rest of a row
    # Apart, because SQLite touches every index that knows of states when one is set, be it the same.
    tx.execute_many(
        "UPDATE mnests SET state = ? WHERE rowid = ?",
        [(each.becomes.value, each.rowid) for each in changes if each.state is not each.becomes],
    )
    tx.execute_many(
        "INSERT INTO events (mnest_id, ts, kind, delta, reason) VALUES (?, ?, ?, ?, ?)",
        [
            (each.id, now, fades, each.after - each.before, CLOCK_SET_BACK if each.ahead else NIGHTLY)
            for each in changes
        ],
    )
    reason = f"its weight fell below {rules.decaying:g}"
    tx.execute_many(
        "INSERT INTO events (mnest_id, ts, kind, new_state, reason) VALUES (?, ?, ?, ?, ?)",
        [
            (each.id, now, Kind.STATE_CHANGE.value, each.becomes.value, reason)
            for each in changes
            if each.state is not each.becomes
        ],
    )


# -- days and facts


def unused_since(now: datetime, active_days: ActiveDays, days: int) -> datetime | None:
    """The last moment since which the owner was there on so many days; none if there were never so many.

    Fewer days lie behind a later moment, so it is found by halving.
    """
    near, far = 0, max(0, (now - EARLIEST).days)
    if active_days(now - timedelta(far)) < days:
        return None
    while near < far:
        middle = (near + far) // 2
        if active_days(now - timedelta(middle)) >= days:
            far = middle
        else:
            near = middle + 1
    return now - timedelta(far)


def fact(db: Database, name: str) -> str | None:
    row = db.first("SELECT value FROM ager_facts WHERE name = ?", (name,))
    return None if row is None else str(row[0])


def set_fact(db: Database, name: str, value: str) -> None:
    with db.write() as tx:
        tx.execute(
            "INSERT INTO ager_facts (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
            (name, value),
        )


def _refuse_impossible(now: datetime) -> None:
    if now < EARLIEST:
        raise MetnosError(
            f"the clock says {now:%Y-%m-%d}, and that cannot be: nothing was aged", fix="Set the clock of this machine."
        )
