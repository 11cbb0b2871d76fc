"""Fast paths over HTTP: what was learnt from repeated requests, what it saved, and switching it."""

from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from metnos.api.http.inside import KEPT, PROBLEMS, House, Id, Missing, Nothing, Owner
from metnos.api.http.plain import Said
from metnos.app import App, figures, reasons
from metnos.app import explaining as fast
from metnos.core.errors import UsageError
from metnos.fastpath.log import Log
from metnos.fastpath.records import FastPath

router = APIRouter(prefix="/api", tags=["fast paths"], responses=PROBLEMS)

Days = Annotated[int, Query(ge=1, le=3650, description="How far to look back.")]
_EVENTS = 200


class Shortcut(BaseModel):
    """One fast path in a list."""

    id: str
    level: int = Field(description="1: a request that is one call; 2: one that is a sequence.")
    state: str
    state_words: str
    reason: Said
    tools: list[str]
    said: Said = Field(description="How it is asked for, its details left out.")
    passes: int = Field(description="Requests that it was learnt from.")
    agreed: int
    disagreed: int
    hits: int = Field(description="Requests that it answered.")
    wrong: int
    plan_ms: float = Field(description="What planning takes without it.")
    plan_usd: float


class Shortcuts(BaseModel):
    """All of them, those that answer most first. `bound` is the share of wrong answers that the owner accepts."""

    paths: list[Shortcut]
    bound: float


class Form(BaseModel):
    form: Said
    said: Said
    uses: int


class Mark(BaseModel):
    name: str
    version: str


class Happening(BaseModel):
    """What happened to a path once."""

    ts: str
    kind: str
    turn: str
    probability: float | None
    saved_ms: float | None
    saved_usd: float | None
    reason: Said


class WholeShortcut(Shortcut):
    """One fast path, with how it is asked for and what happened to it, the newest last."""

    executors: list[Mark]
    forms: list[Form]
    events: list[Happening]
    earlier: int = Field(description="How many events are older than those shown.")


class Switched(BaseModel):
    id: str
    changed: bool = Field(description="False if it was so before.")


class Way(BaseModel):
    """Requests that were planned in one way, and what planning took together."""

    path: str
    turns: int
    plan_ms: float
    usd: float


class Day(BaseModel):
    """What fast paths did on one day, in UTC."""

    day: str
    hits: int
    wrong: int
    ms: float
    usd: float


class Savings(BaseModel):
    """What was asked, who planned it, and what fast paths saved."""

    last_days: int
    turns: int
    ways: list[Way]
    hits: int
    wrong: int
    saved_ms: float
    saved_usd: float
    bound: float
    days: list[Day]


@router.get("/fastpaths", summary="What was learnt from repeated requests", openapi_extra=KEPT)
def paths(house: House) -> Shortcuts:
    found = [(log, path) for log in house.fast.logs for path in log.paths()]
    found.sort(key=lambda each: (-each[1].hits, -each[1].passes, each[1].id))
    bound = house.settings.fastpath.wrong_share
    return Shortcuts(paths=[Shortcut(**_row(house, log, path)) for log, path in found], bound=bound)


@router.get("/fastpaths/{id}", summary="One fast path, whole", openapi_extra=KEPT)
def shown(house: House, id: Id) -> WholeShortcut:  # noqa: A002 -- the name in the path
    log, path = _found(house, id)
    told, events = fast.data(log, path), log.events(path.id)
    return WholeShortcut(
        **_row(house, log, path),
        executors=told["executors"],
        forms=told["forms"],
        events=[Happening.model_validate(fast.event_data(each)) for each in events[-_EVENTS:]],
        earlier=max(0, len(events) - _EVENTS),
    )


@router.post("/fastpaths/{id}/demote", summary="Switch a fast path off")
def demote(house: House, _by: Owner, id: Id, _nothing: Nothing) -> Switched:  # noqa: A002
    """It comes back when the same was planned and went well three times again, or when it is restored."""
    _, path = _found(house, id)
    return Switched(id=path.id, changed=fast.demote(house, path))


@router.post("/fastpaths/{id}/restore", summary="Let a fast path watch again")
def restore(house: House, _by: Owner, id: Id, _nothing: Nothing) -> Switched:  # noqa: A002
    """It goes back to the state shadow, and answers when it has been right often enough."""
    _, path = _found(house, id)
    return Switched(id=path.id, changed=fast.restore(house, path))


@router.get("/savings", summary="What fast paths saved", openapi_extra=KEPT)
def savings(
    house: House, days: Annotated[int, Query(ge=1, le=3650, description="How far to look back.")] = 30
) -> Savings:
    found = figures.figures(house, house.clock.now() - timedelta(days=days))
    return Savings.model_validate({"last_days": days, **figures.data(found)})


def _found(house: App, part: str) -> tuple[Log, FastPath]:
    try:
        return fast.find(house, part)
    except UsageError as error:
        raise Missing(error.what, fix=error.fix) from error


def _row(house: App, log: Log, path: FastPath) -> dict[str, Any]:
    plain = ("id", "reason", "passes", "agreed", "disagreed", "hits", "wrong", "plan_ms", "plan_usd")
    return {name: getattr(path, name) for name in plain} | {
        "level": house.fast.logs.index(log) + 1,
        "state": path.state,
        "state_words": reasons.FAST[path.state],
        "tools": list(path.tools),
        "said": next((form.said for form in log.forms(path.id)), ""),
    }
