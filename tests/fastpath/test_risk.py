"""The bound, held against streams whose true error is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from metnos.fastpath.risk import Outcomes, least_margin

DELTA = 0.01
Numbers = NDArray[np.float64]
RIGHT = {  # the chance of being right by the margin: of the fitted kind, and of others
    "logistic": lambda m: 1 / (1 + np.exp(-(0.2 + 10 * m))),
    "steep, then flat": lambda m: 1 - 0.4 * np.exp(-9 * m) - 0.002,
    "nearly hopeless": lambda m: np.full_like(m, 0.97),
}


def stream(random: np.random.Generator, shape: str, count: int = 1500) -> Outcomes:
    margins = random.beta(1.2, 2.5, count)
    right = random.random(count) < RIGHT[shape](margins)
    return Outcomes(margins, right, np.ones(count), np.arange(count) // 10)


def true_share(shape: str, threshold: float) -> float:
    margins = np.random.default_rng(0).beta(1.2, 2.5, 20_000)
    return float(1 - RIGHT[shape](margins[margins >= threshold]).mean())


@pytest.mark.slow
@pytest.mark.parametrize("shape", list(RIGHT))
def test_the_share_of_wrong_answers_stays_below_the_bound_in_nineteen_streams_of_twenty(shape: str) -> None:
    random = np.random.default_rng(7)
    found = [least_margin(stream(random, shape), DELTA, 0.95)[1] for _ in range(200)]
    broken = sum(each is not None and true_share(shape, each.threshold) > DELTA for each in found)
    assert broken <= 0.05 * 200 + 6  # and the luck of 200 draws


@pytest.mark.slow
def test_where_answers_can_be_sure_most_streams_find_a_threshold() -> None:
    random = np.random.default_rng(8)
    found = [least_margin(stream(random, "logistic"), DELTA, 0.95)[1] for _ in range(50)]
    assert sum(each is not None for each in found) >= 40
    assert all(each is None or each.bound <= DELTA for each in found)


def test_paths_that_err_together_are_believed_less() -> None:
    random = np.random.default_rng(9)
    margins = np.repeat(random.beta(1.2, 2.5, 150), 10)
    right = np.repeat(random.random(150) < RIGHT["logistic"](margins[::10]), 10)
    weights = np.ones(1500)
    apart = least_margin(Outcomes(margins, right, weights, np.arange(1500)), DELTA, 0.95)[1]
    together = least_margin(Outcomes(margins, right, weights, np.arange(1500) // 10), DELTA, 0.95)[1]
    assert apart is not None
    assert together is None or together.threshold > apart.threshold


@pytest.mark.parametrize("count", [2, 10, 60])
def test_few_outcomes_show_nothing_however_good_they_are(count: int) -> None:
    margins = np.linspace(0.1, 1, count)
    right = margins > 0.3
    assert least_margin(Outcomes(margins, right, np.ones(count), np.arange(count)), DELTA, 0.95)[1] is None


@given(st.integers(0, 10_000), st.integers(3, 200))
def test_every_curve_is_finite_and_rises_with_the_margin(seed: int, count: int) -> None:
    random = np.random.default_rng(seed)
    margins = np.round(random.beta(1, 3, count), 1)
    right = random.random(count) < random.random()
    curve, bounded = least_margin(Outcomes(margins, right, np.ones(count), np.arange(count)), DELTA, 0.95)
    chances = [curve.probability(margin) for margin in np.linspace(0, 2, 50)]
    assert np.isfinite(chances).all()
    assert chances == sorted(chances)
    assert bounded is None or bounded.threshold in margins
