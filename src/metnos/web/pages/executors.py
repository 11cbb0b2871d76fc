"""Executors: the list with the emergency stop, and one of them whole."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from metnos.web import catalog
from metnos.web.inside import Inside
from metnos.web.view import View

_LONGEST = 200  # of what somebody types into a search


def routes(inside: Inside, view: View) -> list[BaseRoute]:
    async def executors(request: Request) -> Response:
        given = await inside.get(request, "/api/executors")
        text = request.query_params.get("q", "")[:_LONGEST]
        chosen = request.query_params.get("show", "")
        chosen = chosen if chosen in catalog.VIEWS else ""
        known = list(given["executors"])
        return await view.page(
            request,
            "executors.html",
            executors=catalog.found(known, chosen, text),
            everything=len(known),
            tabs=catalog.tabs(known, text),
            chosen=chosen,
            text=text,
            halted=given.get("halted"),
            catalog=catalog,
        )

    async def one(request: Request) -> Response:
        each: dict[str, Any] = await inside.get(request, f"/api/executors/{request.path_params['name']}")
        return await view.page(
            request,
            "executor.html",
            each=each,
            standing=catalog.standing(each),
            hidden=each.get("hidden_words"),
            allowed=catalog.allowed,
            goals=catalog.goals(each),
            neighbours=catalog.neighbours(each),
            usable=each.get("state") in catalog.USABLE,
            builtin=catalog.is_builtin(each),
            states=catalog.STATES,
        )

    return [Route("/executors", executors), Route("/executors/{name}", one)]
