import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.mnestome.rules import Event, Kind, Rules, decayed, reinforced, replay

START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)
RULES = Rules()
weights = st.floats(0, 1)
days = st.floats(-50, 500)
lambdas = st.floats(0.001, 1)


def test_the_numbers_of_the_source() -> None:
    assert (RULES.decay_lambda, RULES.birth, RULES.reinforcement) == (0.018, 0.30, 0.15)
    assert decayed(1.0, START, START + timedelta(days=math.log(2) / 0.018), 0.018) == pytest.approx(0.5)
    assert reinforced(0.30, START, START, 0.018, 0.15) == pytest.approx(0.45)
    assert reinforced(0.95, START, START, 0.018, 0.15) == 1.0


@given(weights, days, lambdas, st.floats(0, 1))
def test_a_weight_stays_between_nothing_and_one(weight: float, gone: float, decay_lambda: float, delta: float) -> None:
    now = START + gone * DAY
    assert 0 <= decayed(weight, START, now, decay_lambda) <= weight
    assert 0 <= reinforced(weight, START, now, decay_lambda, delta) <= 1


@given(weights, st.floats(0, 200), st.floats(0, 200), lambdas)
def test_decay_may_be_applied_as_often_as_one_likes(weight: float, first: float, then: float, rate: float) -> None:
    middle, end = START + first * DAY, START + (first + then) * DAY
    twice = decayed(decayed(weight, START, middle, rate), middle, end, rate)
    assert twice == pytest.approx(decayed(weight, START, end, rate), abs=1e-9)


def test_a_clock_set_back_ages_nothing() -> None:
    assert decayed(0.5, START, START - 9 * DAY, 0.018) == 0.5


def test_a_decay_event_changes_nothing_that_time_did_not() -> None:
    uses = [Event(START, Kind.REINFORCE, 0.3), Event(START + 20 * DAY, Kind.REINFORCE, 0.15)]
    between = Event(START + 10 * DAY, Kind.DECAY, -0.05)
    change = Event(START + 11 * DAY, Kind.STATE_CHANGE, None)
    plain, at = replay(uses, 0.018)
    aged, _ = replay([uses[0], between, change, uses[1]], 0.018)
    assert aged == pytest.approx(plain)
    assert at == START + 20 * DAY
    assert replay([], 0.018) == (0.0, None)


@given(st.lists(st.tuples(days, st.floats(0, 0.5)), max_size=10))
def test_faster_forgetting_never_leaves_more(uses: list[tuple[float, float]]) -> None:
    events = [Event(START + gone * DAY, Kind.REINFORCE, delta) for gone, delta in uses]
    assert replay(events, 0.05)[0] <= replay(events, 0.01)[0] + 1e-12
