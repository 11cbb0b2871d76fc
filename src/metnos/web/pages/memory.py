"""Memory: search with what speaks for each, episodes, facts and how they fade, the playbook, long memory, reports, and
forgetting in two steps.

Rules: looking changes nothing. What is to be forgotten is shown before it goes, all of it, and goes only by a second
yes; both steps are the script's (``memory.js``), because a page only ever reads.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from metnos.core.clock import SystemClock
from metnos.web.inside import Answer, Inside
from metnos.web.plot import Series, curve, over_time
from metnos.web.view import View

_FOUND, _LISTED = 10, 50
KINDS = {  # of facts, as a person says it
    "baseline": "what is usual",
    "pattern": "what repeats",
    "causal": "what brings what about",
    "anti": "what does not work",
    "procedural": "how things are done",
    "insight": "insight",
    "heuristic": "rule of thumb",
    "warning": "warning",
    "link": "cause, written down",
}
STANDINGS = {
    "active": "Believed",
    "quarantined": "Doubted or waiting",
    "expired": "Out of date",
    "pruned": "Faded away",
}
FACTORS = (  # the four that order what was found, with the share that each has
    ("semantic", "relevance", 0.40),
    ("importance", "importance", 0.25),
    ("recency", "recency", 0.20),
    ("affect", "affect", 0.15),
)
REPORTS = {"": "All", "curator": "Learning", "dream": "Dreams", "health": "Embedder", "migration": "Embedding anew"}


def routes(inside: Inside, view: View) -> list[BaseRoute]:
    return [*_looking(inside, view), *_knowing(inside, view), *_writing(inside, view)]


def _looking(inside: Inside, view: View) -> list[BaseRoute]:
    async def search(request: Request) -> Response:
        asked = request.query_params.get("q", "").strip()[:2000]
        if asked:
            found = await inside.get(request, "/api/memory/search", q=asked, limit=_FOUND)
            stats: Mapping[str, Any] = {}
        else:
            found, stats = None, await _stats(inside, request)
        return await view.page(
            request, "memory.html", asked=asked, found=found, tiles=tiles(stats), mood=mood(stats), factors=FACTORS
        )

    async def episodes(request: Request) -> Response:
        before = request.query_params.get("before", "")
        found = await inside.get(request, "/api/memory/episodes", before=before, limit=_LISTED)
        return await view.page(request, "episodes.html", found=found)

    async def episode(request: Request) -> Response:
        found = await inside.get(request, f"/api/memory/episodes/{request.path_params['id']}")
        return await view.page(request, "episode.html", episode=found)

    return [
        Route("/memory", search),
        Route("/memory/episodes", episodes),
        Route("/memory/episodes/{id}", episode),
    ]


def _knowing(inside: Inside, view: View) -> list[BaseRoute]:
    async def facts(request: Request) -> Response:
        given = request.query_params
        standing = given.get("standing", "active") if given.get("standing") in STANDINGS else "active"
        kind = given.get("kind", "") if given.get("kind") in KINDS else ""
        found = await inside.get(
            request, "/api/memory/facts", limit=_LISTED, standing=standing, kind=kind,
            category=given.get("category", ""), after=given.get("after", ""),
        )  # fmt: skip
        asked = {"standing": standing, "kind": kind, "category": given.get("category", "")}
        return await view.page(request, "facts.html", found=found, asked=asked, kinds=KINDS, standings=STANDINGS)

    async def fact(request: Request) -> Response:
        found = await inside.get(request, f"/api/memory/facts/{request.path_params['id']}")
        drawn = belief(found, SystemClock().now().timestamp())
        return await view.page(request, "fact.html", fact=found, belief=drawn, kinds=KINDS, standings=STANDINGS)

    return [Route("/memory/facts", facts), Route("/memory/facts/{id}", fact)]


def _writing(inside: Inside, view: View) -> list[BaseRoute]:
    async def playbook(request: Request) -> Response:
        found = await inside.get(request, "/api/memory/playbook")
        asked = request.query_params.get("version", "")
        changed = await inside.get(request, f"/api/memory/playbook/{asked}") if asked.isdecimal() else None
        return await view.page(request, "playbook.html", book=found, changed=changed)

    async def files(request: Request) -> Response:
        found = await inside.get(request, "/api/memory/tiers")
        return await view.page(request, "tiers.html", files=found["files"])

    async def reports(request: Request) -> Response:
        kind = request.query_params.get("kind", "")
        kind = kind if kind in REPORTS else ""
        found = await inside.get(request, "/api/memory/reports", kind=kind, limit=_LISTED)
        return await view.page(request, "reports.html", found=found, kind=kind, kinds=REPORTS)

    async def forget(request: Request) -> Response:
        given = request.query_params
        meant = await _meant(inside, request, given.get("episode", ""), given.get("fact", ""))
        return await view.page(request, "forget.html", words=given.get("words", ""), meant=meant)

    return [
        Route("/memory/playbook", playbook),
        Route("/memory/tiers", files),
        Route("/memory/reports", reports),
        Route("/memory/forget", forget),
    ]


async def _stats(inside: Inside, request: Request) -> Mapping[str, Any]:
    try:
        return dict(await inside.get(request, "/api/memory/stats"))
    except Answer:
        return {}


async def _meant(inside: Inside, request: Request, episode: str, fact: str) -> list[Any]:
    """The memories that are named to be forgotten."""
    asked = [f"/api/memory/episodes/{episode}"] * bool(episode) + [f"/api/memory/facts/{fact}"] * bool(fact)
    return list(await asyncio.gather(*(inside.get(request, path) for path in asked)))


def tiles(stats: Mapping[str, Any]) -> list[tuple[Any, str]]:
    """The figures that matter of all that is counted."""
    if not stats:
        return []
    facts = sum(number for name, number in stats.items() if name.startswith("facts: ") and isinstance(number, int))
    return [
        (stats.get("episodes", 0), "episodes"),
        (facts, "facts"),
        (stats.get("lines in the playbook", 0), "lines in the playbook"),
        (stats.get("facts in quarantine", 0), "doubted, or waiting for you"),
    ]


def mood(stats: Mapping[str, Any]) -> str:
    """The mood in words, without its figures."""
    return str(stats.get("mood", "")).partition(" (")[0]


def belief(fact: Mapping[str, Any], now: float) -> Markup:
    """How far a fact is believed, from when it was last weighed until it is nearly gone, with now on it."""
    points = curve(fact.get("curve") or [])
    if not points:
        return over_time([], title="How far it is believed")
    here = min(points, key=lambda point: abs(point[0] - now))
    series = [
        Series("believed, if nothing confirms it", points, "area"),
        Series("now", [here], "dots", "cool"),
        Series("into the playbook from", [(points[0][0], 0.7)], "bound", "soft"),
    ]
    words = f"{here[1]:.0%} now, {points[-1][1]:.0%} at the end of the curve."
    return over_time(
        series, title="How far it is believed", words=words, low=0.0, high=1.0, says=lambda value: f"{value:.0%}"
    )
