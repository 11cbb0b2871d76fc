"""Fast paths: what was learnt from repeated requests, what it saved over time, and one path whole."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from metnos.fastpath.records import HAPPENED
from metnos.web.inside import Inside
from metnos.web.plot import Series, day, over_time
from metnos.web.view import View

SPANS = (7, 30, 90, 365)
STATES = {  # what a path does in each state
    "active": ("answers", "It answers in the place of planning, where it is sure enough."),
    "shadow": ("watches", "It guesses in silence while every request is planned as usual, to see whether it is right."),
    "candidate": ("rare", "It was seen, but not three times yet. It says and does nothing."),
    "demoted": (
        "off",
        "It does nothing until the same was planned three times and went well, or until you restore it.",
    ),
}
WAYS = {
    "fast": "fast paths",
    "router": "fixed rules",
    "model": "a language model",
    "react": "a language model, step by step",
    "": "nobody: it was over before",
}


def routes(inside: Inside, view: View) -> list[BaseRoute]:
    async def page(request: Request) -> Response:
        span, state = _span(request.query_params.get("days", "")), request.query_params.get("state", "")
        found, saved = await asyncio.gather(
            inside.get(request, "/api/fastpaths"), inside.get(request, "/api/savings", days=span)
        )
        return await view.page(
            request,
            "fastpaths.html",
            paths=[each for each in found["paths"] if state in ("", each["state"])],
            counts={name: sum(each["state"] == name for each in found["paths"]) for name in STATES},
            state=state if state in STATES else "",
            states=STATES,
            saved=saved,
            span=span,
            spans=SPANS,
            plots=plots(saved),
            ways=[(WAYS.get(each["path"], each["path"]), each) for each in saved["ways"]],
        )

    async def one(request: Request) -> Response:
        found = await inside.get(request, f"/api/fastpaths/{request.path_params['id']}")
        return await view.page(request, "fastpath.html", path=found, states=STATES, happened=HAPPENED)

    return [Route("/fastpaths", page), Route("/fastpaths/{id}", one)]


def _span(text: str) -> int:
    return int(text) if text.isdecimal() and int(text) in SPANS else 30


def plots(saved: Mapping[str, Any]) -> dict[str, Markup]:
    """Answers by day, what they saved together, and the share of wrong ones against the bound."""
    days = [(at, each) for each in saved["days"] if (at := day(each["day"])) is not None]
    days.sort(key=lambda pair: pair[0])
    moments = [at for at, _ in days]
    return {
        "hits": _hits(days, saved),
        "time": _together("Planning time saved", moments, [each["ms"] for _, each in days], _lasted),
        "money": _together("Money saved", moments, [each["usd"] for _, each in days], _dollars)
        if saved["saved_usd"]
        else Markup(""),
        "wrong": _wrong(days, float(saved["bound"])),
    }


def _hits(days: Sequence[tuple[float, Mapping[str, Any]]], saved: Mapping[str, Any]) -> Markup:
    right = Series("answers", [(at, float(each["hits"])) for at, each in days], "bars")
    wrong = Series("of them wrong", [(at, float(each["wrong"])) for at, each in days if each["wrong"]], "bars", "bad")
    said = f"{saved['hits']} answers on {len(days)} days, {saved['wrong']} of them wrong."
    return over_time([right, wrong], title="Answers by fast paths, by day", words=said)


def _together(title: str, moments: Sequence[float], values: Sequence[float], says: Callable[[float], str]) -> Markup:
    sums = list(accumulate(map(float, values)))
    said = f"{says(sums[-1])} in all." if sums else ""
    return over_time([Series(title, list(zip(moments, sums, strict=True)), "area")], title=title, words=said, says=says)


def _wrong(days: Sequence[tuple[float, Mapping[str, Any]]], bound: float) -> Markup:
    """From the first answer on, what share was wrong until each day."""
    hits, wrong = accumulate(each["hits"] for _, each in days), accumulate(each["wrong"] for _, each in days)
    shares = [(at, bad / of) for (at, _), of, bad in zip(days, hits, wrong, strict=True) if of]
    series = [Series("wrong until then", shares, "line", "bad")]
    if shares:
        series.append(Series("your bound", [(shares[-1][0], bound)], "bound", "warn"))
    said = f"{shares[-1][1]:.1%} wrong, against a bound of {bound:.1%}." if shares else ""
    return over_time(
        series, title="Share of wrong answers", words=said, high=bound * 1.5, says=lambda value: f"{value:.1%}"
    )


def _lasted(ms: float) -> str:
    """A span in as few letters as beside a plot there is room for."""
    for unit, name in ((3_600_000, "h"), (60_000, "min"), (1000, "s")):
        if ms >= unit:
            return f"{ms / unit:.3g} {name}"
    return f"{ms:.3g} ms" if ms else "0"


def _dollars(usd: float) -> str:
    return f"${usd:.2g}" if usd < 1 else f"${usd:,.0f}"
