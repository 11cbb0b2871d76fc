import multiprocessing
import os
import signal
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from metnos.core.clock import MovableClock
from metnos.core.errors import StoreError
from metnos.night import schema
from metnos.night.records import Run, Runs, State
from metnos.night.schedule import Past
from metnos.store.db import Database
from support import at_once

NIGHT = date(2026, 11, 15)
JOB = "backup"


@pytest.fixture
def db(tmp_path: Path, clock: MovableClock) -> Iterator[Database]:
    db = Database(tmp_path / "night.db", schema.MIGRATIONS, clock=clock)
    yield db
    db.close()


@pytest.fixture
def runs(db: Database, clock: MovableClock) -> Runs:
    return Runs(db, clock)


def begun(runs: Runs, night: date = NIGHT, *, by_hand: bool = False) -> Run:
    run = runs.begin(JOB, night, by_hand=by_hand)
    assert run is not None
    return run


def end(runs: Runs, run: Run, state: State = State.DONE) -> Run:
    return runs.end(run, state, "", {}, 0)


def test_a_run_leaves_one_record(runs: Runs, clock: MovableClock) -> None:
    run = begun(runs)
    assert (run.state, run.pid, run.ended) == (State.RUNNING, os.getpid(), None)
    assert runs.running(JOB) == run
    clock.move(timedelta(seconds=90))
    ended = runs.end(run, State.DONE, "fine", {"files": 3}, 12)
    assert runs.newest(10) == [ended]
    assert (ended.message, ended.counts, ended.cpu_ms, ended.ended) == ("fine", {"files": 3}, 12, clock.now())
    assert runs.running(JOB) is None


def test_one_job_runs_once_at_a_time_and_others_beside_it(runs: Runs, db: Database, clock: MovableClock) -> None:
    begun(runs)
    assert runs.begin(JOB, NIGHT + timedelta(days=1)) is None
    assert runs.begin(JOB, NIGHT, by_hand=True) is None
    assert Runs(db, clock).begin(JOB, NIGHT) is None
    assert runs.begin("audit", NIGHT) is not None


def test_a_night_has_one_run_by_itself_and_any_number_by_hand(runs: Runs) -> None:
    end(runs, begun(runs))
    assert runs.begin(JOB, NIGHT) is None
    for _ in range(2):
        end(runs, begun(runs, by_hand=True))
    end(runs, begun(runs, NIGHT - timedelta(days=1)))
    assert len(runs.newest(10)) == 4
    assert [run.by_hand for run in runs.newest(2, JOB)] == [False, True]


def test_by_hand_counts_for_the_night(runs: Runs) -> None:
    end(runs, begun(runs, by_hand=True))
    assert runs.past(JOB, NIGHT).done
    assert runs.begin(JOB, NIGHT) is None


def test_the_past_of_a_night(runs: Runs, clock: MovableClock) -> None:
    assert runs.past(JOB, NIGHT) == Past()
    first = end(runs, begun(runs, NIGHT - timedelta(days=1)))
    end(runs, begun(runs), State.FAILED)
    clock.move(timedelta(days=-30))  # the newest is what was recorded last, whatever the clock said
    failed = end(runs, begun(runs), State.FAILED)
    end(runs, begun(runs), State.INTERRUPTED)
    end(runs, begun(runs, by_hand=True), State.FAILED)
    found = runs.past(JOB, NIGHT)
    assert found == Past(done=False, tries=3, last_failed=failed.ended, last_done=first.started)


def _claims_and_dies(db: Database, clock: MovableClock) -> None:
    Runs(db, clock).begin(JOB, NIGHT)
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_run_that_was_killed_is_found_and_run_again(runs: Runs, db: Database, clock: MovableClock) -> None:
    child = multiprocessing.get_context("fork").Process(target=_claims_and_dies, args=(db, clock))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    assert [run.state for run in runs.newest(5)] == [State.RUNNING]
    assert (runs.settle(), runs.settle()) == (1, 0)
    (found,) = runs.newest(5)
    assert (found.state, found.ended) == (State.INTERRUPTED, clock.now())
    assert runs.past(JOB, NIGHT) == Past(tries=1)
    end(runs, begun(runs))


def test_a_number_that_belongs_to_another_by_now_is_no_excuse(runs: Runs, db: Database) -> None:
    begun(runs)
    with db.write() as tx:  # as if it were from before the machine was started anew
        tx.execute("UPDATE job_runs SET process = 'another boot 1', pid = 1")
    assert runs.settle() == 1


def test_a_run_whose_end_could_not_be_recorded_does_not_block_its_own_process(
    runs: Runs, db: Database, clock: MovableClock, tmp_path: Path
) -> None:
    run = begun(runs)
    aside = tmp_path / "aside.db"
    (tmp_path / "night.db").rename(aside)
    with pytest.raises(StoreError):
        end(runs, run)
    aside.rename(tmp_path / "night.db")
    assert runs.settle() == 1
    assert runs.newest(1)[0].state is State.INTERRUPTED


@pytest.mark.slow
def test_of_many_processes_one_gets_it(db: Database, clock: MovableClock) -> None:
    def claim() -> bool:
        runs = Runs(db, clock)
        run = runs.begin(JOB, NIGHT)
        if run is not None:
            end(runs, run)
        return run is not None

    assert sum(at_once([claim] * 8)) == 1
    assert [run.state for run in Runs(db, clock).newest(10)] == [State.DONE]
