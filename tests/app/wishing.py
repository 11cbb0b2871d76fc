"""Wishes as turns leave them, and what the owner is asked about them and answers."""

from datetime import timedelta
from typing import Any

from app.turned import close
from metnos.app import App, learning
from metnos.core.clock import MovableClock
from metnos.grimoire.trace import Desired
from metnos.grimoire.trace import State as Turn
from metnos.law.inbox import DIRECTION, Item
from metnos.law.principal import at_terminal
from metnos.synt.proposals import Proposal
from signing import approve

NAME = "describe_urls"
DAY = timedelta(days=1)


def wish(app: App, number: int, name: str = NAME, **signature: Any) -> None:
    """A turn that nothing could finish, and what it wished for."""
    said = {"summary": "say what the pages are about", "inputs": ["urls"], "outputs": ["urls"], "errors": []}
    wished = Desired(name, "request", "", {**said, **signature})
    plan = {"kind": "nothing", "ms": 1500.0}
    close(app, number, "what do these pages say?", [], desired=(wished,), state=Turn.NOTHING, plan=plan)
    learning.catch_up(app)


def three_wishes(app: App, clock: MovableClock, first: int = 0, **signature: Any) -> None:
    for number in range(first, first + 3):
        wish(app, number, **signature)
        clock.move(DAY)


def questions(app: App, kind: str = DIRECTION) -> list[Item]:
    return [item for item in app.inbox.waiting() if item.kind == kind]


def proposals(app: App) -> list[Proposal]:
    return app.growing.proposals.all()


def why(app: App, proposal: Proposal) -> list[str]:
    return [each.reason for each in app.growing.proposals.events(proposal.id)]


def say_yes(app: App, item: Item) -> str:
    return app.growing.answered(approve(app.inbox, item.id, at_terminal()))


def say_no(app: App, item: Item, reason: str = "") -> None:
    app.growing.refused(app.inbox.refuse(item.id, at_terminal(), reason), reason)
