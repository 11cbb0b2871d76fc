"""What was changed, the newest first, each with the way back."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from metnos.web.inside import Inside
from metnos.web.view import View


def routes(inside: Inside, view: View) -> list[BaseRoute]:
    async def undo(request: Request) -> Response:
        found = await inside.get(request, "/api/undo")
        return await view.page(request, "undo.html", actions=found["actions"])

    return [Route("/undo", undo)]
