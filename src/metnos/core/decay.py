"""Every curve of forgetting in Metnos, in one place.

Two ways to say how fast, one law: after ``dt`` a value keeps the fraction ``exp(-rate * dt)``.

- `HalfLife`: half is left after ``days``.
- `Ebbinghaus`: ``R = e^(-t/S)``, where ``S`` is the stability in days; a mnest's lambda is ``1 / S``.

Rules (property-tested): factors lie in [0, 1] and never grow with time; ``apply`` over ``a + b`` equals ``apply`` over
``a`` and then over ``b``, with or without a floor, so decay may be applied as often as one likes without compounding;
time that runs backwards changes nothing. Time is in days everywhere.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self

_DAY = timedelta(days=1)


def days_between(earlier: datetime, later: datetime) -> float:
    """Days from one moment to another, never below zero: a clock set back ages nothing."""
    return max(0.0, (later - earlier) / _DAY)


def clamp01(value: float) -> float:
    return min(1.0, max(0.0, value))


class _Curve:
    """What both forms share; a form only says its rate."""

    __slots__ = ()

    @property
    def rate(self) -> float:
        """How much is lost per day, as the exponent's factor."""
        raise AssertionError("a form of decay defines its rate")

    def factor(self, days: float) -> float:
        """The fraction that is left after ``days``."""
        return math.exp(-self.rate * max(0.0, days))

    def apply(self, value: float, days: float, *, floor: float = 0.0) -> float:
        """``value`` after ``days``: never below ``floor``, and never above what it was."""
        return min(value, max(floor, value * self.factor(days)))


@dataclass(frozen=True, slots=True)
class HalfLife(_Curve):
    """Half of it is left after ``days``."""

    days: float

    def __post_init__(self) -> None:
        _require_positive(self.days, "a half-life")

    @property
    def rate(self) -> float:
        return math.log(2) / self.days

    def supported_by(self, episodes: int) -> Self:
        """The same curve, slowed by evidence: the half-life grows with ``max(1, ln(episodes))``."""
        return type(self)(self.days * max(1.0, math.log(max(1, episodes))))


@dataclass(frozen=True, slots=True)
class Ebbinghaus(_Curve):
    """``R = e^(-t/S)`` with the stability ``S`` in days."""

    stability: float

    def __post_init__(self) -> None:
        _require_positive(self.stability, "a stability")

    @classmethod
    def per_day(cls, decay_lambda: float) -> Self:
        """From a rate per day, as mnests state it."""
        _require_positive(decay_lambda, "a decay lambda")
        return cls(1.0 / decay_lambda)

    @property
    def rate(self) -> float:
        return 1.0 / self.stability


def _require_positive(number: float, what: str) -> None:
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{what} must be a positive number, not {number!r}")
