"""Intervals and paired differences: right against known tables, and honest about too few runs."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.life.lab_stats import below, estimate, paired, quantile, slope

values = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12)


@pytest.mark.parametrize(("freedom", "known"), [(1, 12.7062), (2, 4.3027), (4, 2.7764), (7, 2.3646), (30, 2.0423)])
def test_students_t_as_in_the_tables(freedom: int, known: float) -> None:
    assert quantile(0.975, freedom) == pytest.approx(known, abs=1e-3)
    assert below(known, freedom) == pytest.approx(0.975, abs=1e-5)
    assert below(-known, freedom) == pytest.approx(0.025, abs=1e-5)


def test_an_interval_as_reckoned_by_hand() -> None:
    found = estimate([1.0, 2.0, 3.0, 4.0])
    assert (found.mean, found.runs) == (2.5, 4)
    assert found.off == pytest.approx(3.1824 * math.sqrt(5 / 3) / 2, abs=1e-3)
    assert found.chance == pytest.approx(0.0305, abs=1e-3)


def test_of_one_run_nothing_is_said() -> None:
    found = estimate([5.0])
    assert (found.mean, found.off, found.sign, found.chance) == (5.0, math.inf, 0, 1.0)


def test_what_never_varies_has_no_width() -> None:
    assert (estimate([2.0, 2.0]).off, estimate([2.0, 2.0]).sign) == (0.0, 1)
    assert (estimate([0.0, 0.0]).sign, estimate([0.0, 0.0]).chance) == (0, 1.0)


@given(values)
def test_the_mean_lies_in_its_interval_and_a_sign_means_that_nothing_does_not(found: list[float]) -> None:
    made = estimate(found)
    assert made.low <= made.mean <= made.high
    assert 0.0 <= made.chance <= 1.0
    assert (made.sign == 0) == (made.low <= 0.0 <= made.high)


@given(values)
def test_an_arm_does_not_differ_from_itself(found: list[float]) -> None:
    assert (paired(found, found).mean, paired(found, found).sign) == (0.0, 0)


@given(st.floats(-100, 100), st.floats(-100, 100), st.integers(2, 20))
def test_the_slope_of_a_straight_line_is_its_own(start: float, step: float, count: int) -> None:
    assert slope([start + step * place for place in range(count)]) == pytest.approx(step, abs=1e-6)


def test_one_value_has_no_slope() -> None:
    assert slope([3.0]) == 0.0
