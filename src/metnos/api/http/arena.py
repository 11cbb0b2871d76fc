"""Which executors are worth what, goal by goal, over HTTP."""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from metnos.api.http.inside import KEPT, PROBLEMS, House, Missing
from metnos.api.http.plain import Said
from metnos.app import arena as arenas
from metnos.core.errors import UsageError

router = APIRouter(prefix="/api/arena", tags=["arena"], responses=PROBLEMS)

Words = Annotated[
    str, Query(max_length=200, description="A class of goals, in a few words; without it, all are listed.")
]


class Goal(BaseModel):
    """A class of goals, in how many turns it was wanted, and how many executors served it."""

    goal: str
    turns: int
    executors: int


class Fighter(BaseModel):
    """One executor in an arena. `signals` are the uses of which somebody could tell what they were worth."""

    name: str
    version: str
    origin: str
    state: str
    fitness: float
    uses: int
    signals: int
    strikes: int
    why: Said


class Proposal(BaseModel):
    name: str
    state: str


class Arena(BaseModel):
    """One class of goals, the fittest first, those who are out last."""

    goal: str
    executors: list[Fighter]
    proposals: list[Proposal]
    also: list[str]


class Goals(BaseModel):
    goals: list[Goal]


@router.get("", summary="Who serves which goals", openapi_extra=KEPT)
def arena(house: House, goal: Words = "") -> Arena | Goals:
    """The arena of one class of goals, or all classes."""
    if not goal.strip():
        return Goals(goals=[Goal(**each) for each in arenas.goals(house)])
    try:
        found = arenas.find(house, goal)
    except UsageError as error:
        raise Missing(error.what, fix=error.fix) from error
    return Arena.model_validate(arenas.data(arenas.enter(house, found[0])) | {"also": found[1:]})
