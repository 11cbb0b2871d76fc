"""When an agent that lives by itself beats: pure rules, no clock, no disk.

Three beats, as in seed 003: *gamma* captures, *theta* deliberates, *delta* consolidates. Gamma keeps its pace; theta
and delta move between two bounds: the more there is to wonder about, the sooner it deliberates, and the more came in,
the sooner it consolidates; how much is enough shrinks with the life that is left, because what is not consolidated when
it ends is lost. A tick of its life is one theta.

Rules (property-tested): no beat is due before its shortest time nor later than its longest; more pressure never makes a
beat later; what was just done is not due. A clock that was set back makes a beat due at once and never silences it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from metnos.core.decay import clamp01
from metnos.life.profile import Rates

ENOUGH = 50  # episodes: as many as the curator waits for (seed 003), unless the phase says fewer


class Beat(StrEnum):
    """What is done in one beat, in this order if several are due."""

    GAMMA = "gamma"  # capture
    THETA = "theta"  # deliberate
    DELTA = "delta"  # consolidate


@dataclass(frozen=True, slots=True)
class Pulse:
    """When each beat last was, and what has come in since: the greatest curiosity since theta, how much since delta.
    So many episodes are ``enough`` to consolidate as soon as it can be."""

    last: Mapping[Beat, datetime] = field(default_factory=dict)
    curious: float = 0.0
    fresh: int = 0
    enough: int = ENOUGH


def interval(beat: Beat, pulse: Pulse, rates: Rates) -> timedelta:
    """How long after the last one of its kind a beat is due."""
    if beat is Beat.GAMMA:
        return timedelta(seconds=rates.gamma)
    if beat is Beat.THETA:
        return _between(rates.theta, pulse.curious)
    return _between(rates.delta, pulse.fresh / pulse.enough)


def due(pulse: Pulse, rates: Rates, now: datetime) -> tuple[Beat, ...]:
    """What is to be done now."""
    return tuple(beat for beat in Beat if when(beat, pulse, rates, now) <= now)


def wake(pulse: Pulse, rates: Rates, now: datetime) -> datetime:
    """When the next beat is due."""
    return min(when(beat, pulse, rates, now) for beat in Beat)


def when(beat: Beat, pulse: Pulse, rates: Rates, now: datetime) -> datetime:
    """When a beat is due. One that was never done, or in the future by a clock that was wrong, is due now."""
    last = pulse.last.get(beat)
    return now if last is None or last > now else last + interval(beat, pulse, rates)


def _between(bounds: tuple[float, float], pressure: float) -> timedelta:
    shortest, longest = bounds
    return timedelta(seconds=longest - (longest - shortest) * clamp01(pressure))
