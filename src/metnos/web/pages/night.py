"""What Metnos does by itself: what it has to tell, its jobs, and what came of each."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from metnos.web import nightly
from metnos.web.inside import Inside
from metnos.web.view import View


def routes(inside: Inside, view: View) -> list[BaseRoute]:
    async def night(request: Request) -> Response:
        given, told = await asyncio.gather(inside.get(request, "/api/night"), inside.get(request, "/api/notices"))
        notices = list(told["notices"])[::-1]  # the newest first, as everywhere
        return await view.page(
            request,
            "night.html",
            jobs=nightly.jobs(given["jobs"]),
            runs=nightly.runs(given.get("runs")),
            notices=notices,
            reminder=given.get("reminder"),
        )

    return [Route("/night", night)]
