"""Worlds for the lab: streams of tasks, made from a seed, in which what is right changes, or does not, or comes back.

A world has some forms of request in a few areas. Each area has a handful of executors that could do it, and for each
form one of them is right just now (its regime). Some forms are asked for often and most seldom, as everywhere. In each
area one executor is a trap: it fails whenever it is tried, in every regime. Streams differ only in when regimes change.

Rules: pure; the same stream, seed and size give the same tasks, whoever works on them. A regime never changes to what
was right before it, because a change that changes nothing is none. Nothing here is taken from a data set (`lab_data`
is).
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

WAYS = 6  # of each form, the trap included: whoever guesses is right one time in six
NOISE = 0.1  # of the tasks: what turned out right this once and never again
RECENT = 5  # times that a form is asked after a change during which the change counts as recent


@dataclass(frozen=True, slots=True)
class Size:
    """How large an experiment is. Chosen so that all of it takes some minutes on one core.

    A life is long enough for several consolidations (one every 50 ticks) and short enough that an heir's youth matters.
    The seed's 2048 entries would let everything through that so short a life can learn; ``entries`` is scaled down to
    less than half of that, so that there is a bottleneck at all.
    """

    generations: int = 4
    ticks: int = 150  # of a life
    per_day: float = 3.0  # with this a life is 50 days: the half-life of a procedure is 90, of an inherited one 45
    areas: int = 3
    forms: int = 12
    entries: int = 16  # of about fifty that a life learns

    @property
    def life_days(self) -> float:
        return self.ticks / self.per_day


@dataclass(frozen=True, slots=True)
class Task:
    """One request: when, what about, which ways (executors) there are, and which turned out right. ``recent``: it used
    to be another one, until a moment ago."""

    day: float
    form: str
    area: str
    ways: tuple[str, ...]
    right: str
    traps: frozenset[str] = frozenset()
    recent: bool = False


Regime = Callable[[int, float, float], int]  # the form, the day counted in lives, and a number drawn for the form


@dataclass(frozen=True, slots=True)
class Stream:
    """``regime`` says which regime holds; ``changes`` whether it is ever another one."""

    name: str
    said: str
    changes: bool
    regime: Regime


STREAMS = (
    Stream("still", "nothing ever changes", False, lambda _form, _lives, _drawn: 0),
    Stream(
        "mixed",
        "half of the forms never change, each of the others changes about three times a life",
        True,
        lambda form, lives, drawn: int(lives * 3 + drawn) if form % 2 else 0,
    ),
    Stream(
        "shock",
        "everything changes at once, in the middle of every second life",
        True,
        lambda _form, lives, _drawn: int((lives + 0.5) / 2),
    ),
    Stream(
        "returning",
        "two regimes take turns, each holds for as long as a life",
        True,
        lambda _form, lives, _drawn: int(lives + 0.5) % 2,
    ),
)

# Words of the vocabulary of executors: no other name crosses a death.
_BY = ("age", "name", "size", "content", "text", "code")  # how things can be sorted: as many as there are ways
_AREAS = ("mails", "records", "images", "notes", "contacts", "documents")
_FIRST = ("amber", "birch", "cobalt", "dover", "ember", "falcon", "garnet", "hazel", "indigo", "jasper", "kestrel")
_LAST = ("north", "river", "tower", "meadow", "harbour", "valley", "bridge", "garden", "market", "castle", "forest")


def tasks(stream: Stream, seed: int, size: Size) -> list[Task]:
    """All tasks of all generations, in order."""
    chance = random.Random(f"{stream.name} {seed}")  # noqa: S311 -- an experiment, which must be repeatable
    forms = _forms(size)
    often = [1.0 / (rank + 1) for rank in range(len(forms))]
    chance.shuffle(often)
    drawn = [chance.random() for _ in forms]
    traps = {area: chance.choice(_ways(area)) for area in _AREAS[: size.areas]}
    world = _Ways(chance, traps)
    asked: Counter[tuple[int, int]] = Counter()
    made = []
    for number in range(size.generations * size.ticks):
        day = number / size.per_day
        form = chance.choices(range(len(forms)), often)[0]
        regime = stream.regime(form, day / size.life_days, drawn[form])
        words, area = forms[form]
        ways = _ways(area)
        right = world.right(form, regime, area)
        if chance.random() < NOISE:
            right = chance.choice([way for way in ways if way != traps[area]])
        asked[form, regime] += 1
        recent = regime != stream.regime(form, 0.0, drawn[form]) and asked[form, regime] <= RECENT
        made.append(Task(day, words, area, ways, right, frozenset({traps[area]}), recent))
    return made


def _ways(area: str) -> tuple[str, ...]:
    return tuple(f"sort_{area}_{by}" for by in _BY[:WAYS])


def _forms(size: Size) -> list[tuple[str, str]]:
    """What is asked for, in words, and its area."""
    if size.areas > len(_AREAS) or size.forms > len(_FIRST) * len(_LAST):
        raise ValueError("there are not so many words for the lab's requests")
    areas = [_AREAS[number % size.areas] for number in range(size.forms)]
    names = [f"{_FIRST[n % len(_FIRST)]} {_LAST[(n + n // len(_FIRST)) % len(_LAST)]}" for n in range(size.forms)]
    return [(f"sort the {area} of {name}", area) for area, name in zip(areas, names, strict=True)]


class _Ways:
    """Which way is right in which regime: drawn when it is first needed, and then for good."""

    def __init__(self, chance: random.Random, traps: dict[str, str]) -> None:
        self._chance = chance
        self._traps = traps
        self._right: dict[tuple[int, int], str] = {}

    def right(self, form: int, regime: int, area: str) -> str:
        if (form, regime) not in self._right:
            before = self._right.get((form, regime - 1), "")
            others = [way for way in _ways(area) if way not in (before, self._traps[area])]
            self._right[form, regime] = self._chance.choice(others)
        return self._right[form, regime]


def lives(made: Sequence[Task], generations: int) -> list[list[Task]]:
    """The tasks of each generation: as many for each, in their order."""
    each = len(made) // generations
    return [list(made[place * each : (place + 1) * each]) for place in range(generations)]
