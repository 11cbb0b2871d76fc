"""The doctor: is everything well, and if not, what to do.

Looking takes a few seconds, because the sandbox is really tried: the page comes at once, and a script puts the findings
into it. Without scripts the findings are on the page itself, at ``?now=1``.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from metnos.web.inside import Inside
from metnos.web.view import View

_LEVELS = {"red": ("must be mended", "bad"), "yellow": ("works, with a limit", "warn"), "green": ("fine", "good")}
_TITLES = {
    "python": "Python",
    "sqlite": "The database engine",
    "settings": "Settings",
    "sandbox": "The sandbox",
    "workspace": "The workspace",
    "code": "The code of Metnos",
    "packages": "Installed packages",
    "bubblewrap": "The program of the sandbox",
    "privacy": "Who else can read it",
    "records": "The databases",
    "keys": "Keys",
    "constitution": "The four Laws",
    "audit": "The audit",
    "executors": "Executors",
    "mnestome": "The mnestome",
    "telos": "Your ends (TELOS.md)",
    "disk": "Free space",
    "model": "The language model",
    "clock": "The clock",
}


def routes(inside: Inside, view: View) -> list[BaseRoute]:
    async def doctor(request: Request) -> Response:
        now = request.query_params.get("now") == "1"
        found = await inside.get(request, "/api/doctor") if now else None
        return await view.page(request, "doctor.html", told=told(found["checks"]) if found else None)

    async def checks(request: Request) -> Response:
        found = await inside.get(request, "/api/doctor")
        return await view.part(request, "_checks.html", told=told(found["checks"]))

    return [Route("/doctor", doctor), Route("/doctor/checks", checks)]


def told(checks: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Every finding, the worst first, and all of them in one sentence."""
    found = [_check(each) for each in checks]
    order = [tone for _, tone in _LEVELS.values()]
    found.sort(key=lambda each: order.index(each["tone"]) if each["tone"] in order else len(order))
    bad, warn = (sum(each["tone"] == tone for each in found) for tone in ("bad", "warn"))
    if bad:
        verdict = ("bad", "Something must be mended", f"{bad} of {len(found)} checks: what to do stands beside each.")
    elif warn:
        verdict = ("warn", "All works", f"{warn} of {len(found)} checks could be better.")
    else:
        verdict = ("good", "All is well", f"{len(found)} checks, each of them fine.")
    return {"checks": found, "tone": verdict[0], "title": verdict[1], "says": verdict[2]}


def _check(each: Mapping[str, Any]) -> dict[str, Any]:
    name, level = str(each.get("name", "")), str(each.get("level", ""))
    word, tone = _LEVELS.get(level, (level, ""))
    fix = str(each.get("fix") or "")
    return {
        "title": _TITLES.get(name) or name.replace("_", " ").capitalize(),
        "word": word,
        "tone": tone,
        "says": str(each.get("says") or ""),
        "fix": fix,
        "command": fix[:1].islower(),  # something to type; else a sentence
    }
