"""The night shift, driven by a clock that tests move: what is due runs in order, and each run leaves a record."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import pytest

from metnos.core.clock import MovableClock
from metnos.core.errors import DaemonError, Refused, StoreError, UsageError
from metnos.law.halt import Halt
from metnos.night import schema
from metnos.night.jobs import Active, Done, Job, Night, Parts, Watcher
from metnos.night.notices import News, Notice, Notices
from metnos.night.records import Run, Runs, State
from metnos.night.reminders import File
from metnos.night.schedule import FIRST_PAUSE, MOST_TRIES, Verdict
from metnos.store.db import Database

DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
NAMES = ("first", "second", "third")
Work = Callable[[], Done]


@dataclass
class House:
    """A night with three jobs that note their names, and do what the test says."""

    notes: Path
    db: Database
    clock: MovableClock
    ran: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    logged: list[str] = field(default_factory=list)
    work: dict[str, Work] = field(default_factory=dict)
    gates: dict[str, Active] = field(default_factory=dict)
    long: set[str] = field(default_factory=set)  # those that ask whether to stop
    checks: set[str] = field(default_factory=set)  # those that only check
    halted: Halt | None = None

    def job(self, name: str) -> Job:
        def run(watcher: Watcher) -> Done:
            self.ran.append(name)
            if name in self.long:
                watcher.progress(name, 1, 2)
                return Done("halfway", {"parts": 1}, stopped=watcher.stop())
            return self.work.get(name, Done)()

        return Job(name, f"doing the {name}", run, self.gates.get(name), name in self.checks)

    def night(self, clock: MovableClock | None = None) -> Night:
        def show(notices: Sequence[Notice]) -> None:
            self.shown += [notice.text for notice in notices]

        return Night(
            Parts(
                jobs=tuple(self.job(name) for name in NAMES),
                runs=Runs(self.db, self.clock),
                notices=Notices(self.db, self.clock),
                file=File(self.notes),
                clock=clock or self.clock,
                at=time(4),
                zone=UTC,
                halted=lambda: self.halted,
                show=show,
                log=self.logged.append,
            )
        )

    def tick(self, moved: timedelta = timedelta(0)) -> list[Run]:
        """A fresh start each time: nothing may rest on what a process remembers."""
        self.clock.move(moved)
        return self.night().tick(self.clock.now())

    def remind(self, number: int, text: str, due: datetime) -> None:
        with (self.notes / "reminders.jsonl").open("a") as file:
            file.write(json.dumps({"id": number, "text": text, "due": due.isoformat(), "done": False}) + "\n")

    @property
    def records(self) -> list[Run]:
        return Runs(self.db, self.clock).newest(1000)[::-1]

    @property
    def told(self) -> list[str]:
        return [notice.text for notice in Notices(self.db, self.clock).unseen()]


@pytest.fixture
def house(tmp_path: Path, clock: MovableClock) -> Iterator[House]:
    db = Database(tmp_path / "night.db", schema.MIGRATIONS, clock=clock)
    yield House(tmp_path, db, clock)
    db.close()


def fail() -> Done:
    raise StoreError("the disk is full")


def test_a_night_runs_once_in_order_and_leaves_a_record_of_each(house: House) -> None:
    made = house.tick()
    assert house.ran == [*NAMES]
    assert [(run.job, run.state, run.night) for run in made] == [
        (name, State.DONE, date(2026, 11, 15)) for name in NAMES
    ]
    assert house.records == made
    assert house.tick() == house.tick(timedelta(hours=15, minutes=59)) == []
    assert [run.night for run in house.tick(MINUTE)] == [date(2026, 11, 16)] * 3


def test_one_run_makes_up_for_all_nights_slept_through(house: House) -> None:
    house.tick()
    made = house.tick(100 * DAY)
    assert [run.night for run in made] == [date(2027, 2, 23)] * 3


def test_a_clock_set_back_repeats_nothing_and_a_wrong_one_silences_nothing(house: House) -> None:
    house.tick()
    house.tick(DAY)
    assert house.tick(-DAY) == []
    house.tick(1000 * DAY)  # somebody set the wrong year
    assert len(house.tick(-998 * DAY)) == 3
    assert house.tick(998 * DAY) == []


def test_what_fails_is_tried_again_later_and_the_others_still_run(house: House) -> None:
    house.work["second"] = fail
    assert [run.state for run in house.tick()] == [State.DONE, State.FAILED, State.DONE]
    assert house.tick() == []
    (again,) = house.tick(FIRST_PAUSE)
    assert (again.job, again.message) == ("second", "the disk is full")
    del house.work["second"]
    assert house.tick() == []
    (done,) = house.tick(2 * FIRST_PAUSE)
    assert done.state is State.DONE
    assert house.tick(DAY / 2) == []
    assert house.told == []


def test_what_fails_too_often_is_given_up_for_the_night_and_told(house: House) -> None:
    house.work["first"] = fail
    for _ in range(20):
        house.tick(30 * MINUTE)
    assert house.ran.count("first") == MOST_TRIES
    assert house.told == [f"doing the first failed {MOST_TRIES} times tonight: the disk is full"] == house.shown
    house.tick(DAY)
    assert house.ran.count("first") == MOST_TRIES + 1


def test_a_mistake_in_a_job_is_its_own(house: House) -> None:
    house.work["first"] = lambda: Done(counts={"x": 1 // 0})
    made = house.tick()
    assert [run.state for run in made] == [State.FAILED, State.DONE, State.DONE]
    assert made[0].message == "a mistake in Metnos: ZeroDivisionError: integer division or modulo by zero"


def test_a_job_that_is_stopped_is_recorded_as_interrupted_and_run_again(house: House) -> None:
    def stopped() -> Done:
        raise KeyboardInterrupt

    house.work["second"] = stopped
    with pytest.raises(KeyboardInterrupt):
        house.tick()
    assert [run.state for run in house.records] == [State.DONE, State.INTERRUPTED]
    del house.work["second"]
    assert [run.job for run in house.tick()] == ["second", "third"]


def test_stopping_waits_for_the_job_that_runs_and_begins_no_other(house: House) -> None:
    made = house.night().tick(house.clock.now(), stop=lambda: bool(house.ran))
    assert [run.job for run in made] == ["first"]
    assert [run.job for run in house.tick()] == ["second", "third"]


def test_what_a_job_has_to_say_is_told_and_counted(house: House) -> None:
    house.work["first"] = lambda: Done("looked", {"lines": 7}, (News("audit", "it is broken"),))
    made = house.tick()[0]
    assert (made.message, made.counts) == ("looked", {"lines": 7})
    assert house.told == house.shown == ["it is broken"]


def test_a_gated_job_waits_for_a_night_before_which_the_owner_was_there(house: House) -> None:
    spans: list[tuple[datetime | None, datetime]] = []
    there = [False]

    def active(since: datetime | None, until: datetime) -> bool:
        spans.append((since, until))
        return there[0]

    house.gates["second"] = active
    assert [run.job for run in house.tick()] == ["first", "third"]
    assert spans[-1] == (None, datetime(2026, 11, 15, 4, tzinfo=UTC))
    there[0] = True
    assert [run.job for run in house.tick(DAY)] == [*NAMES]
    began = house.clock.now()
    house.tick(DAY)
    assert spans[-1] == (began, datetime(2026, 11, 17, 4, tzinfo=UTC))


def test_while_everything_is_halted_only_reminders_come(house: House) -> None:
    house.halted = Halt("smoke", "lift it")
    house.remind(1, "tea", house.clock.now())
    assert house.tick() == []
    assert (house.ran, house.told) == ([], ["tea"])
    house.halted = None
    assert len(house.tick()) == 3


def test_by_hand_only_what_checks_runs_while_everything_is_halted(house: House) -> None:
    house.halted, house.checks = Halt("smoke", "lift it"), {"second"}
    with pytest.raises(Refused, match="'first' was not run: smoke"):
        house.night().run_now("first")
    assert house.night().run_now("second").state is State.DONE
    assert [run.job for run in house.night().run_all()] == ["second"]
    assert house.ran == ["second", "second"]


def test_a_long_job_stops_when_everything_is_halted(house: House) -> None:
    house.long = {"first"}

    def halting(job: str, _done: int, _of: int) -> None:
        house.halted = Halt("smoke", "lift it")

    runs = house.night().run_all(Watcher(progress=halting))
    assert [(run.job, run.state) for run in runs] == [("first", State.INTERRUPTED)]


def test_a_reminder_is_told_once_whoever_looks(house: House) -> None:
    house.remind(1, "tea", house.clock.now() + 10 * MINUTE)
    house.tick()
    assert house.told == []
    one, other = house.night(), house.night()
    house.clock.move(10 * MINUTE)
    told = [one.remind(house.clock.now()), other.remind(house.clock.now()), one.remind(house.clock.now())]
    assert [len(each) for each in told] == [1, 0, 0]
    house.tick(DAY)
    house.tick(-2 * DAY)
    house.tick(4 * DAY)
    assert house.told == house.shown == ["tea"]


def test_what_was_due_while_nothing_ran_is_told_late(house: House) -> None:
    house.remind(1, "tea", house.clock.now() + MINUTE)
    house.remind(2, "dinner", house.clock.now() + 4 * 60 * MINUTE)
    house.tick(181 * MINUTE)
    assert house.told == ["tea (was due 3 hours ago)"]


def test_a_reminder_does_not_wait_for_a_long_job(house: House) -> None:
    def long() -> Done:
        house.clock.move(5 * MINUTE)
        house.ran.append(f"told: {len(house.told)}")
        return Done()

    house.remind(1, "tea", house.clock.now() + 4 * MINUTE)
    house.work = dict.fromkeys(("first", "second"), long)
    house.tick()
    assert house.ran == ["first", "told: 0", "second", "told: 1", "third"]


def test_reminders_that_cannot_be_read_do_not_stop_the_night(house: House) -> None:
    (house.notes / "reminders.jsonl").mkdir()
    assert len(house.tick()) == 3
    assert any("reminders" in line or "plain file" in line for line in house.logged)
    assert house.night().next_reminder(house.clock.now()) is None


def test_it_wakes_for_what_comes_first(house: House) -> None:
    house.tick()
    now, night = house.clock.now(), house.night()
    assert night.wake(now) == datetime(2026, 11, 16, 4, tzinfo=UTC)
    house.remind(1, "tea", now + 60 * MINUTE)
    house.remind(2, "past", now - MINUTE)
    assert night.wake(now) == now + 60 * MINUTE
    house.work["first"] = fail
    house.tick(DAY)
    assert house.night().wake(house.clock.now()) == house.clock.now() + FIRST_PAUSE


def test_by_hand_it_runs_whatever_the_night_says(house: House) -> None:
    house.tick()
    night = house.night()
    run = night.run_now("second")
    assert (run.state, run.by_hand) == (State.DONE, True)
    assert [each.job for each in night.run_all()] == [*NAMES]
    with pytest.raises(UsageError, match="third"):
        night.run_now("fourth")
    house.work["first"] = fail
    assert night.run_now("first").state is State.FAILED
    assert house.told == []
    assert house.tick() == []


def test_by_hand_it_does_not_run_beside_itself(house: House) -> None:
    def twice() -> Done:
        with pytest.raises(DaemonError, match="running already in process"):
            house.night().run_now("first")
        return Done()

    house.work["first"] = twice
    assert house.tick()[0].state is State.DONE


def test_how_every_job_stands(house: House) -> None:
    now = house.clock.now()
    assert [(each.verdict, each.next, each.last) for each in house.night().outlook(now)] == [
        (Verdict.DUE, now, None)
    ] * 3
    house.work["second"] = fail
    made = house.tick()
    coming = datetime(2026, 11, 16, 4, tzinfo=UTC)
    assert [(each.verdict, each.next, each.last) for each in house.night().outlook(now)] == [
        (Verdict.DONE, coming, made[0]),
        (Verdict.PAUSED, now + FIRST_PAUSE, made[1]),
        (Verdict.DONE, coming, made[2]),
    ]


def test_a_long_job_that_is_stopped_counts_as_interrupted_and_goes_on_the_next_time(house: House) -> None:
    house.long = {"first"}
    shown: list[tuple[str, int, int]] = []
    (run,) = house.night().tick(house.clock.now(), lambda: bool(house.ran), lambda *step: shown.append(step))
    assert (run.job, run.state, run.message, dict(run.counts)) == ("first", State.INTERRUPTED, "halfway", {"parts": 1})
    assert shown == [("first", 1, 2)]
    assert [(each.job, each.state) for each in house.tick()] == [(name, State.DONE) for name in NAMES]


def test_by_hand_the_rest_of_the_night_is_left_when_it_is_stopped(house: House) -> None:
    house.long = {"second"}
    watcher = Watcher(stop=lambda: house.ran[-1:] == ["second"])
    made = house.night().run_all(watcher)
    assert [(each.job, each.state) for each in made] == [("first", State.DONE), ("second", State.INTERRUPTED)]
    assert house.night().run_now("second").state is State.DONE
