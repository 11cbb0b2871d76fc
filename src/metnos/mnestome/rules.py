"""The weights of mnests: pure formulas, and their numbers.

``weight(t) = clamp01(weight(t - dt) * exp(-lambda * dt) + reinforcement)``, with ``dt`` in days. A weight belongs to a
moment (``ts_decayed``): whoever reads it later lets it decay to then, whoever stores it stores the moment too. So decay
may be applied as often as one likes and never compounds, and the time of the last use (``ts_used``) is never lost.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from metnos.core.decay import Ebbinghaus, clamp01, days_between


@dataclass(frozen=True, slots=True)
class Rules:
    """The numbers of the mnest's source document (its chapters on weight and thresholds)."""

    decay_lambda: float = 0.018  # a day: half is left after about 38
    birth: float = 0.30
    reinforcement: float = 0.15
    recurring_uses: int = 3  # from here on a wish is a gap and no whim
    recurring_weight: float = 0.30


class Kind(StrEnum):
    """What an event is."""

    REINFORCE = "reinforce"
    DECAY = "decay"
    STATE_CHANGE = "state_change"


@dataclass(frozen=True, slots=True)
class Event:
    """One change of a mnest. ``delta`` is what was added by a use, or taken by decay."""

    ts: datetime
    kind: Kind
    delta: float | None


def decayed(weight: float, since: datetime, now: datetime, decay_lambda: float) -> float:
    """A weight that was right at ``since``, as it is at ``now``."""
    return clamp01(Ebbinghaus.per_day(decay_lambda).apply(weight, days_between(since, now)))


def reinforced(weight: float, since: datetime, now: datetime, decay_lambda: float, delta: float) -> float:
    """The same after a use at ``now``."""
    return clamp01(decayed(weight, since, now, decay_lambda) + delta)


def replay(events: Iterable[Event], decay_lambda: float) -> tuple[float, datetime | None]:
    """The weight that a mnest's events lead to, and the moment it belongs to; the oldest event first.

    Amounts of uses are taken from the events, decay from the times between them: another lambda gives what the weight
    would have been with it.
    """
    weight, at = 0.0, None
    for event in events:
        since = at or event.ts
        delta = event.delta if event.kind is Kind.REINFORCE and event.delta is not None else 0.0
        weight, at = reinforced(weight, since, event.ts, decay_lambda, delta), max(since, event.ts)
    return weight, at
