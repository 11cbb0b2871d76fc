"""The audit: its lines, the newest first, and the proof that none was changed."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from metnos.web import proof
from metnos.web.inside import Inside
from metnos.web.view import View

_SHOWN = 50


def routes(inside: Inside, view: View) -> list[BaseRoute]:
    async def audit(request: Request) -> Response:
        before = request.query_params.get("before", "")
        before = before if before.isascii() and before.isdigit() and len(before) < 17 else ""
        found = await inside.get(request, "/api/audit", limit=_SHOWN, before=before)
        return await view.page(
            request, "audit.html", lines=proof.lines(found["lines"]), next=found.get("next"), before=before
        )

    return [Route("/audit", audit)]
