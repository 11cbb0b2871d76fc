"""The statistics that consolidation rests on."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.grimoire.evidence import SIGHTINGS, Baseline, baseline, by_chance, lift, merged, standing_off, sure

VALUES = st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=60)


@given(VALUES)
def test_a_baseline_is_mean_and_deviation(values: list[float]) -> None:
    found = baseline(values)
    assert found.mean == pytest.approx(statistics.fmean(values), abs=1e-6)
    assert found.stddev == pytest.approx(statistics.pstdev(values), abs=1e-6)


@given(VALUES, VALUES)
def test_merging_is_as_if_all_had_been_seen_at_once(one: list[float], other: list[float]) -> None:
    together, both = merged(baseline(one), baseline(other)), baseline([*one, *other])
    assert together.count == both.count
    assert together.mean == pytest.approx(both.mean, abs=1e-6)
    assert together.stddev == pytest.approx(both.stddev, abs=1e-4)


def test_a_baseline_follows_a_world_that_changes() -> None:
    usual = Baseline(20.0, 1.0, 100_000)
    for _ in range(5):
        usual = merged(usual, Baseline(30.0, 1.0, SIGHTINGS))
    assert usual.mean > 29


def test_nothing_is_infinitely_odd() -> None:
    assert math.isfinite(standing_off(1e300, Baseline(0.0, 0.0, 5)))
    assert standing_off(20.0, Baseline(20.0, 0.0, 5)) == 0


@given(st.integers(0, 200), st.integers(0, 200))
def test_one_is_never_surer_than_what_was_seen(times: int, more: int) -> None:
    of = times + more
    assert 0 <= sure(times, of) <= (times / of if of else 0) + 1e-12


def test_one_grows_surer_with_sightings() -> None:
    assert sure(3, 3) < sure(10, 10) < sure(100, 100) < 1
    assert sure(0, 0) == 0


@given(st.integers(0, 40), st.integers(0, 40), st.floats(0, 1))
def test_the_tail_is_what_is_left_of_the_binomial(times: int, of: int, chance: float) -> None:
    exact = sum(math.comb(of, k) * chance**k * (1 - chance) ** (of - k) for k in range(times, of + 1))
    assert by_chance(times, of, chance) == pytest.approx(min(1.0, exact), abs=1e-9)


def test_lift_is_how_many_times_as_often() -> None:
    assert lift(3, 4, 0.25) == pytest.approx(3.0)
    assert lift(0, 0, 0.5) == lift(1, 2, 0.0) == 0
