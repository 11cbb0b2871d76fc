"""The heart: what is due is done once, failures are written down, and one process at a time beats."""

from datetime import timedelta
from pathlib import Path

import pytest

from metnos.core import files
from metnos.core.clock import MovableClock
from metnos.core.errors import ChainError
from metnos.life import profile
from metnos.life.heartbeat import LOCK, Came, Heart, Places
from metnos.life.heartbeat_rules import Beat
from metnos.life.schema import MIGRATIONS
from metnos.store.db import Database

RATES = profile.read("golem").rates


class Organs:
    """What is called, and what it brings."""

    def __init__(self) -> None:
        self.called: list[str] = []
        self.brings = Came()
        self.away = False

    def gamma(self, name: str) -> Came:
        self.called.append(name)
        if self.away:
            raise ChainError("the chain is away")
        return self.brings

    def other(self, name: str) -> Came:
        self.called.append(name)
        return Came({"done": 1})


@pytest.fixture
def organs() -> Organs:
    return Organs()


@pytest.fixture
def db(tmp_path: Path, clock: MovableClock) -> Database:
    return Database(tmp_path / "life.db", MIGRATIONS, clock=clock)


@pytest.fixture
def heart(tmp_path: Path, clock: MovableClock, db: Database, organs: Organs) -> Heart:
    parts = {Beat.GAMMA: organs.gamma, Beat.THETA: organs.other, Beat.DELTA: organs.other}
    return Heart(db, clock, tmp_path, RATES, parts)


def kinds(heart: Heart, **more: object) -> list[Beat]:
    done = heart.beat(**more)  # type: ignore[arg-type]
    assert done is not None
    return [each.kind for each in done]


def test_a_newborn_does_all_three_and_then_each_at_its_time(heart: Heart, clock: MovableClock) -> None:
    assert kinds(heart) == list(Beat)
    assert kinds(heart) == []
    clock.move(timedelta(seconds=10))
    assert kinds(heart) == [Beat.GAMMA]
    clock.move(timedelta(seconds=110))
    assert kinds(heart) == [Beat.GAMMA, Beat.THETA]
    clock.move(timedelta(minutes=20))
    assert kinds(heart) == list(Beat)


def test_what_makes_curious_brings_the_next_deliberation_nearer_once(
    heart: Heart, clock: MovableClock, organs: Organs
) -> None:
    kinds(heart)
    organs.brings = Came(curious=1.0, fresh=10)
    clock.move(timedelta(seconds=10))
    assert kinds(heart) == [Beat.GAMMA]
    assert (heart.pulse().curious, heart.pulse().fresh) == (1.0, 10)
    organs.brings = Came()
    clock.move(timedelta(seconds=20))
    assert kinds(heart) == [Beat.GAMMA, Beat.THETA]
    assert (heart.pulse().curious, heart.pulse().fresh) == (0.0, 10)


def test_what_came_in_is_counted_until_it_is_consolidated(heart: Heart, clock: MovableClock, organs: Organs) -> None:
    kinds(heart)
    organs.brings = Came(fresh=50)
    clock.move(timedelta(seconds=10))
    kinds(heart)
    clock.move(timedelta(seconds=290))
    assert Beat.DELTA in kinds(heart)
    assert heart.pulse().fresh == 0


def test_a_failure_is_written_down_and_stops_nothing(heart: Heart, clock: MovableClock, organs: Organs) -> None:
    organs.away = True
    done = heart.beat()
    assert done is not None
    assert [(each.kind, each.message) for each in done] == [
        (Beat.GAMMA, "the chain is away"),
        (Beat.THETA, ""),
        (Beat.DELTA, ""),
    ]
    assert heart.beats()[0].message == "the chain is away"
    assert kinds(heart) == []  # it is not tried again before its time
    organs.away = False
    clock.move(timedelta(seconds=10))
    assert kinds(heart) == [Beat.GAMMA]
    assert heart.beats()[0].message == ""


def test_beats_are_numbered_so_that_a_tick_is_known_by_its_name(
    heart: Heart, clock: MovableClock, organs: Organs
) -> None:
    kinds(heart)
    clock.move(timedelta(seconds=120))
    kinds(heart)
    assert organs.called == ["gamma 1", "theta 1", "delta 1", "gamma 2", "theta 2"]
    assert [(each.kind, each.number) for each in heart.beats()] == [(Beat.GAMMA, 2), (Beat.THETA, 2), (Beat.DELTA, 1)]


def test_a_beat_can_be_asked_for(heart: Heart) -> None:
    kinds(heart)
    assert kinds(heart, also=(Beat.DELTA,)) == [Beat.DELTA]


def test_whoever_stops_it_is_heard_between_two_beats(heart: Heart, organs: Organs) -> None:
    assert kinds(heart, stop=lambda: bool(organs.called)) == [Beat.GAMMA]


def test_one_process_at_a_time_beats(heart: Heart, tmp_path: Path, organs: Organs) -> None:
    with files.held(tmp_path / LOCK):
        assert heart.beat() is None
    assert organs.called == []


def test_it_wakes_for_the_next_capture(heart: Heart, clock: MovableClock) -> None:
    kinds(heart)
    assert heart.wake() == clock.now() + timedelta(seconds=10)


def test_places_are_remembered(db: Database, clock: MovableClock) -> None:
    places = Places(db, clock)
    assert places.get("chain 1") is None
    places.put("chain 1", 7)
    places.put("chain 1", 9)
    assert Places(db, clock).get("chain 1") == 9
