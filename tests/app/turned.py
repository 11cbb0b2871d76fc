"""Turns as the medium keeps them, for what learns from them: closed without having been taken."""

from typing import Any

from fastpath.pathing import hear
from grimoire.traces import step, trace
from metnos.app import App

Calls = list[tuple[str, dict[str, Any]]]


def close(app: App, number: int, text: str, calls: Calls, /, **other: Any) -> str:
    """A turn of a planner that did this and succeeded; ``other`` changes its trace, and ``plan`` its plan."""
    tools, now = app.toolbox.kit().tools, app.clock.now().astimezone()
    heard, turn = hear(text, now), f"01T{number:05}"
    planned = {"kind": "steps", "path": "model", "steps": [{"executor": name, "args": args} for name, args in calls]}
    made: dict[str, Any] = {
        "asked": now, "closed": now, "text": text, "path": "model", "slots": tuple(heard.data()), "calls": (),
        "passings": (), "desired": (), "conversation": turn,
        "steps": tuple(step(place, name, version=tools[name].version) for place, (name, _) in enumerate(calls, 1)),
        "plan": {**planned, "notes": [], "ms": 40.0, "last": "", **other.pop("plan", {})},
    }  # fmt: skip
    app.medium.close(trace(turn, **{**made, **other}))
    return turn


def pdfs(folder: str) -> tuple[str, Calls]:
    return f"find the PDFs in ~/{folder}", [("find_files", {"path": f"~/{folder}", "pattern": "*.pdf"})]


def words(folder: str, files: str = "PDFs", pattern: str = "*.pdf") -> tuple[str, Calls]:
    """A request for two executors."""
    find = ("find_files", {"path": f"~/{folder}", "pattern": pattern})
    return f"count the words of the {files} in ~/{folder}", [find, ("count_text", {"paths": "{{step1.entries.path}}"})]
