"""The weight of a mnest over time, as its events lead to it: what it was at any moment, fading in between included."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from metnos.mnestome.rules import Event, Rules, decayed, replayed

_HAIR = timedelta(milliseconds=1)  # before a step, so that a use shows as one and not as a slope


@dataclass(frozen=True, slots=True)
class Step:
    """From this moment on the weight is this, and fades so fast."""

    at: datetime
    weight: float
    decay_lambda: float


def steps(events: Sequence[Event]) -> list[Step]:
    """What each event left, the oldest first."""
    found, weight, at, rate = list[Step](), 0.0, None, Rules().decay_lambda
    for event in events:
        weight, at, rate = replayed(weight, at, rate, event)
        found.append(Step(at or event.ts, weight, rate))
    return found


def weight_at(taken: Sequence[Step], moment: datetime) -> float:
    """By the last step that was taken by then; before the first there was nothing."""
    known = [step for step in taken if step.at <= moment]
    return decayed(known[-1].weight, known[-1].at, moment, known[-1].decay_lambda) if known else 0.0


def curve(events: Sequence[Event], now: datetime, most: int = 240) -> list[tuple[datetime, float]]:
    """The weight from the first event until now at about ``most`` moments: evenly, and just before and at each step.

    Where there are too many steps for that, the last of them have their moments.
    """
    taken = steps(events)
    if not taken:
        return []
    first = min(step.at for step in taken)
    last = max(now, *(step.at for step in taken))
    even = most // 2
    moments = {first + (last - first) * (number / (even - 1)) for number in range(even)}
    for step in taken[-(most // 4) :]:
        moments |= {step.at, max(first, step.at - _HAIR)}
    return [(moment, weight_at(taken, moment)) for moment in sorted(moments)]
