"""Each update once, across processes and long silences."""

from datetime import timedelta
from pathlib import Path

import pytest

from metnos.api.telegram.seen import MIGRATIONS, Seen
from metnos.core.clock import MovableClock
from metnos.store.db import Database
from support import at_once


@pytest.fixture
def db(tmp_path: Path, clock: MovableClock) -> Database:
    return Database(tmp_path / "telegram.db", MIGRATIONS, clock=clock)


def test_an_update_is_taken_once_for_each_bot(db: Database, clock: MovableClock) -> None:
    seen = Seen(db, clock)
    assert [seen.take(1, 10), seen.take(1, 10), seen.take(2, 10), seen.take(1, 9)] == [True, False, True, True]
    assert (seen.offset(1), seen.offset(2), seen.offset(3)) == (11, 11, None)


def test_of_several_processes_one_takes_it(db: Database, clock: MovableClock) -> None:
    taken = at_once([lambda: Seen(db, clock).take(1, 10) for _ in range(4)])
    assert sorted(taken) == [False, False, False, True]


def test_after_a_long_silence_any_number_may_come(db: Database, clock: MovableClock) -> None:
    seen = Seen(db, clock)
    seen.take(1, 1000)
    clock.move(timedelta(days=6))
    assert seen.offset(1) is None
    assert not seen.take(1, 1000)  # and what was done is still known
    seen.take(1, 3)
    assert seen.offset(1) == 4


def test_marks_go_when_they_are_of_no_use(db: Database, clock: MovableClock) -> None:
    seen = Seen(db, clock)
    seen.take(1, 1)
    clock.move(timedelta(days=15))
    seen.take(1, 2)
    assert db.query("SELECT id FROM updates") == [(2,)]
