"""What a language model was sent in a turn, to the letter. For the owner's own page: it holds what is remembered."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from metnos.api.http.home import AtHome
from metnos.api.http.inside import PROBLEMS, House, Id, Missing
from metnos.core.errors import TurnError

router = APIRouter(prefix="/api/context", tags=["context"], responses=PROBLEMS)


class Call(BaseModel):
    """One call of a model: its task, all it was sent, and how the room was used."""

    task: str
    system: str
    body: str
    record: dict[str, Any]


class Context(BaseModel):
    turn: str
    calls: list[Call]


@router.get("/{id}", summary="What a model saw in a turn")
def context(house: House, _who: AtHome, id: Id) -> Context:  # noqa: A002 -- the name in the path
    """The last letters of a turn's id are enough. No calls: no model was asked."""
    try:
        trace = house.medium.find(id)
    except TurnError as error:
        raise Missing(error.what, fix=error.fix) from error
    calls = [
        Call(task=each.task, system=each.system, body=each.body, record=dict(each.record)) for each in trace.contexts
    ]
    return Context(turn=trace.id, calls=calls)
