import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from metnos.core.decay import Ebbinghaus, HalfLife, clamp01, days_between

positive = st.floats(0.01, 10_000)
days = st.floats(0, 5_000)
values = st.floats(0, 1)
curves = st.one_of(positive.map(HalfLife), positive.map(Ebbinghaus))


@given(curves, days, days)
def test_never_grows_with_time(curve: HalfLife | Ebbinghaus, one: float, other: float) -> None:
    early, late = sorted((one, other))
    assert 0 <= curve.factor(late) <= curve.factor(early) <= 1


@given(curves, values, days, days, values)
def test_composes(curve: HalfLife | Ebbinghaus, value: float, first: float, second: float, floor: float) -> None:
    at_once = curve.apply(value, first + second, floor=floor)
    in_two = curve.apply(curve.apply(value, first, floor=floor), second, floor=floor)
    assert math.isclose(at_once, in_two, rel_tol=1e-9, abs_tol=1e-12)


@given(curves, values, days, values)
def test_stays_between_its_floor_and_what_it_was(
    curve: HalfLife | Ebbinghaus, value: float, time: float, floor: float
) -> None:
    after = curve.apply(value, time, floor=floor)
    assert min(value, floor) <= after <= value


@given(curves, values, st.floats(-5_000, 0))
def test_time_that_runs_backwards_changes_nothing(curve: HalfLife | Ebbinghaus, value: float, time: float) -> None:
    assert curve.apply(value, time) == value


@given(positive)
def test_a_half_life_is_a_true_half_life(length: float) -> None:
    assert math.isclose(HalfLife(length).factor(length), 0.5)
    assert math.isclose(HalfLife(length).factor(3 * length), 0.125)


@given(positive)
def test_after_its_stability_a_memory_keeps_one_e_th(stability: float) -> None:
    assert math.isclose(Ebbinghaus(stability).factor(stability), 1 / math.e)


def test_the_default_lambda_of_a_mnest_halves_it_in_38_days() -> None:
    assert 0.50 < Ebbinghaus.per_day(0.018).factor(38) < 0.51


@given(positive, st.integers(0, 10_000), st.integers(0, 10_000))
def test_more_episodes_never_fade_faster(length: float, few: int, many: int) -> None:
    assume(few <= many)
    curve = HalfLife(length)
    assert length <= curve.supported_by(few).days <= curve.supported_by(many).days


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf])
def test_a_curve_needs_a_positive_length(bad: float) -> None:
    for make in (HalfLife, Ebbinghaus, Ebbinghaus.per_day):
        with pytest.raises(ValueError, match="positive"):
            make(bad)


def test_days_between_ignores_a_clock_set_back() -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    assert days_between(now, now + timedelta(hours=36)) == 1.5
    assert days_between(now, now - timedelta(days=1)) == 0


def test_clamp01() -> None:
    assert [clamp01(x) for x in (-1, 0, 0.4, 1, 2)] == [0, 0, 0.4, 1, 1]
