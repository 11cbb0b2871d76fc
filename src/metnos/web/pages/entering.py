"""For whoever is not signed in: how to get in, and the form for a pairing code."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from metnos.web.inside import Inside
from metnos.web.view import View

_USED = "link"  # a link was opened that opens nothing any more


def routes(_inside: Inside, view: View) -> list[BaseRoute]:
    async def locked(request: Request) -> Response:
        used = request.query_params.get("why") == _USED
        return await view.page(request, "locked.html", status=401, used=used)

    async def pair(request: Request) -> Response:
        return await view.page(request, "pair.html")

    return [Route("/locked", locked), Route("/pair", pair)]
