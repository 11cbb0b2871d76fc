"""The mnestome: the picture with its filters and its list, what the picture is drawn from, and one mnest whole.

Rules: the list on the page is what the picture shows, in words, and all that there is without scripts: filters are a
form then. The months are those of the snapshots, the oldest first, and then now.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from metnos.core.clock import SystemClock, to_text
from metnos.web import graph
from metnos.web.inside import Inside
from metnos.web.plot import Series, curve, over_time
from metnos.web.view import View

_LISTED = 25
_DRAWN = 5000
_SHOWN = ("active", "decaying", "proto", "seed")  # unless something else is asked for
_DAYS = ((0, "any time"), (7, "the last 7 days"), (30, "the last 30 days"), (90, "the last 90 days"), (365, "a year"))
_HAPPENED = {"reinforce": "used", "decay": "faded", "state_change": "changed"}


def routes(inside: Inside, view: View) -> list[BaseRoute]:
    async def page(request: Request) -> Response:
        asked = Asked(request)
        found = await inside.get(request, "/api/mnestome", limit=_LISTED, **asked.query())
        return await view.page(
            request,
            "mnestome.html",
            found=found,
            asked=asked,
            states=list(reversed(graph.STATES.items())),
            days=_DAYS,
            months=[*found["months"], ""],
        )

    async def drawn(request: Request) -> Response:
        month = request.query_params.get("month", "")
        found = await inside.get(request, "/api/mnestome", limit=_DRAWN, month=month, state=list(graph.STATES))
        return JSONResponse(graph.packed(found), headers={"Cache-Control": "no-store"})

    async def one(request: Request) -> Response:
        found = await inside.get(request, f"/api/mnestome/{request.path_params['id']}")
        return await view.page(request, "mnest.html", **_told(found))

    async def panel(request: Request) -> Response:
        found = await inside.get(request, f"/api/mnestome/{request.path_params['id']}")
        return await view.part(request, "_mnest.html", **_told(found))

    return [
        Route("/mnestome", page),
        Route("/mnestome/graph", drawn),
        Route("/mnestome/{id}", one),
        Route("/mnestome/{id}/panel", panel),
    ]


class Asked:
    """What the filters say. What is no number is as if it was not said."""

    def __init__(self, request: Request) -> None:
        given = request.query_params
        self.states = [each for each in given.getlist("state") if each in graph.STATES] or list(_SHOWN)
        self.tag = given.get("tag", "")
        self.weight = min(max(_number(given.get("min_weight", "")), 0.0), 1.0)
        self.days = int(min(_number(given.get("days", "")), 36500))
        self.month = given.get("month", "")
        self.name = given.get("q", "")

    def query(self) -> dict[str, Any]:
        """The same for the API."""
        since = to_text(SystemClock().now() - timedelta(days=self.days)) if self.days > 0 else None
        return {
            "state": self.states,
            "tag": self.tag,
            "min_weight": self.weight or None,
            "since": since,
            "month": self.month,
        }


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return number if abs(number) < 1e9 else 0.0


def _told(found: Mapping[str, Any]) -> dict[str, Any]:
    events = found.get("events") or []
    return {"mnest": found, "weight": weight(found), "events": happened(events), "words": graph.STATES}


def weight(found: Mapping[str, Any]) -> Markup:
    """The weight of a mnest over time, with its uses and the level below which it fades out."""
    events = found.get("events") or []
    uses = curve([each.get("ts"), each.get("weight_after")] for each in events if each.get("kind") == "reinforce")
    points = curve(found.get("weights") or [])
    series = [Series("weight", points, "area"), Series("uses", uses, "dots")]
    if points:
        series.append(Series("fading below", [(points[-1][0], 0.2)], "bound", "warn"))
    words = f"From {points[0][1]:.2f} at first to {points[-1][1]:.2f} now; used {len(uses)} times." if points else ""
    return over_time(
        series, title="Weight over time", words=words, low=0.0, high=1.0, says=lambda value: f"{value:.2f}"
    )


def happened(events: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What happened to a mnest, the newest first; nights of fading that follow one another are one line."""
    lines: list[dict[str, Any]] = []
    for each in events:
        night = each.get("kind") == "decay" and not each.get("new_state")
        if lines and night and lines[-1]["night"]:
            lines[-1] |= {"until": each["ts"], "weight": each.get("weight_after"), "times": lines[-1]["times"] + 1}
            continue
        lines.append({
            "ts": each["ts"], "until": "", "night": night, "times": 1, "what": _word(each),
            "weight": each.get("weight_after"), "reason": each.get("reason") or "", "turn": each.get("turn") or "",
        })  # fmt: skip
    return lines[::-1]


def _word(each: Mapping[str, Any]) -> str:
    state = str(each.get("new_state") or "")
    if not state:
        return _HAPPENED.get(str(each.get("kind")), str(each.get("kind") or ""))
    verb = "born" if each.get("kind") == "reinforce" else "became"
    return f"{verb} {graph.STATES.get(state, state)}"
