"""Devices that may come in: which there are, letting another one in, and ending one."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from metnos.web.inside import Inside
from metnos.web.view import View

CHANNELS = {
    "web": ("A browser", "such as on your phone: opens this page and signs in with the code"),
    "api": ("A program", "uses the HTTP API with a secret of its own"),
    "telegram": ("A Telegram chat", "sends the code to your bot"),
}
LEVELS = {
    "read_only": ("Only look", "sees everything, changes nothing, answers no question"),
    "supervised": ("Ask first", "as usual: reading is free, changes are asked, and it may say yes"),
    "full": ("Trusted", "changes that can be undone are not asked; what cannot be undone still is"),
}


def routes(inside: Inside, view: View) -> list[BaseRoute]:
    async def devices(request: Request) -> Response:
        found = await inside.get(request, "/api/devices")
        return await view.page(
            request,
            "devices.html",
            devices=found["devices"],
            channels=CHANNELS,
            levels=LEVELS,
            address=f"{request.url.scheme}://{request.headers.get('host', '')}/pair",
        )

    return [Route("/settings/devices", devices)]
