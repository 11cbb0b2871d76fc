"""The mood: slow, bounded, and gone after a while."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.happened import PADS, START
from metnos.core.clock import MovableClock
from metnos.grimoire.affect import NEUTRAL, Pad
from metnos.grimoire.memory_schema import MIGRATIONS
from metnos.grimoire.mood import Felt, Mood, MoodRules, faded, moved
from metnos.store.db import Database

JOY = Pad(1.0, 0.5, 0.5)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "grimoire.db", MIGRATIONS)
    yield made
    made.close()


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock(START)


def test_before_anything_is_felt_the_mood_is_neutral(db: Database, clock: MovableClock) -> None:
    assert Mood(db, clock).now() == NEUTRAL


def test_ten_feelings_move_the_mood_half_way(db: Database, clock: MovableClock) -> None:
    mood = Mood(db, clock)
    mood.feel([Felt(JOY, START)])
    assert 0 < mood.now().pleasure < 0.1
    mood.feel([Felt(JOY, START)] * 9)
    assert mood.now().pleasure == pytest.approx(0.5)


def test_after_a_day_half_of_the_mood_is_left_and_after_a_week_nothing(db: Database, clock: MovableClock) -> None:
    mood = Mood(db, clock)
    mood.feel([Felt(JOY, START)] * 10)
    before = mood.now().pleasure
    clock.move(timedelta(days=1))
    assert mood.now().pleasure == pytest.approx(before / 2)
    clock.move(timedelta(days=7))
    assert mood.now().pleasure < 0.01


def test_the_mood_outlives_the_process(db: Database, clock: MovableClock) -> None:
    Mood(db, clock).feel([Felt(JOY, START)])
    assert Mood(db, clock).now() == Mood(db, clock).now() != NEUTRAL


def test_a_mood_that_is_rolled_back_was_never_felt(db: Database, clock: MovableClock) -> None:
    mood = Mood(db, clock)
    with pytest.raises(RuntimeError), db.write():
        mood.feel([Felt(JOY, START)])
        raise RuntimeError
    assert mood.now() == NEUTRAL


def test_feeling_nothing_writes_nothing(db: Database, clock: MovableClock) -> None:
    Mood(db, clock).feel([])
    assert db.query("SELECT * FROM mood") == []


def test_an_older_feeling_that_comes_later_turns_back_no_time(db: Database, clock: MovableClock) -> None:
    mood = Mood(db, clock)
    mood.feel([Felt(JOY, START), Felt(JOY, START - timedelta(days=30))])
    assert mood.now().pleasure == pytest.approx(moved(moved(NEUTRAL, JOY, MoodRules()), JOY, MoodRules()).pleasure)


@given(st.lists(PADS, max_size=30), st.integers(1, 50))
def test_the_mood_never_leaves_what_was_felt(feelings: list[Pad], half_after: int) -> None:
    mood, rules = NEUTRAL, MoodRules(half_after=half_after)
    for feeling in feelings:
        mood = moved(mood, feeling, rules)
    parts = [each.pleasure for each in feelings] + [0.0]
    assert min(parts) - 1e-9 <= mood.pleasure <= max(parts) + 1e-9


@given(PADS, st.floats(0, 1000), st.floats(0, 1000))
def test_fading_twice_is_fading_once_for_as_long(pad: Pad, one: float, other: float) -> None:
    rules = MoodRules()
    between, end = START + timedelta(hours=one), START + timedelta(hours=one + other)
    twice = faded(faded(pad, START, between, rules), between, end, rules)
    assert twice.pleasure == pytest.approx(faded(pad, START, end, rules).pleasure, abs=1e-6)
