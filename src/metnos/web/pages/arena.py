"""The arena: for each kind of goal, which executors bring it nearer."""

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from metnos.web import contest
from metnos.web.inside import Answer, Inside
from metnos.web.view import View

_LONGEST = 200


def routes(inside: Inside, view: View) -> list[BaseRoute]:
    async def arena(request: Request) -> Response:
        asked = request.query_params.get("goal", "")[:_LONGEST]
        found = await inside.get(request, "/api/arena")
        goals = sorted(found["goals"], key=lambda each: -each["turns"])
        goal = asked or (goals[0]["goal"] if goals else "")
        shown, problem = await _enter(request, goal) if goal else ({}, "")
        return await view.page(
            request,
            "arena.html",
            goals=goals,
            goal=str(shown.get("goal") or goal),
            asked=asked,
            bars=contest.bars(shown),
            proposals=shown.get("proposals") or [],
            also=shown.get("also") or [],
            problem=problem,
        )

    async def _enter(request: Request, goal: str) -> tuple[dict[str, Any], str]:
        """One arena; words that mean no known goal are told on the page, not as an error."""
        try:
            return dict(await inside.get(request, "/api/arena", goal=goal)), ""
        except Answer as answer:
            if answer.status not in (400, 404, 422):
                raise
            return {}, answer.problem["what"] or "Nothing like this was done yet."

    return [Route("/arena", arena)]
