"""Settings: all of them in groups, language models with a test, and what was allowed in advance."""

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from metnos.web import catalog, settling
from metnos.web.inside import Inside
from metnos.web.view import View

_LONGEST = 200


def routes(inside: Inside, view: View) -> list[BaseRoute]:
    async def settings(request: Request) -> Response:
        given = await inside.get(request, "/api/settings")
        text = request.query_params.get("q", "")[:_LONGEST]
        return await view.page(request, "settings.html", groups=settling.groups(given["settings"]), text=text)

    async def models(request: Request) -> Response:
        given, found = await asyncio.gather(inside.get(request, "/api/settings"), inside.get(request, "/api/models"))
        return await view.page(request, "models.html", tiers=tiers(found, given["settings"]), found=found)

    async def grants(request: Request) -> Response:
        found = await inside.get(request, "/api/grants")
        return await view.page(request, "grants.html", grants=found["grants"], may=catalog.MAY)

    return [Route("/settings", settings), Route("/settings/models", models), Route("/settings/grants", grants)]


def tiers(found: dict[str, Any], given: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each tier: what serves it, and what of it can be set."""
    known = found["tiers"]
    return [
        {"tier": tier, "title": title, "about": about, "serves": known[tier],
         "settings": settling.of_model(given, tier)}
        for tier, (title, about) in settling.TIERS.items()
    ]  # fmt: skip
