"""The selection arena: for one class of goals, who closes the gap, who does not, and who waits outside.

Rules: shows what is, decides nothing. An executor stands here if it served the class in the version that is in force,
if its name says that it could, or, where it is not built in, if it has a word in common with the class.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from metnos.core.errors import UsageError
from metnos.executors import fitness, fitness_rules, index
from metnos.executors.signature import Origin
from metnos.executors.state import State

if TYPE_CHECKING:
    from metnos.app.house import App

_DAY = timedelta(days=1)


class Place(StrEnum):
    """How an executor stands in an arena."""

    FIT = "fit"  # the gap shrinks
    NEUTRAL = "neutral"  # not used for this, or nobody can tell
    UNFIT = "unfit"  # the gap grows
    HIDDEN = "hidden"  # planners do not see it
    DISABLED = "disabled"
    QUARANTINED = "quarantined"
    ARCHIVED = "archived"
    EXTINCT = "extinct"  # revoked: only its files are left


_OFF = {
    State.DISABLED: Place.DISABLED,
    State.QUARANTINE: Place.QUARANTINED,
    State.ARCHIVED: Place.ARCHIVED,
    State.REVOKED: Place.EXTINCT,
}


@dataclass(frozen=True, slots=True)
class Fighter:
    """One executor in an arena. ``signals`` are the uses of which somebody could tell what they were worth."""

    name: str
    version: str
    origin: Origin
    place: Place
    fitness: float
    uses: int
    signals: int
    strikes: int
    why: str  # why it is hidden or switched off


@dataclass(frozen=True, slots=True)
class Arena:
    """One class of goals. ``proposals`` are executors for it that nobody has agreed to yet, each with its state."""

    goal: str
    fighters: tuple[Fighter, ...]
    proposals: tuple[tuple[str, str], ...] = ()


def find(app: "App", text: str) -> list[str]:
    """The classes that are meant by some words, the busiest first."""
    known = fitness.goals(app.catalog.db)
    said = " ".join(text.casefold().replace("_", " ").split())
    if said in known:
        return [said]
    found = fitness_rules.goals_like(text, known)
    if not found:
        raise UsageError(f"nothing like {text!r} was done yet", fix="See what was: metnos arena")
    return [goal for goal in known if goal in found]


def enter(app: "App", goal: str) -> Arena:
    """The arena of one class of goals, the fittest first, those who are out last."""
    db, now, hidden = app.catalog.db, app.clock.now(), app.selection.hidden()
    served = fitness.in_class(db, goal, now, app.selection.rules)
    fighters = []
    for entry in index.all_current(db):
        found = served.get((entry.name, entry.digest))
        if found is None and not _could(entry, goal):
            continue
        away = hidden.get(entry.name)
        is_hidden = away is not None and away.digest == entry.digest
        fighters.append(
            Fighter(
                name=entry.name,
                version=entry.version,
                origin=entry.origin,
                place=_place(entry, found, is_hidden),
                fitness=found.value if found else 0.0,
                uses=found.uses if found else 0,
                signals=found.signals if found else 0,
                strikes=index.strikes_since(db, entry.name, max(now - _DAY, entry.loaded_at)),  # of this version
                why=str(away.why) if away is not None and is_hidden else entry.reason if entry.state in _OFF else "",
            )
        )
    order = list(Place)
    fighters.sort(key=lambda each: (order.index(each.place) > 2, -each.fitness, -each.uses, each.name))
    return Arena(goal, tuple(fighters), tuple(_proposals(app, goal)))


def goals(app: "App") -> list[dict[str, Any]]:
    """All classes of goals, as data."""
    found = fitness.goals(app.catalog.db)
    return [{"goal": goal, "turns": turns, "executors": count} for goal, (turns, count) in found.items()]


def data(shown: Arena) -> dict[str, Any]:
    """An arena as data."""
    plain = ("name", "version", "uses", "signals", "strikes", "why")
    return {
        "goal": shown.goal,
        "executors": [
            {key: getattr(each, key) for key in plain}
            | {"origin": str(each.origin), "state": str(each.place), "fitness": round(each.fitness, 4)}
            for each in shown.fighters
        ],
        "proposals": [{"name": name, "state": state} for name, state in shown.proposals],
    }


def _place(entry: index.Entry, found: fitness_rules.Fitness | None, is_hidden: bool) -> Place:
    if entry.state in _OFF:
        return _OFF[entry.state]
    if is_hidden:
        return Place.HIDDEN
    if found is None or not found.signals:
        return Place.NEUTRAL
    return Place.FIT if found.value > 0 else Place.UNFIT


def _could(entry: index.Entry, goal: str) -> bool:
    """Whether an executor could serve a class by its name."""
    own = fitness_rules.goal_of([entry.name])
    return own == goal or (entry.origin is not Origin.BUILTIN and bool(set(own.split()) & set(goal.split())))


def _proposals(app: "App", goal: str) -> Iterable[tuple[str, str]]:
    from metnos.synt.proposals import OPEN, Proposals  # only an arena that somebody looks at needs them

    for each in Proposals(app.synt_db, app.clock).all(OPEN):
        if fitness_rules.goal_of([each.name]) == goal:
            yield each.name, str(each.state)
