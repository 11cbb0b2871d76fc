"""All pages in one application.

Rules: one table of pages; each module of `metnos.web.pages` has ``routes(inside, view)``. Whatever goes wrong ends on a
page that says what happened and what to do, with the status of its cause.
"""

from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from metnos.core.clock import Clock
from metnos.web.assets import Assets
from metnos.web.inside import Answer, Inside
from metnos.web.pages import (
    arena,
    audit,
    chat,
    devices,
    doctor,
    entering,
    executors,
    fastpaths,
    inbox,
    memory,
    mnestome,
    night,
    settings,
    turn,
    undo,
)
from metnos.web.view import View

Pages = Callable[[Inside, View], list[BaseRoute]]
PAGES: tuple[Pages, ...] = (
    chat.routes,
    entering.routes,
    inbox.routes,
    turn.routes,
    undo.routes,
    memory.routes,
    mnestome.routes,
    fastpaths.routes,
    executors.routes,
    arena.routes,
    night.routes,
    audit.routes,
    settings.routes,
    devices.routes,
    doctor.routes,
)
_SAID = {
    401: ("You are not signed in.", "Type metnos open in a terminal on that machine, and follow the link it prints."),
    403: ("This is not for you to see or to do.", "Ask from a device that the owner has paired with a higher level."),
    404: ("There is nothing here.", "It may be gone, or the address has a mistake in it."),
    405: ("That cannot be done here.", "Go back and use the button of the page."),
    503: ("Metnos cannot answer right now.", "Try again in a moment."),
}
_ELSE = ("Something went wrong.", "Try again. If it stays like this, metnos doctor says what is broken.")


def build(api: ASGIApp, clock: Clock | None = None) -> Starlette:
    """The web pages, as a client of ``api``."""
    inside, assets = Inside(api), Assets()
    view = View(inside, assets, clock)
    routes = [route for pages in PAGES for route in pages(inside, view)]

    async def not_given(request: Request, error: Exception) -> Response:
        status = error.status if isinstance(error, Answer) else 500
        problem = error.problem if isinstance(error, Answer) else {}
        return await _trouble(view, request, status, problem)

    async def not_there(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        return await _trouble(view, request, status, {})

    return Starlette(
        routes=[*assets.routes(), *routes],
        exception_handlers={Answer: not_given, HTTPException: not_there, Exception: not_given},
    )


async def _trouble(view: View, request: Request, status: int, problem: dict[str, Any]) -> Response:
    what, fix = _SAID.get(status, _ELSE)
    what, fix = problem.get("what") or what, problem.get("fix") or fix
    return await view.page(request, "trouble.html", status=status, code=status, what=what, fix=fix)
