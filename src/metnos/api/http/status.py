"""How Metnos stands, and word of every change."""

import threading
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from metnos import __version__
from metnos.api.http.inside import KEPT, PROBLEMS, House, Who
from metnos.api.http.turns import STREAMING, sent
from metnos.api.http.watch import Watcher
from metnos.app import App
from metnos.grimoire import history
from metnos.models.registry import settings_of
from metnos.night.notices import Notices

router = APIRouter(prefix="/api", tags=["status"], responses=PROBLEMS)

_FIRST = "the first that the server lists"
_MAKING = threading.Lock()
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-sent events: each `data` is one event as JSON.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}


class Models(BaseModel):
    """Which language models are configured."""

    main: str | None
    fast: str | None


class Status(BaseModel):
    """How it stands now."""

    version: str
    workspace: str
    owner_level: str = Field(description="What whoever asks may do without being asked.")
    may_decide: bool = Field(description="Whether whoever asks may answer questions and change things.")
    autonomy: str = Field(description="The owner's own setting; the lower of both holds.")
    halted: str | None = Field(description="Why nothing runs, after a panic.")
    stopped: str | None = Field(description="Why nothing runs though nothing was halted, and what to type.")
    waiting: int = Field(description="Questions in the inbox.")
    unseen: int = Field(description="Notices that nobody has seen.")
    turns_running: int
    model: Models


@router.get("/status", summary="How it stands", openapi_extra=KEPT)
def status(house: House, who: Who) -> Status:
    return Status(
        version=__version__,
        workspace=str(house.workspace.root),
        owner_level=who.level,
        may_decide=who.may_answer,
        autonomy=house.settings.policy.autonomy,
        halted=house.halts.why(),
        stopped=f"{stop.why}. {stop.fix}" if (stop := house.own.halt()) else None,
        waiting=len(house.inbox.waiting()),
        unseen=len(Notices(house.night_db, house.clock).unseen()),
        turns_running=history.running(house.medium.db),
        model=Models(main=_named(house, "main"), fast=_named(house, "fast")),
    )


def _named(house: App, tier: str) -> str | None:
    """The model that serves a tier, as the settings name it."""
    serving = settings_of(house.settings.models, tier)
    return None if serving is None else serving.name or _FIRST


def _watcher(request: Request) -> Watcher:
    """The one that all listeners share."""
    with _MAKING:
        state = request.app.state
        if not hasattr(state, "watcher"):
            state.watcher = Watcher(state.desk.lease, state.desk.log)
        found: Watcher = state.watcher
        return found


@router.get("/events", summary="Word of every change", response_class=StreamingResponse, responses=_STREAM)
async def events(watcher: Annotated[Watcher, Depends(_watcher)], _who: Who) -> StreamingResponse:
    """`{"event": "changed", "waiting": n, "unseen": n}`, at once and whenever something changed."""
    return StreamingResponse(_stream(watcher), media_type="text/event-stream", headers=STREAMING)


async def _stream(watcher: Watcher) -> AsyncIterator[str]:
    async for number, message in watcher.follow():
        yield sent(number, message)
