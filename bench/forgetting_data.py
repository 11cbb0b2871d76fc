"""Streams for the test of forgetting: what is right changes, or does not, or comes back.

A world has a few forms of request, and for each of them one way that is right just now (a regime). Every tick one form
is asked for, and what turns out right is the regime's way, but for some noise. Streams differ in when regimes change:
never; after so many days, to something new; to and fro between two; or little by little. In a measured world the right
answer is a number near the regime's mean. Nothing here is taken from a data set; the seed makes all of it.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

FORMS, WAYS = 5, 6  # six ways: whoever guesses is right one time in six
PER_DAY, DAYS = 8, 120  # ticks: a busy house; a cycle of the curator is then about six days
NOISE = 0.1  # of the ticks: what turned out right once and never again
MEANS, SPREAD = (10.0, 100.0), 3.0  # of the measured world

Regime = Callable[[float, float], int]  # the day, and a number that was drawn for the tick


@dataclass(frozen=True, slots=True)
class Stream:
    """``regime`` says which regime holds."""

    name: str
    said: str
    regime: Regime


def _every(days: float) -> Regime:
    return lambda day, _: int(day / days)


def _gradually(day: float, drawn: float) -> int:
    """From one regime to the next over 40 days, by and by more often the new one."""
    whole, part = divmod(day, 40)
    return int(whole) + (drawn < part / 40)


STREAMS = (
    Stream("never", "nothing ever changes", lambda _day, _drawn: 0),
    Stream("60 days", "a new regime after 60 days", _every(60)),
    Stream("30 days", "a new regime every 30 days", _every(30)),
    Stream("10 days", "a new regime every 10 days", _every(10)),
    Stream("returning", "two regimes take turns, 30 days each", lambda day, _: int(day / 30) % 2),
    Stream("gradual", "each regime goes over into the next within 40 days", _gradually),
)


@dataclass(frozen=True, slots=True)
class Tick:
    """One request: on which day, of which form, what turned out right, and in numbers."""

    day: float
    form: str
    right: str
    measured: float


def ticks(stream: Stream, seed: int) -> Iterator[Tick]:
    """The same stream and seed give the same ticks."""
    chance = random.Random(f"{stream.name} {seed}")
    ways: dict[tuple[int, int], int] = {}
    means: dict[tuple[int, int], float] = {}
    for number in range(PER_DAY * DAYS):
        day = number / PER_DAY
        form, regime = chance.randrange(FORMS), stream.regime(day, chance.random())
        if (regime, form) not in ways:
            # Another way than before: a change that changes nothing is none.
            others = [way for way in range(WAYS) if way != ways.get((regime - 1, form))]
            ways[regime, form] = chance.choice(others)
            means[regime, form] = chance.uniform(*MEANS)
        way = chance.randrange(WAYS) if chance.random() < NOISE else ways[regime, form]
        yield Tick(day, f"file the papers of kind {form}", f"/papers/{way}", chance.gauss(means[regime, form], SPREAD))
