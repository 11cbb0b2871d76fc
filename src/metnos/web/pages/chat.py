"""The chat: one conversation, and the way back to earlier ones.

Rules: what was said before is rendered here, what is said now by ``static/chat.js`` from the events of the run. A
conversation is named by its first turn, as everywhere in Metnos; without a name a new one begins.
"""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from metnos.web.inside import Answer, Inside
from metnos.web.view import View

_SHOWN = 30  # turns of a conversation that are shown; the rest is a page further
_LOOKED_AT = 60  # newest turns, among which the last conversations are found
_EARLIER = 12
_EXAMPLES = (  # each works on a fresh machine with no language model
    ("How full are the disks?", "looks, changes nothing"),
    ("Find the PDFs in ~", "any folder, any kind of file"),
    ("Which files in ~ are larger than 100 MB?", "by size, age or name"),
    ("Remind me tomorrow at 9 to pay the rent", "kept here, rings here; can be undone"),
)


def routes(inside: Inside, view: View) -> list[BaseRoute]:
    async def chat(request: Request) -> Response:
        name = request.query_params.get("c", "")
        said, newest = await asyncio.gather(_said(inside, request, name), _newest(inside, request))
        return await view.page(
            request,
            "chat.html",
            conversation=name,
            turns=said[::-1],
            earlier=conversations(newest),
            examples=_EXAMPLES,
        )

    async def turns(request: Request) -> Response:
        before = request.query_params.get("before", "")
        found = await inside.get(request, "/api/turns", limit=50, before=before)
        return await view.page(request, "turns.html", turns=found["turns"], next=found.get("next"))

    return [Route("/", chat), Route("/turns", turns)]


def conversations(turns: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The last conversations among ``turns``, which are the newest first: each with how it began, as far as it is
    known, and when it was last spoken in."""
    found: dict[str, dict[str, Any]] = {}
    for turn in turns:
        name = str(turn.get("conversation") or turn["id"])
        one = found.setdefault(name, {"name": name, "last": turn["asked"], "count": 0})
        one["text"] = turn.get("text") or one.get("text") or ""
        one["count"] += 1
    return list(found.values())[:_EARLIER]


async def _said(inside: Inside, request: Request, conversation: str) -> list[dict[str, Any]]:
    if not conversation:
        return []
    found = await inside.get(request, "/api/turns", conversation=conversation, limit=_SHOWN)
    return list(found["turns"])


async def _newest(inside: Inside, request: Request) -> list[dict[str, Any]]:
    """The newest turns. A chat can begin where they cannot be had."""
    try:
        found = await inside.get(request, "/api/turns", limit=_LOOKED_AT)
    except Answer:
        return []
    return list(found["turns"])
