"""A year and more of a mnestome's life, with everything that can happen to it, in any order."""

import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from metnos.core.clock import MovableClock, from_text, to_text
from metnos.executors import schema as executors
from metnos.mnestome import ager as ageing
from metnos.mnestome import leaving
from metnos.mnestome.ager import EARLIEST, Ager, Day, Report
from metnos.mnestome.past import Past
from metnos.mnestome.record import record_turn
from metnos.mnestome.rules import Rules, State
from metnos.mnestome.schema import MIGRATIONS
from metnos.mnestome.states import Standing, reconcile
from metnos.mnestome.tags import retag
from metnos.store.db import Database
from mnestome.ageing import Passing, Turn, Wish, everything, replayed

START = datetime(2027, 2, 1, 12, 0, tzinfo=UTC)
RULES = Rules(lambdas={"slow": 0.005, "quick": 0.06})
NAMES = ("find_files", "read_files", "count_words", "sign_files")
TAGS = st.sampled_from(("slow", "quick", "text"))


class Killed(BaseException):
    """The process dies here."""


class Year(RuleBasedStateMachine):
    """Everything that happens to a mnestome."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="metnos-year-"))
        self.db = Database(self.folder / "mnest.sqlite", (*executors.MIGRATIONS, *MIGRATIONS))
        self.past = Past(self.folder / "events_history.sqlite")
        self.clock = MovableClock(START)
        self.turns = 0
        self.owner: set[datetime] = set()
        self.catalog = {name: Standing("1.0.0", "active") for name in NAMES[:3]}
        self.archived = 0

    @property
    def now(self) -> datetime:
        return self.clock.now()

    def active_days(self, since: datetime) -> int:
        return len({moment.date() for moment in self.owner if since < moment <= self.now})

    @initialize()
    def begin(self) -> None:
        reconcile(self.db, self.catalog, self.now, self.past, RULES)

    # -- turns

    @rule(pairs=st.lists(st.tuples(*[st.sampled_from(NAMES)] * 2), max_size=3), tags=st.lists(TAGS, max_size=2))
    def turn(self, pairs: list[tuple[str, str]], tags: list[str]) -> None:
        there = {name for name, each in self.catalog.items() if each.state == "active"}
        passings = [
            Passing(src, dst, self.catalog[src].version, self.catalog[dst].version)
            for src, dst in pairs
            if src in there and dst in there
        ]
        wishes = [Wish(dst, src) for src, dst in pairs if src in there and dst not in self.catalog]
        self.turns += 1
        facts = Turn(f"T{self.turns}", self.now, tuple(passings), tuple(wishes), tuple(tags))
        assert record_turn(self.db, facts, RULES) is True
        assert record_turn(self.db, facts, RULES) is False
        self.owner.add(self.now)

    @rule(index=st.integers(0, 50), add=st.lists(TAGS, max_size=2), clear=st.booleans())
    def retag(self, index: int, add: list[str], clear: bool) -> None:
        if keys := self.db.query("SELECT id FROM mnests ORDER BY id"):
            retag(self.db, keys[index % len(keys)][0], self.now, add=add, clear=clear, rules=RULES)

    # -- executors

    @rule(
        name=st.sampled_from(NAMES),
        state=st.sampled_from(("active", "active", "quarantine", "disabled", "archived", "revoked")),
        version=st.sampled_from(("1.0.0", "1.1.0", "2.0.0")),
    )
    def catalog_changes(self, name: str, state: str, version: str) -> None:
        self.catalog[name] = Standing(version, state)
        reconcile(self.db, self.catalog, self.now, self.past, RULES)
        assert reconcile(self.db, self.catalog, self.now, self.past, RULES) == 0

    # -- time

    @rule(days=st.integers(1, 30))
    def days_go_by(self, days: int) -> None:
        self.clock.move(timedelta(days=days))

    @rule(months=st.integers(2, 7))
    def months_off(self, months: int) -> None:
        self.clock.move(timedelta(days=30 * months))

    @rule(days=st.integers(-60, 500))
    def clock_jumps(self, days: int) -> None:
        if self.now + timedelta(days=days) > EARLIEST + timedelta(days=90):
            self.clock.move(timedelta(days=days))

    # -- nights

    def age(self, **how: object) -> Report:
        return Ager(self.db, self.past, RULES, UTC).age(self.now, self.active_days, **how)  # type: ignore[arg-type]

    @rule()
    def night(self) -> None:
        today = Day.of(self.now, UTC)
        before = dict(self.db.query("SELECT id, weight FROM mnests"))
        due = {key for (key,) in self.db.query("SELECT id FROM mnests WHERE ts_decayed < ?", (today.start,))}
        report = self.age()
        after = dict(self.db.query("SELECT id, weight FROM mnests"))
        for key in due & after.keys():
            assert after[key] < before[key] or after[key] == 0.0  # nothing is frozen
        assert not self.db.query("SELECT 1 FROM mnests WHERE ts_decayed NOT BETWEEN ? AND ?", (today.start, today.end))
        events = self.db.query("SELECT count(*) FROM events")
        assert self.age().weighed == 0
        assert self.db.query("SELECT count(*) FROM events") == events
        self._decide(report)

    @rule()
    def night_in_which_it_dies(self) -> None:
        def die(_done: int, _of: int) -> None:
            raise Killed

        try:
            self.age(progress=die)
        except Killed:
            self.age()

    @rule()
    def dry_run(self) -> None:
        before = everything(self.db)
        self.age(dry_run=True)
        assert everything(self.db) == before

    @rule()
    def year_ends(self) -> None:
        self.past.move(self.db, self.now)
        assert self.past.due(self.db, self.now) == 0

    def _decide(self, report: Report) -> None:
        """The owner says yes to every other question."""
        for each in report.proposals:
            ((state, weight, used),) = self.db.query(
                "SELECT state, weight, ts_used FROM mnests WHERE id = ?", (each.id,)
            )
            assert (state, weight < RULES.archive_weight) == (State.DECAYING, True)
            assert self.active_days(from_text(used)) >= RULES.archive_days
            leaving.asked(self.db, each)
            self.archived += 1
            if self.archived % 2:
                assert leaving.archive(self.db, each.id, "the owner let it go", self.now)

    # -- what always holds

    @invariant()
    def one_living_row_for_each_tuple(self) -> None:
        assert not self.db.query(
            "SELECT 1 FROM mnests WHERE state IN ('seed', 'active', 'decaying')"
            " GROUP BY src_executor, src_version, dst_executor, dst_version HAVING count(*) > 1"
        )
        assert not self.db.query("SELECT id FROM mnests INTERSECT SELECT id FROM mnests_archive")

    @invariant()
    def numbers_are_in_their_bounds(self) -> None:
        assert not self.db.query(
            "SELECT 1 FROM mnests WHERE weight NOT BETWEEN 0 AND 1 OR ts_used < ts_first OR uses < 1"
            " OR ts_decayed < ts_used"
        )

    @invariant()
    def every_weight_follows_from_events_alone(self) -> None:
        for table in ("mnests", "mnests_archive"):
            for key, weight, weighed in self.db.query(f"SELECT id, weight, ts_decayed FROM {table}"):
                at = from_text(weighed)
                assert abs(replayed(self.db, self.past, key, at, RULES) - weight) < 1e-9, key

    @invariant()
    @precondition(lambda self: self.turns % 3 == 0)
    def every_state_has_its_reason(self) -> None:
        for key, state in self.db.query("SELECT id, state FROM mnests"):
            told = [row[5] for row in self.past.rows(self.db, key) if row[5]]
            assert told[-1] == state

    def teardown(self) -> None:
        self.clock.move(timedelta(days=400))  # whatever happened, a year later it is all still in order
        self.age()
        self.past.move(self.db, self.now)
        self.every_weight_follows_from_events_alone()
        self.numbers_are_in_their_bounds()
        self.past.close()
        self.db.close()
        shutil.rmtree(self.folder)


TestYear = Year.TestCase
TestYear.settings = settings(max_examples=settings().max_examples // 4, stateful_step_count=30)


@pytest.mark.slow
def test_a_whole_year_night_by_night(tmp_path: Path) -> None:
    """One mnest used every day, one given up in spring, one wish that recurs, one that does not."""
    db, past = Database(tmp_path / "mnest.sqlite", MIGRATIONS), Past(tmp_path / "events_history.sqlite")
    proposed: dict[str, int] = {}
    removed: dict[str, int] = {}
    for day in range(370):
        now = START + timedelta(days=day)
        passings = [Passing(dst="read_files")] + ([Passing(dst="count_words")] if day < 60 else [])
        wishes = [Wish("sign_files")] * (day % 10 == 0) + [Wish("fold_paper")] * (day == 5)
        record_turn(db, Turn(f"T{day}", now, tuple(passings), tuple(wishes)))
        there = lambda since, day=day: min(day + 1, day - (since - START) // timedelta(days=1))  # noqa: E731
        report = Ager(db, past, zone=UTC).age(now + timedelta(hours=15), there)
        for each in report.proposals:
            proposed.setdefault(each.destination, day)
            leaving.asked(db, each)
        removed |= dict.fromkeys(report.removed, day)
        if day % 15 == 0:
            past.move(db, now)
    assert [each.dst for each in report.recurring] == ["sign_files"]
    assert db.query("SELECT dst_executor, weight > 0.9 FROM mnests WHERE state = 'active'") == [("read_files", 1)]
    # 1.0 fades below 0.05 in ln(20) / 0.018 = 166.4 days; the wish's 0.30 in ln(6) / 0.018 = 99.5, and by the days on
    # which the owner was there one night later. The ager comes 15 hours after the turns.
    assert proposed == {"count_words": 59 + 166}
    assert removed == {"fold_paper": 5 + 100}
    for key, weight, weighed in db.query("SELECT id, weight, ts_decayed FROM mnests"):
        assert abs(replayed(db, past, key, from_text(weighed)) - weight) < 1e-9
    assert db.query("SELECT min(ts) >= ? FROM events", (to_text(datetime(2028, 1, 1, tzinfo=UTC)),)) == [(1,)]
    assert ageing.fact(db, ageing.RAN) is not None
    past.close()
    db.close()
