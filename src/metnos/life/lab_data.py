"""Tasks out of public measurements that nobody here made: daily weather and monthly employment.

Both are read from the files inside the package ``vega_datasets`` (extra ``lab``), whose code is never run:

- *weather*: Seattle, every day from 2012 to 2015 (NOAA). Each day five questions: how warm, how cold, how wet, how
  windy it will be, and which sort of weather. Seasons are regimes that come back.
- *employment*: fifteen branches of the United States, every month from 2006 to 2015 (Bureau of Labor Statistics): does
  it fall, hold or rise by more than 0.1 % this month? In the middle lies the recession of 2008 and 2009.

Rules: pure but for reading the files; classes have fixed bounds that were chosen once, after a look at the data and
before any arm ran. The years are squeezed into as many days of the lab's clock as its other worlds last, so that what
is known lasts for as many tasks as it does there. A seed chooses which questions are asked and in which order, so seeds
are no independent worlds here: there is one history, and intervals over seeds say nothing about another one.
"""

import csv
import importlib.util
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from metnos.core.errors import UsageError
from metnos.executors import vocabulary
from metnos.life.lab_world import Size, Task

PACKAGE = "vega_datasets"
_BRANCHES = 8  # of fifteen that a seed has
_QUESTIONS = 4  # of five
_AGGREGATES = frozenset({"month", "nonfarm", "private", "goods_producing", "service_providing", "nonfarm_change"}) | {
    "private_service_providing",
    "manufacturing",
    "trade_transportation_utilties",
}


@dataclass(frozen=True, slots=True)
class Data:
    """A public series as a stream. ``series`` gives for each form its answers, in order of time."""

    name: str
    said: str
    area: str
    asked: int  # forms for a seed
    series: Callable[[Path], Mapping[str, Sequence[str]]]
    changes: bool = True


def _banded(value: str, bounds: Sequence[float], names: Sequence[str]) -> str:
    return names[sum(float(value) >= bound for bound in bounds)]


def _weather(folder: Path) -> dict[str, list[str]]:
    rows = _rows(folder / "seattle-weather.csv")
    warm = ("say_cold", "say_cool", "say_mild", "say_warm", "say_hot", "say_scorching")
    cold = ("say_frost", "say_chilly", "say_fresh", "say_mild", "say_warm")
    return {
        "say how warm the day will be": [_banded(row["temp_max"], (6, 12, 18, 24, 30), warm) for row in rows],
        "say how cold the night will be": [_banded(row["temp_min"], (1, 5, 9, 13), cold) for row in rows],
        "say how much rain will fall": [
            _banded(row["precipitation"], (0.01, 5), ("say_none", "say_some", "say_much")) for row in rows
        ],
        "say how strong the wind will blow": [
            _banded(row["wind"], (2, 4, 6), ("say_calm", "say_light", "say_fresh", "say_strong")) for row in rows
        ],
        "say which sky to expect": [f"say_{row['weather']}" for row in rows],
    }


def _employment(folder: Path) -> dict[str, list[str]]:
    rows = _rows(folder / "us-employment.csv")
    found = {}
    for branch in sorted(rows[0].keys() - _AGGREGATES):
        counts = [float(row[branch]) for row in rows]
        moves = [100 * (now / before - 1) for before, now in pairwise(counts)]
        words = ("say_falls", "say_holds", "say_rises")
        found[f"say where employment in {branch.replace('_', ' ')} goes"] = [
            _banded(str(move), (-0.1, 0.1), words) for move in moves
        ]
    return found


DATA = (
    Data("weather", "daily weather of Seattle, 2012 to 2015: seasons come back", "weather", _QUESTIONS, _weather),
    Data(
        "employment",
        "monthly employment in the United States, 2006 to 2015: a recession",
        "work",
        _BRANCHES,
        _employment,
    ),
)


def folder() -> Path | None:
    """Where the package keeps its files, without running any of its code; nothing if it is not installed."""
    found = importlib.util.find_spec(PACKAGE)
    places = list(found.submodule_search_locations or ()) if found else []
    return Path(places[0]) / "_data" if places else None


def tasks(data: Data, seed: int, size: Size) -> list[Task]:
    """All tasks of all generations: at each moment every form that the seed chose, in an order of its own.

    Where the series is longer than needed, moments are left out evenly, so that all of its time is covered.
    """
    place = folder()
    if place is None:
        raise UsageError(
            f"the data set {data.name!r} is in the package {PACKAGE}, which is not installed",
            fix='Install it: pip install "metnos[lab]". Or leave it out: --made-only.',
        )
    chance = random.Random(f"{data.name} {seed}")  # noqa: S311 -- an experiment, which must be repeatable
    series = data.series(place)
    forms = chance.sample(sorted(series), data.asked)
    names = _names({answer for answers in series.values() for answer in answers})
    length = len(series[forms[0]])
    moments = min(length, size.generations * size.ticks // len(forms))
    made: list[Task] = []
    for number in range(moments):
        at = number * length // moments
        chance.shuffle(forms)
        for form in forms:
            ways = tuple(names[answer] for answer in sorted(set(series[form])))
            day = number * len(forms) / size.per_day
            made.append(Task(day, form, data.area, ways, names[series[form][at]]))
    return made


def _names(answers: Collection[str]) -> dict[str, str]:
    """An executor for each answer, in words of the vocabulary: no other name crosses a death."""
    qualifiers = sorted(vocabulary.load().qualifiers)
    return {each: f"show_results_{word}" for each, word in zip(sorted(answers), qualifiers, strict=False)}


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
