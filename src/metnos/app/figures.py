"""Figures about what was asked and what fast paths saved, from what is recorded anyway."""

from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from metnos.fastpath import promote

if TYPE_CHECKING:
    from metnos.app.house import App


@dataclass(frozen=True, slots=True)
class Way:
    """Requests that were planned in one way, and what planning took together."""

    path: str
    turns: int
    plan_ms: float
    usd: float


@dataclass(frozen=True, slots=True)
class Day:
    """What fast paths did on one day, in UTC."""

    day: date
    hits: int
    wrong: int
    ms: float
    usd: float


@dataclass(frozen=True, slots=True)
class Figures:
    """All of it. ``bound`` is the share of wrong answers that the owner accepts."""

    turns: int
    ways: tuple[Way, ...]
    hits: int
    wrong: int
    saved_ms: float
    saved_usd: float
    bound: float
    days: tuple[Day, ...]


def figures(app: "App", since: datetime) -> Figures:
    """What there is to say about the time since a moment."""
    ways = tuple(Way(*row) for row in app.medium.ways(since))
    days: dict[date, Day] = {}
    for each in promote.savings(app.fast.logs, since):
        known = days.get(each.day, Day(each.day, 0, 0, 0.0, 0.0))
        days[each.day] = Day(
            each.day, known.hits + each.hits, known.wrong + each.wrong, known.ms + each.ms, known.usd + each.usd
        )
    return Figures(
        turns=sum(way.turns for way in ways),
        ways=ways,
        hits=sum(day.hits for day in days.values()),
        wrong=sum(day.wrong for day in days.values()),
        saved_ms=sum(day.ms for day in days.values()),
        saved_usd=sum(day.usd for day in days.values()),
        bound=app.settings.fastpath.wrong_share,
        days=tuple(days[day] for day in sorted(days)),
    )


def data(found: Figures) -> dict[str, Any]:
    """The same for programs."""
    return {**asdict(found), "days": [{**asdict(day), "day": day.day.isoformat()} for day in found.days]}
