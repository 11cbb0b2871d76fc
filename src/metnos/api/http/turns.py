"""Turns over HTTP: begin one, follow it, answer its questions, cancel it; and what was asked and done before."""

import json
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from metnos.api.http.inside import PROBLEMS, Body, Id, Missing, Nothing, Owner, TheDesk, Who
from metnos.api.http.plain import Short
from metnos.api.http.runs import Run
from metnos.core.errors import TurnError
from metnos.core.settings import home_folder
from metnos.law.principal import Principal
from metnos.turn.events import Answer, Typed
from metnos.turn.request import LONGEST

router = APIRouter(prefix="/api", tags=["turns"], responses=PROBLEMS)

_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events: each `data` is one event as JSON, each `id` its number.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


class Asked(Body):
    """A request in the owner's own words."""

    text: str = Field(min_length=1, max_length=LONGEST)
    conversation: str = Field("", max_length=200, pattern=r"^[A-Za-z0-9_.:-]*$")
    dry_run: bool = Field(False, description="Show what would happen, and change nothing.")


class Begun(BaseModel):
    """A run that began."""

    run: str
    turn: str = Field(description="Empty until the turn has begun.")
    text: str
    question: int = Field(description="The number of the question that waits, or 0.")


class Said(Body):
    """An answer to a question of a run."""

    question: int = Field(ge=1, le=10_000)
    answer: Literal["yes", "no", "always", "later"]
    typed: Short = Field("", description="What was typed, for a yes to what has to be named (`word` of the question).")


class Fine(BaseModel):
    """It was done."""

    ok: bool = True


@router.post("/turns", summary="Ask for something", status_code=202)
def ask(desk: TheDesk, who: Who, asked: Asked) -> Begun:
    """Begin a turn; follow it at `/api/runs/{run}/events`."""
    if not asked.text.strip():
        raise TurnError("there is nothing to do in an empty request", fix="Say what you want in your own words.")
    run = desk.runs.ask(asked.text, who, home_folder(), asked.conversation, asked.dry_run)
    return _begun(run)


@router.get("/runs", summary="What runs now")
def runs(desk: TheDesk, who: Who) -> list[Begun]:
    return [_begun(run) for run in desk.runs.running(who)]


@router.get("/runs/{id}/events", summary="Follow a run", response_class=StreamingResponse, responses=_STREAM)
async def events(
    desk: TheDesk,
    who: Who,
    id: Id,  # noqa: A002 -- the name in the path
    after: Annotated[int, Query(ge=0, le=1_000_000, description="The number of the last event that is known.")] = 0,
    last_event_id: Annotated[str, Header(max_length=20)] = "",
) -> StreamingResponse:
    run = _found(desk.runs.find, id, who)
    known = int(last_event_id) if last_event_id.isascii() and last_event_id.isdecimal() else after
    return StreamingResponse(_stream(run, known), media_type="text/event-stream", headers=STREAMING)


@router.post("/runs/{id}/answer", summary="Answer the question that waits")
def answer(desk: TheDesk, who: Owner, id: Id, said: Said) -> Fine:  # noqa: A002
    given = Answer(said.answer)
    answered = Typed(said.typed) if said.typed and given is Answer.YES else given
    desk.runs.answer(_found(desk.runs.find, id, who), said.question, answered)
    return Fine()


@router.post("/runs/{id}/cancel", summary="Cancel a run at its next step")
def cancel(desk: TheDesk, who: Who, id: Id, _nothing: Nothing) -> Fine:  # noqa: A002
    desk.runs.cancel(_found(desk.runs.find, id, who))
    return Fine()


STREAMING = {"cache-control": "no-store", "x-accel-buffering": "no"}  # the second: a proxy must not hold it back


def sent(number: int, message: Any) -> str:
    """One event as it goes over the line; the dots of an empty one keep the line open."""
    if message is None:
        return ":\n\n"
    return f"id: {number}\ndata: {json.dumps(message, separators=(',', ':'), default=dict)}\n\n"


async def _stream(run: Run, after: int) -> AsyncIterator[str]:
    async for number, message in run.follow(after):
        yield sent(number, message)


def _found(find: Any, run: str, who: Principal) -> Run:
    try:
        found: Run = find(run, who)
    except TurnError as error:
        raise Missing(error.what, fix=error.fix) from error
    return found


def _begun(run: Run) -> Begun:
    return Begun(run=run.id, turn=run.turn, text=run.text, question=run.question)
