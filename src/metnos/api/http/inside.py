"""What endpoints work with: the open workspace, who asks, and what goes wrong in one shape.

Rules: an endpoint never finds out by itself who asks: the guard did, before it let the request in. Only somebody who
may answer for the owner changes anything (`Owner`). Does not decide what may happen: that is the law's.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Depends, Path, Query, Request
from pydantic import BaseModel, ConfigDict

from metnos.api.daemon import Household
from metnos.api.http.runs import Runs
from metnos.api.wire import Message
from metnos.app import App
from metnos.core.errors import (
    DaemonError,
    InboxError,
    KeyFileError,
    LawError,
    MetnosError,
    ModelError,
    SandboxError,
    StoreError,
)
from metnos.law.principal import Principal

WHO = "metnos.who"  # where in the scope of a request the guard says who asks
TOKEN = "metnos.token"  # noqa: S105 -- where it says what a page has to send back; not the token itself
KEPT: dict[str, Any] = {"x-metnos-kept": True}  # of an endpoint: its answer depends on the databases and nothing else


class Missing(MetnosError):
    """What was asked for is not there."""


class Forbidden(LawError):
    """Whoever asks may not."""


class Wrong(BaseModel):
    """What went wrong, what it means, and what to do."""

    type: str
    what: str
    fix: str


class Problem(BaseModel):
    """Every answer that is no success."""

    error: Wrong


class Body(BaseModel):
    """What a request brings along: nothing that is not known."""

    model_config = ConfigDict(extra="forbid")


class Nothing(Body):
    """An empty object."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What all endpoints share."""

    lease: Callable[[], AbstractContextManager[Household]]
    runs: Runs
    status: Callable[[], Message]
    log: Callable[[str], None]


_STATUS: tuple[tuple[type[MetnosError], int], ...] = (
    (Missing, 404),
    (Forbidden, 403),
    (InboxError, 409),
    (LawError, 403),
    (StoreError, 503),
    (SandboxError, 503),
    (ModelError, 503),
    (KeyFileError, 503),
    (DaemonError, 503),
)
_WORDS = {
    400: "It cannot be done as it was asked.",
    403: "It may not be done, or not by whoever asks.",
    404: "There is no such thing.",
    409: "It is not as it was any more.",
    422: "The request is not as it has to be.",
    503: "Something that it needs cannot be had now.",
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    code: {"model": Problem, "description": words} for code, words in _WORDS.items()
}


def status_of(error: MetnosError) -> int:
    """The HTTP status of what went wrong."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 400)


def problem(error: MetnosError) -> dict[str, Any]:
    """What went wrong, for a program."""
    return {"error": {"type": type(error).__name__, "what": error.what, "fix": error.fix}}


def _desk(request: Request) -> Desk:
    desk: Desk = request.app.state.desk
    return desk


def _house(request: Request) -> Iterator[App]:
    with _desk(request).lease() as household:
        yield household.app


def _who(request: Request) -> Principal:
    who = request.scope.get(WHO)
    if not isinstance(who, Principal) or not who.known:
        raise Forbidden("nobody is signed in", fix="Open the link that `metnos open` prints.")
    return who


def _owner(request: Request) -> Principal:
    who = _who(request)
    if not who.may_answer:
        raise Forbidden(
            f"{who} may look and ask, and not decide", fix="Do it at the terminal, or on a device with another level."
        )
    return who


# What is in parentheses in OpenAPI's words: ids as we make them, and how much of a list.
Id = Annotated[str, Path(pattern=r"^[A-Za-z0-9_.-]{1,64}$", description="An id, as lists show it.")]
Limit = Annotated[int, Query(ge=1, le=500, description="How many at most.")]
TheDesk = Annotated[Desk, Depends(_desk)]
House = Annotated[App, Depends(_house)]
Who = Annotated[Principal, Depends(_who)]
Owner = Annotated[Principal, Depends(_owner)]
