"""Workspaces whose turns lack an executor, and questions about what came of it, for tests."""

from collections.abc import Callable
from typing import Any

from app.test_growing import CASES, CODE, PURPOSE, SIGNATURE
from metnos.app import App
from metnos.mnestome import proto
from metnos.synt import scaffold
from metnos.synt.draft import Check, Made
from metnos.synt.proposals import Proposal
from metnos.turn.events import Answer
from synt.sketches import TITLE
from turn.scripted import Said, Scripted, steps
from turn.turning import Taken

REQUEST = "format 'to be or not' in title case"
MISSING = steps({"missing": {"name": "format_text"}})
USING = steps({"format_text": {"texts": ["to be or not"]}})
MAKING: tuple[Said, ...] = (SIGNATURE, CASES, PURPOSE, CODE, CODE)
DRAFT = Made(scaffold.draft(TITLE), (Check("static gate", ""),), usage={})
YES, NO, LATER = Answer.YES, Answer.NO, Answer.LATER

Opened = tuple[App, Scripted]
Open = Callable[..., Opened]


def proposal(app: App) -> Proposal:
    (found,) = app.growing.proposals.all()
    return found


def lives(app: App) -> bool:
    return "format_text" in app.catalog.names() and app.catalog.look("format_text").executor is not None


def about(taken: Taken) -> list[str]:
    return [each.about for each in taken.wanted]


def story(taken: Taken) -> Any:
    assert taken.trace is not None
    return taken.trace.plan.get("made", {})


def wished(app: App) -> list[str]:
    return [each.dst for each in proto.protos(app.catalog.db)]
