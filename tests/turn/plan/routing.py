"""Routing in tests: the built-in executors, a disk that is a list, and the table of requests."""

import tomllib
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from metnos.turn.plan.rank import Ranker
from metnos.turn.plan.records import Plan
from metnos.turn.plan.router import Last, Router
from turn.plan.asking import tools

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
HOME, CWD = Path("/home/u"), Path("/home/u/work")
THERE = {
    HOME / name
    for name in ("inbox", "Downloads", "Documenti", "Foto", "contract.pdf", "Immagini", "Video", "Work/a.txt")
} | {CWD / "here.txt"}


@cache
def router(*without: str) -> Router:
    """The router with all built-in executors but these."""
    kept = tuple(tool for name, tool in tools().items() if name not in without)
    return Router(Ranker(kept, None), kept, home=HOME, exists=THERE.__contains__)


def route(text: str, *, last: Last | None = None, pending: Plan | None = None) -> Plan:
    return router().route(text, now=NOW, cwd=CWD, last=last, pending=pending)


def calls(plan: Plan) -> list[tuple[str, dict[str, Any]]]:
    return [(step.executor, dict(step.args)) for step in plan.steps]


@cache
def table() -> tuple[dict[str, Any], ...]:
    return tuple(tomllib.loads(Path(__file__).with_name("routes.toml").read_text(encoding="utf-8"))["routes"])
