"""The little statistics that the lab rests on: means with intervals over runs, and paired differences. Pure.

Rules: an interval is Student's, two-sided, at 95 % unless told; arms are compared on the same runs only, run by run. Of
a single run nothing is said about chance: its interval is infinite. Does not guarantee that runs are independent;
whoever makes them knows that.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean, stdev

LEVEL = 0.95
_STEPS = 400  # of the integral: more than six digits are right
_HALVINGS = 60


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over runs, how far it may be off to either side, and how likely so much is if there is nothing."""

    mean: float
    off: float
    chance: float
    runs: int

    @property
    def low(self) -> float:
        return self.mean - self.off

    @property
    def high(self) -> float:
        return self.mean + self.off

    @property
    def sign(self) -> int:
        """-1 or 1 where the interval lies wholly on one side of nothing, else 0."""
        return -1 if self.high < 0 else 1 if self.low > 0 else 0


def estimate(values: Sequence[float], level: float = LEVEL) -> Estimate:
    """Of at least one value."""
    runs, mean = len(values), fmean(values)
    if runs < 2:
        return Estimate(mean, math.inf, 1.0, runs)
    spread = stdev(values) / math.sqrt(runs)
    if spread == 0.0:
        return Estimate(mean, 0.0, 1.0 if mean == 0.0 else 0.0, runs)
    off = quantile(0.5 + level / 2, runs - 1) * spread
    return Estimate(mean, off, 2 * (1.0 - below(abs(mean) / spread, runs - 1)), runs)


def paired(one: Sequence[float], other: Sequence[float], level: float = LEVEL) -> Estimate:
    """How much the one is above the other, run by run."""
    return estimate([a - b for a, b in zip(one, other, strict=True)], level)


def slope(values: Sequence[float]) -> float:
    """How much a value changes from one place to the next: the straight line of least squares."""
    middle = (len(values) - 1) / 2
    weight = math.fsum((place - middle) ** 2 for place in range(len(values)))
    mean = fmean(values)
    return (
        math.fsum((place - middle) * (value - mean) for place, value in enumerate(values)) / weight if weight else 0.0
    )


def below(t: float, freedom: int) -> float:
    """How likely Student's t is below a value."""
    if t == 0:
        return 0.5
    norm = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom)
    # With u = atan(t / sqrt(f)) the density is a power of a cosine, on a bounded interval: Simpson's rule is enough.
    end = math.atan(abs(t) / math.sqrt(freedom))
    width = end / _STEPS
    weights = ((1 if place in (0, _STEPS) else 4 if place % 2 else 2) for place in range(_STEPS + 1))
    total = math.fsum(
        weight * math.cos(place * width) ** (freedom - 1)
        for place, weight in zip(range(_STEPS + 1), weights, strict=True)
    )
    half = norm * math.sqrt(freedom) / math.sqrt(math.pi) * total * width / 3
    return min(1.0, max(0.0, 0.5 + math.copysign(half, t)))


@lru_cache(maxsize=64)  # a report asks for the same one hundreds of times
def quantile(share: float, freedom: int) -> float:
    """The value that Student's t stays below with this probability, from a half on."""
    low, high = 0.0, 1.0
    while below(high, freedom) < share and high < 1e6:
        high *= 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle, freedom) < share else (low, middle)
    return (low + high) / 2
