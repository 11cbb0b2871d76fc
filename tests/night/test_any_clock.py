"""Any sequence of clock moves, failures and kills: no night twice, one record for each run, the order kept."""

import shutil
import tempfile
from collections import Counter
from datetime import UTC, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from metnos.core.clock import MovableClock
from metnos.night import schema
from metnos.night.jobs import Done, Job, Night, Parts
from metnos.night.notices import Notices
from metnos.night.records import Runs, State
from metnos.night.reminders import File
from metnos.night.schedule import MOST_TRIES, Verdict, night_of, read_hour
from metnos.store.db import Database, Durability
from support import START

NAMES = ("first", "second", "third")
FAST = Path("/dev/shm")  # where a sync costs nothing


class Killed(BaseException):
    """The process ends here: nothing behind it happens."""


class AnyClock(RuleBasedStateMachine):
    """``calls`` is what the jobs themselves saw; the records must say the same."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(dir=FAST if FAST.is_dir() else None))
        self.clock = MovableClock(START)
        self.db = Database(self.folder / "night.db", schema.MIGRATIONS, durability=Durability.NORMAL, clock=self.clock)
        self.runs = Runs(self.db, self.clock)
        self.does = dict.fromkeys(NAMES, "well")
        self.calls: list[str] = []

    def teardown(self) -> None:
        self.db.close()
        shutil.rmtree(self.folder)

    @initialize(zone=st.sampled_from(["UTC", "Europe/Rome", "Pacific/Apia"]), at=st.sampled_from(["04:00", "02:30"]))
    def begin(self, zone: str, at: str) -> None:
        self.zone, self.at = ZoneInfo(zone), read_hour(at)
        self.start()

    def start(self) -> None:
        """As a new process would: it remembers nothing."""
        jobs = tuple(Job(name, name, lambda _, name=name: self.work(name)) for name in NAMES)  # type: ignore[misc]
        self.night = Night(
            Parts(
                jobs, self.runs, Notices(self.db, self.clock), File(self.folder), self.clock, self.at, self.zone,
                halted=lambda: None, show=lambda _: None, log=lambda _: None,
            )
        )  # fmt: skip

    def work(self, name: str) -> Done:
        self.calls.append(name)
        if self.does[name] == "killed":
            raise Killed
        return Done(counts={"x": 1 // (self.does[name] == "well")})

    @rule(by=st.timedeltas(timedelta(days=-400), timedelta(days=400)))
    def jump(self, by: timedelta) -> None:
        self.clock.move(by)

    @rule(by=st.timedeltas(timedelta(minutes=-90), timedelta(hours=30)))
    def go_on(self, by: timedelta) -> None:
        self.clock.move(by)

    @rule(name=st.sampled_from(NAMES), does=st.sampled_from(["well", "badly", "killed"]))
    def change(self, name: str, does: str) -> None:
        self.does[name] = does

    @rule()
    def tick(self) -> None:
        before, now = len(self.calls), self.clock.now()
        try:
            made = self.night.tick(now)
        except Killed:
            self.start()
            return
        ran = self.calls[before:]
        assert [run.job for run in made] == ran == sorted(ran)
        night = night_of(now, self.at, self.zone)
        assert {run.night for run in made} <= {night}
        for each in self.night.outlook(now):  # whatever works is done when a tick is over, or waits for its next try
            if self.does[each.job.name] == "well":
                assert each.verdict in (Verdict.DONE, Verdict.PAUSED, Verdict.GIVEN_UP)

    @rule(name=st.sampled_from(NAMES))
    def by_hand(self, name: str) -> None:
        try:
            self.night.run_now(name)
        except Killed:
            self.start()

    @invariant()
    def records_say_what_happened(self) -> None:
        found = self.runs.newest(10_000)[::-1]
        assert [run.job for run in found] == self.calls
        assert all(run.state is not State.RUNNING and run.ended is not None for run in found)

    @invariant()
    def no_night_twice(self) -> None:
        found = [run for run in self.runs.newest(10_000) if not run.by_hand]
        done = Counter((run.job, run.night) for run in found if run.state is State.DONE)
        assert set(done.values()) <= {1}
        assert all(
            count <= MOST_TRIES
            for count in Counter((r.job, r.night) for r in found if r.state is not State.DONE).values()
        )


TestAnyClock = AnyClock.TestCase
TestAnyClock.settings = settings(stateful_step_count=25)
assert START.tzinfo is UTC
