import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.mnestome.rules import (
    CLOCK_SET_BACK,
    Event,
    Kind,
    Rules,
    State,
    decayed,
    is_noise,
    is_past,
    next_state,
    reinforced,
    replay,
    returned_state,
    weight_set_back,
)

START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)
RULES = Rules()
weights = st.floats(0, 1)
days = st.floats(-50, 500)
lambdas = st.floats(0.001, 1)


def test_the_numbers_of_the_source() -> None:
    assert (RULES.decay_lambda, RULES.birth, RULES.reinforcement) == (0.018, 0.30, 0.15)
    assert (RULES.decaying, RULES.archive_weight, RULES.archive_days) == (0.20, 0.05, 90)
    assert (RULES.proto_min, RULES.archive_after_days) == (0.05, 90)
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


# -- lambdas


def test_of_several_tags_the_slowest_counts_and_others_have_no_say() -> None:
    rules = Rules(lambdas={"invoice": 0.005, "news": 0.2})
    assert rules.lambda_for(["news"]) == 0.2
    assert rules.lambda_for(["news", "work", "invoice"]) == 0.005
    assert rules.lambda_for(["work"]) == rules.lambda_for([]) == 0.018


def test_a_lambda_holds_from_its_event_on_and_none_means_as_before() -> None:
    events = [
        Event(START, Kind.REINFORCE, 0.5, 0.1),
        Event(START + 10 * DAY, Kind.DECAY, -0.3, 0.01),
        Event(START + 20 * DAY, Kind.DECAY, -0.1),
    ]
    assert replay(events, 0.018)[0] == pytest.approx(0.5 * math.exp(-1.0) * math.exp(-0.1))
    old = [Event(START, Kind.REINFORCE, 0.5), Event(START + 10 * DAY, Kind.DECAY, -0.1)]
    assert replay(old, 0.018)[0] == pytest.approx(0.5 * math.exp(-0.18))


# -- clocks


def test_an_event_of_a_clock_that_was_set_back_moves_the_weight_to_its_time() -> None:
    ahead = [Event(START, Kind.REINFORCE, 0.3), Event(START + 1000 * DAY, Kind.REINFORCE, 0.15)]
    back = START + 10 * DAY
    weight, at = replay(ahead, 0.018)
    right = weight_set_back(ahead, 0.018, back)
    assert right == pytest.approx(0.3 * math.exp(-0.18) + 0.15)
    told = [*ahead, Event(back, Kind.DECAY, right - weight, reason=CLOCK_SET_BACK)]
    assert at == START + 1000 * DAY
    assert replay(told, 0.018) == (pytest.approx(right), back)
    again = [*told, Event(back + 10 * DAY, Kind.REINFORCE, 0.15)]
    assert replay(again, 0.018)[0] == pytest.approx(right * math.exp(-0.18) + 0.15)


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 0.3)), min_size=1, max_size=8), st.floats(0, 100))
def test_a_clock_may_be_wrong_twice(uses: list[tuple[float, float]], wrong: float) -> None:
    """What is known of the true times is used, however the clock jumped in between."""
    true = sorted(uses)
    honest = [Event(START + gone * DAY, Kind.REINFORCE, delta) for gone, delta in true]
    ahead = Event(START + (true[-1][0] + 500 + wrong) * DAY, Kind.REINFORCE, 0.1)
    first = START + (true[-1][0] + 1) * DAY
    told = [*honest, ahead, Event(first, Kind.DECAY, 0.0, reason=CLOCK_SET_BACK)]
    later = first + 30 * DAY
    told += [Event(later, Kind.REINFORCE, 0.1), Event(later + 900 * DAY, Kind.REINFORCE, 0.1)]
    now = later + DAY
    meant = [Event(first, Kind.REINFORCE, 0.1), Event(later, Kind.REINFORCE, 0.1), Event(now, Kind.REINFORCE, 0.1)]
    assert weight_set_back(told, 0.018, now) == pytest.approx(replay([*honest, *meant], 0.018)[0], abs=1e-9)


@given(st.lists(st.tuples(days, st.floats(0, 0.5)), min_size=1, max_size=10))
def test_without_a_wrong_clock_nothing_is_set_right(uses: list[tuple[float, float]]) -> None:
    events = [Event(START + gone * DAY, Kind.REINFORCE, delta) for gone, delta in sorted(uses)]
    weight, at = replay(events, 0.018)
    assert at is not None
    now = at + 5 * DAY
    assert weight_set_back(events, 0.018, now) == pytest.approx(decayed(weight, at, now, 0.018), abs=1e-12)


# -- states


@given(st.sampled_from(State), weights)
def test_time_only_ever_makes_the_living_fade(state: State, weight: float) -> None:
    after = next_state(state, weight, RULES)
    fades = state in (State.SEED, State.ACTIVE) and weight < 0.20
    assert after is (State.DECAYING if fades else state)
    assert next_state(after, weight, RULES) is after


@given(weights)
def test_what_comes_back_is_as_active_as_it_weighs(weight: float) -> None:
    assert returned_state(weight, RULES) is (State.ACTIVE if weight >= 0.20 else State.DECAYING)


def test_what_leaves() -> None:
    assert [is_noise(State.PROTO, weight, RULES) for weight in (0.049, 0.05)] == [True, False]
    assert not is_noise(State.DECAYING, 0.0, RULES)
    assert [is_past(State.SUPERSEDED, gone, RULES) for gone in (89.9, 90.0)] == [False, True]
    assert not is_past(State.DECAYING, 999, RULES)
