"""The inbox: everything that waits for the owner, and one question whole."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from metnos.web import deciding
from metnos.web.inside import Inside
from metnos.web.view import View


def routes(inside: Inside, view: View) -> list[BaseRoute]:
    async def inbox(request: Request) -> Response:
        everything = request.query_params.get("all") == "1"
        found = await inside.get(request, "/api/inbox", all=everything)
        return await view.page(request, "inbox.html", items=found["items"], everything=everything)

    async def one(request: Request) -> Response:
        item = await inside.get(request, f"/api/inbox/{request.path_params['id']}")
        return await view.page(request, "question.html", item=item, question=deciding.question(item))

    return [Route("/inbox", inbox), Route("/inbox/{id}", one)]
