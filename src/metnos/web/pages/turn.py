"""Why an answer came about: a page of its own, and the panel below an answer in the chat."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from metnos.web import telling
from metnos.web.inside import Inside
from metnos.web.view import View


def routes(inside: Inside, view: View) -> list[BaseRoute]:
    async def turn(request: Request) -> Response:
        found = await inside.get(request, f"/api/turns/{request.path_params['id']}")
        return await view.page(request, "turn.html", turn=found, why=telling.why(found))

    async def panel(request: Request) -> Response:
        found = await inside.get(request, f"/api/turns/{request.path_params['id']}")
        return await view.part(request, "_why.html", turn=found, why=telling.why(found))

    return [Route("/turns/{id}", turn), Route("/turns/{id}/panel", panel)]
