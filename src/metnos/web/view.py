"""How a page is made: templates with the filters of `words`, and the frame that is around every page.

Rules: everything is escaped unless a template says otherwise, and none of ours does: what comes from the API is text.
No template may need what a strict content security policy forbids: in a page stand the files of `assets.within` and no
other script or style. A page for somebody
who is not signed in has no frame and asks the API for nothing.
"""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse

from metnos.core.clock import Clock, SystemClock
from metnos.web import words
from metnos.web.assets import Assets
from metnos.web.inside import TOKEN, WHO, Answer, Inside

FOLDER = Path(__file__).parent / "templates"
FRAME = (  # the way through the house: (heading, ((path, name, icon), …), …)
    ("", (("/", "Chat", "chat"), ("/inbox", "Inbox", "inbox"), ("/undo", "Undo", "undo"))),
    ("Knows", (("/memory", "Memory", "memory"), ("/mnestome", "Mnestome", "graph"),
               ("/fastpaths", "Fast paths", "fast"))),
    ("Does", (("/executors", "Executors", "tool"), ("/night", "Night", "night"))),
    ("Keeps", (("/audit", "Audit", "audit"), ("/settings", "Settings", "settings"), ("/doctor", "Doctor", "doctor"))),
)  # fmt: skip
_UNKNOWN: dict[str, Any] = {
    "waiting": 0, "unseen": 0, "halted": None, "stopped": None, "may_decide": True, "model": None,
}  # fmt: skip


class View:
    """Makes pages."""

    def __init__(self, inside: Inside, assets: Assets, clock: Clock | None = None) -> None:
        self._inside = inside
        self._clock = clock or SystemClock()
        self._headers = {"Cache-Control": "no-store", "Content-Security-Policy": assets.policy}
        self._templates = Environment(
            loader=FileSystemLoader(FOLDER),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._templates.filters |= {
            "ago": lambda text: words.ago(text, self._clock.now()),
            "moment": words.moment,
            "ms": words.milliseconds,
            "bytes": words.size,
            "money": words.money,
            "percent": words.percent,
            "figure": words.figure,
            "counted": words.counted,
            "short": words.short,
            "plain": words.plain,
            "pretty": words.pretty,
            "points": words.points,
        }
        self._templates.globals |= {"static": assets.address, "within": assets.within, "frame": FRAME}

    async def page(self, request: Request, name: str, *, status: int = 200, **data: Any) -> HTMLResponse:
        """The page of template ``name`` with ``data``, in its frame."""
        signed_in = request.scope.get(WHO) is not None
        stand = await self._stand(request) if signed_in else _UNKNOWN
        token = request.scope.get(TOKEN) or ""
        return self._render(name, status, {**data, "stand": stand, "signed_in": signed_in, "token": token,
                                           "here": request.url.path})  # fmt: skip

    async def part(self, request: Request, name: str, *, status: int = 200, **data: Any) -> HTMLResponse:
        """A part of a page, for a script that puts it into one; it is as escaped as a page is."""
        return self._render(name, status, {**data, "here": request.url.path})

    def _render(self, name: str, status: int, data: dict[str, Any]) -> HTMLResponse:
        html = self._templates.get_template(name).render(data)
        return HTMLResponse(html, status, headers=self._headers)

    async def _stand(self, request: Request) -> dict[str, Any]:
        """How things stand, for the frame. A page is shown even where this cannot be had."""
        try:
            return _UNKNOWN | dict(await self._inside.get(request, "/api/status"))
        except Answer:
            return _UNKNOWN
