"""The weights and states of mnests: pure formulas, verdicts, and their numbers.

``weight(t) = clamp01(weight(t - dt) * exp(-lambda * dt) + reinforcement)``, with ``dt`` in days. A weight belongs to a
moment (``ts_decayed``): whoever reads it later lets it decay to then, whoever stores it stores the moment too. So decay
may be applied as often as one likes and never compounds, and the time of the last use (``ts_used``) is never lost.

Rules of an event, from which `replay` computes every weight again: a use adds its ``delta``; decay follows from the
time between events and never from a decay event's ``delta``, which is there to be read; a ``decay_lambda`` holds from
that event on; a state change weighs nothing. Time never runs backwards, but for the one event that says that a clock
was wrong (`CLOCK_SET_BACK`): its ``delta`` is added, and its time is the moment that the weight belongs to.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from metnos.core.decay import Ebbinghaus, clamp01, days_between

CLOCK_SET_BACK = "the clock had run ahead and was set back"


@dataclass(frozen=True, slots=True)
class Rules:
    """The numbers of the mnest's source document (its chapters on weight and thresholds)."""

    decay_lambda: float = 0.018  # a day: half is left after about 38
    birth: float = 0.30
    reinforcement: float = 0.15
    recurring_uses: int = 3  # from here on a wish is a gap and no whim
    recurring_weight: float = 0.30
    decaying: float = 0.20  # below it a mnest is on its way out
    archive_weight: float = 0.05  # below it, and unused for so many days, the owner is asked to let it go
    archive_days: int = 90
    proto_min: float = 0.05  # below it a wish was noise
    archive_after_days: int = 90  # so long a superseded row stays beside the living ones
    lambdas: Mapping[str, float] = field(default_factory=dict)  # of single tags, a day

    def lambda_for(self, tags: Iterable[str]) -> float:
        """How fast a mnest with these tags fades. Tags without a lambda of their own have no say.

        Of several the slowest: any turn may add a tag, and what it adds must not make forget sooner what another turn
        wanted kept; a row that stays too long costs little.
        """
        return min((self.lambdas[tag] for tag in tags if tag in self.lambdas), default=self.decay_lambda)


class State(StrEnum):
    """What a mnest is."""

    SEED = "seed"  # said by a manifest or the documentation, and not seen yet
    PROTO = "proto"  # a wish: what it leads to does not exist
    ACTIVE = "active"
    DECAYING = "decaying"
    SUPERSEDED = "superseded"  # history


LIVE = (State.SEED, State.ACTIVE, State.DECAYING)  # at most one row of these for a tuple


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
    decay_lambda: float | None = None  # from here on; ``None``: as before
    reason: str = ""

    @property
    def sets_back(self) -> bool:
        return self.kind is Kind.DECAY and self.reason == CLOCK_SET_BACK


# -- weights


def decayed(weight: float, since: datetime, now: datetime, decay_lambda: float) -> float:
    """A weight that was right at ``since``, as it is at ``now``."""
    return clamp01(Ebbinghaus.per_day(decay_lambda).apply(weight, days_between(since, now)))


def reinforced(weight: float, since: datetime, now: datetime, decay_lambda: float, delta: float) -> float:
    """The same after a use at ``now``."""
    return clamp01(decayed(weight, since, now, decay_lambda) + delta)


def replay(events: Iterable[Event], decay_lambda: float) -> tuple[float, datetime | None]:
    """The weight that a mnest's events lead to, and the moment it belongs to; the oldest event first.

    ``decay_lambda`` is for events that say none, which those of the first Metnos are.
    """
    weight, at = 0.0, None
    for event in events:
        weight, at, decay_lambda = replayed(weight, at, decay_lambda, event)
    return weight, at


def replayed(
    weight: float, at: datetime | None, decay_lambda: float, event: Event
) -> tuple[float, datetime | None, float]:
    """One event of a replay: the weight after it, the moment it belongs to, and how fast it fades from then on."""
    rate = decay_lambda if event.decay_lambda is None else event.decay_lambda
    if event.kind is Kind.STATE_CHANGE:
        return weight, at, rate
    delta = event.delta or 0.0
    if event.sets_back:
        return clamp01(weight + delta), event.ts, rate
    since = at or event.ts
    added = delta if event.kind is Kind.REINFORCE else 0.0
    return reinforced(weight, since, event.ts, decay_lambda, added), max(since, event.ts), rate


def weight_set_back(events: Sequence[Event], decay_lambda: float, now: datetime) -> float:
    """What a mnest should weigh at ``now`` when some of its events lie in the future, because a clock had run ahead.

    What lies ahead counts as happening now; and what lay ahead when a clock was set back before, as happening then.
    """
    told: list[Event] = []
    latest = now
    for event in reversed(events):
        if event.sets_back:
            latest = min(latest, event.ts)
        else:
            told.append(replace(event, ts=min(event.ts, latest)))
    weight, at, rate = 0.0, None, decay_lambda
    for event in reversed(told):
        weight, at, rate = replayed(weight, at, rate, event)
    return decayed(weight, at or now, now, rate)


# -- verdicts


def next_state(state: State, weight: float, rules: Rules) -> State:
    """What time alone makes of a mnest. Only a use brings it back."""
    ages = state is State.ACTIVE or state is State.SEED  # by identity: this is asked a million times in a large night
    return State.DECAYING if ages and weight < rules.decaying else state


def returned_state(weight: float, rules: Rules) -> State:
    """What a mnest is that comes back with its executor."""
    return next_state(State.ACTIVE, weight, rules)


def is_noise(state: State, weight: float, rules: Rules) -> bool:
    """Whether a wish has faded so far that it is removed."""
    return state is State.PROTO and weight < rules.proto_min


def is_past(state: State, days_since: float, rules: Rules) -> bool:
    """Whether a row that was superseded so many days ago belongs into the archive."""
    return state is State.SUPERSEDED and days_since >= rules.archive_after_days
