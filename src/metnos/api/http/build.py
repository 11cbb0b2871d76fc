"""The API put together: its routers, and what becomes of everything that goes wrong.

Rules: whatever goes wrong has one shape, ``{"error": {"type", "what", "fix"}}``; a mistake of ours is logged without
what was said, and told as one. Where routers are listed here, the page and every program find the same.
"""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from metnos import __version__
from metnos.api import openai
from metnos.api.http import (
    arena,
    audit,
    context,
    devices,
    doctor,
    executors,
    fastpaths,
    grants,
    history,
    inbox,
    inside,
    memory,
    memory_changes,
    mnestome,
    models,
    night,
    notices,
    settings,
    status,
    turns,
    undo,
)
from metnos.api.http.errands import Errands
from metnos.api.http.guard_rules import Place
from metnos.api.http.inside import Desk
from metnos.core.errors import MetnosError

ROUTERS: tuple[APIRouter, ...] = (
    turns.router,
    history.router,
    status.router,
    inbox.router,
    undo.router,
    executors.router,
    arena.router,
    fastpaths.router,
    grants.router,
    devices.router,
    audit.router,
    context.router,
    doctor.router,
    memory.router,
    memory_changes.router,
    mnestome.router,
    models.router,
    night.router,
    notices.router,
    settings.router,
    openai.router,
)


def build(desk: Desk, place: Callable[[], Place]) -> FastAPI:
    """The API over one daemon. It trusts who the scope says asks: the guard stands before it."""
    api = FastAPI(
        title="Metnos",
        version=__version__,
        summary="A self-hosted agent that does, remembers, forgets and grows.",
        description="What the web page uses. Programs send `Authorization: Bearer …`, the secret of a paired device.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # it would load scripts from elsewhere
        redoc_url=None,
        # The routes as they are, and not `include_router`, which would make each of them again at the first request.
        routes=[route for router in ROUTERS for route in router.routes],
    )
    api.state.desk, api.state.place, api.state.errands = desk, place, Errands(desk)
    api.add_exception_handler(MetnosError, _told)
    api.add_exception_handler(RequestValidationError, _malformed)
    api.add_exception_handler(HTTPException, _plain)
    api.add_exception_handler(Exception, _mistake)
    return api


async def _told(_request: Request, error: Exception) -> JSONResponse:
    known = error if isinstance(error, MetnosError) else MetnosError(str(error))
    return JSONResponse(inside.problem(known), inside.status_of(known))


async def _malformed(_request: Request, error: Exception) -> JSONResponse:
    found: list[Any] = list(error.errors()) if isinstance(error, RequestValidationError) else []
    said = "; ".join(f"{'.'.join(map(str, each['loc'][1:])) or 'the body'}: {each['msg']}" for each in found[:5])
    return _wrong("UsageError", f"the request is not as it has to be: {said}", "See /api/openapi.json.", 422)


async def _plain(_request: Request, error: Exception) -> JSONResponse:
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = error.headers if isinstance(error, HTTPException) else None
    words = {404: "there is no such address", 405: "this cannot be done with that address"}
    what = words.get(status, "the request cannot be understood")
    answer = _wrong("UsageError", what, "See /api/openapi.json.", status)
    answer.headers.update(headers or {})
    return answer


async def _mistake(request: Request, error: Exception) -> JSONResponse:
    kind = type(error).__name__
    request.app.state.desk.log(f"a mistake in Metnos: {kind} at {request.scope.get('path')}")
    return _wrong("MetnosError", f"a mistake in Metnos: {kind}", "Please report it, with what the daemon logged.", 500)


def _wrong(kind: str, what: str, fix: str, status: int) -> JSONResponse:
    clean = what.encode("utf-8", "replace").decode()
    return JSONResponse({"error": {"type": kind, "what": clean, "fix": fix}}, status)
