"""Taking back what was done to files, and doing it again, over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from metnos.api.http.home import AtHome
from metnos.api.http.inside import KEPT, PROBLEMS, House, Id, Limit, Missing, Nothing, Owner
from metnos.api.http.plain import Said
from metnos.app import App, learning
from metnos.core.errors import UndoError
from metnos.executors.undo_rules import Action, State

router = APIRouter(prefix="/api", tags=["undo"], responses=PROBLEMS)

_IN_FORCE = (State.DONE, State.INTERRUPTED, State.REDONE)


class Done(BaseModel):
    """What an executor did in one call, and how it stands now."""

    id: str
    turn: str
    executor: str
    title: Said
    when: str
    state: str
    changes: int
    can_undo: bool
    can_redo: bool


class Actions(BaseModel):
    actions: list[Done]


class Way(Done):
    """An action and what taking it back, or doing it again, does line by line."""

    lines: list[Said] = Field(description="What stands against it begins with `cannot: `.")


@router.get("/undo", summary="What was changed, the newest first", openapi_extra=KEPT)
def actions(house: House, _who: AtHome, limit: Limit = 50) -> Actions:
    return Actions(actions=[_done(each) for each in house.undo.actions(limit)])


@router.get("/undo/{id}", summary="What taking back an action would do")
def would(
    house: House,
    _who: AtHome,
    id: Id,  # noqa: A002 -- the name in the path
    redo: Annotated[bool, Query(description="What doing it again would do.")] = False,
) -> Way:
    found = _found(house, id)
    return _way(found, house.undo.show(found.id, redo=redo))


@router.post("/undo/{id}", summary="Take an action back")
def undo(house: House, by: Owner, id: Id, _nothing: Nothing) -> Way:  # noqa: A002
    """All of it is taken back or, if anything has changed since, nothing."""
    found = _found(house, id)
    lines = house.undo.show(found.id)
    done = house.undo.undo(found.id, by=by)
    learning.catch_up_or_later(house)  # what a fast path did wrong it does not do again
    return _way(done, lines)


@router.post("/redo/{id}", summary="Do again what was undone")
def redo(house: House, by: Owner, id: Id, _nothing: Nothing) -> Way:  # noqa: A002
    found = _found(house, id)
    lines = house.undo.show(found.id, redo=True)
    return _way(house.undo.redo(found.id, by=by), lines)


def _found(house: App, part: str) -> Action:
    try:
        return house.undo.find(part)
    except UndoError as error:
        raise Missing(error.what, fix=error.fix) from error


def _done(action: Action) -> Done:
    return Done(**_facts(action))


def _way(action: Action, lines: tuple[str, ...]) -> Way:
    return Way(**_facts(action), lines=list(lines))


def _facts(action: Action) -> dict[str, object]:
    return {
        "id": action.id,
        "turn": action.turn,
        "executor": action.executor,
        "title": action.title,
        "when": action.ts,
        "state": action.state,
        "changes": len(action.effects),
        "can_undo": action.state in _IN_FORCE,
        "can_redo": action.state is State.UNDONE,
    }
