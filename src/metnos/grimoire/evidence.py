"""How far counts can be trusted: the few statistics that consolidation rests on, pure.

Rules: nothing here is certain after few sightings (`sure` is the lower end of an interval, not the share that was
seen); what happens anyway is no effect (`by_chance`); a baseline follows a world that changes, because old sightings
stop gaining weight at a limit.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

SIGHTINGS = 200  # that a baseline can weigh at most: about four cycles of 50, then the new counts as much as the old


@dataclass(frozen=True, slots=True)
class Baseline:
    """What is usual for a measure."""

    mean: float
    stddev: float
    count: int


def baseline(values: Sequence[float]) -> Baseline:
    """Of at least one value."""
    mean = math.fsum(values) / len(values)
    return Baseline(mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values)), len(values))


def merged(old: Baseline, new: Baseline, most: int = SIGHTINGS) -> Baseline:
    """Both as one. Exact while ``old`` has at most ``most`` sightings; beyond, what is new counts for more."""
    weight = min(old.count, most)
    total = weight + new.count
    if total == 0:
        return old
    mean = (weight * old.mean + new.count * new.mean) / total
    spread = weight * (old.stddev**2 + (old.mean - mean) ** 2) + new.count * (new.stddev**2 + (new.mean - mean) ** 2)
    return Baseline(mean, math.sqrt(max(0.0, spread / total)), old.count + new.count)


def standing_off(value: float, usual: Baseline) -> float:
    """Standard deviations from the mean. What never varied is taken to vary by a twentieth: nothing is infinite."""
    spread = max(usual.stddev, abs(usual.mean) / 20, 1e-9)
    return min(abs(value - usual.mean) / spread, 1e6)


def sure(times: int, of: int, z: float = 1.28) -> float:
    """The share that can be relied on after ``times`` of ``of``: Wilson's lower bound, at 90 % unless told."""
    if of <= 0:
        return 0.0
    share, square = times / of, z * z
    middle = share + square / (2 * of)
    off = z * math.sqrt(share * (1 - share) / of + square / (4 * of * of))
    return min(1.0, max(0.0, (middle - off) / (1 + square / of)))


def by_chance(times: int, of: int, chance: float) -> float:
    """How likely at least ``times`` of ``of`` are when each happens with ``chance`` anyway: the exact binomial tail."""
    if times <= 0:
        return 1.0
    if times > of or chance <= 0:
        return 0.0
    if chance >= 1:
        return 1.0
    yes, no, total = math.log(chance), math.log1p(-chance), math.lgamma(of + 1)
    logs = [
        total - math.lgamma(count + 1) - math.lgamma(of - count + 1) + count * yes + (of - count) * no
        for count in range(times, of + 1)
    ]
    return min(1.0, math.fsum(math.exp(each) for each in logs))


def lift(times: int, of: int, chance: float) -> float:
    """How many times as often as it happens anyway; nothing if it never happened."""
    return (times / of) / chance if of and chance > 0 else 0.0
