"""Importing that is killed on the way, or done twice at once: nothing is lost, and nothing is asked twice."""

from pathlib import Path
from typing import Any

import pytest

import forking
from app.bundled import agree, another, only, packed, taken, titled
from copying import copy_folder
from metnos.app import App
from metnos.app.importing import Became
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace
from metnos.synt import gates
from metnos.synt.activation import Activation
from metnos.synt.proposals import Proposals, State
from support import START
from synt.specimens import draft

KILLED: dict[str, tuple[Any, str]] = {
    "while it is examined": (gates, "examine"),
    "before the question": (Activation, "ask_activation"),
    "between the question and the proposal": (Proposals, "drafted"),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of another instance."""
    there = another(tmp_path_factory.mktemp("there") / "workspace", MovableClock(START))
    made = packed(there, draft())
    there.close()
    return made


@pytest.fixture
def here(_template: Workspace, blank: Workspace) -> Workspace:
    """Where it is taken in."""
    copy_folder(_template.root, blank.root)
    return blank


def opened(here: Workspace, clock: MovableClock) -> App:
    app = App.open(here, clock)
    app.__dict__["embedder"] = None  # loading one takes longer than all the rest
    return app


def take_in(here: Workspace, path: Path, clock: MovableClock) -> None:
    app = opened(here, clock)
    taken(app, path)
    app.close()


@pytest.mark.parametrize("when", list(KILLED))
@pytest.mark.slow
def test_killed_anywhere_it_can_simply_be_repeated(here: Workspace, path: Path, clock: MovableClock, when: str) -> None:
    def killed() -> None:
        forking.die_at(*KILLED[when])
        take_in(here, path, clock)

    assert forking.run(killed) == forking.KILLED
    app = opened(here, clock)
    assert app.growing.proposals.all() == []
    assert only(taken(app, path)).became is Became.WAITS
    (waiting,) = app.inbox.waiting()
    (proposal,) = app.growing.proposals.all()
    assert (proposal.state, proposal.activation) == (State.DRAFTED, waiting.id)
    agree(app, waiting.id)
    assert titled(app)


@pytest.mark.slow
def test_two_processes_at_once_ask_one_question(here: Workspace, path: Path, clock: MovableClock) -> None:
    both = [forking.start(lambda: take_in(here, path, clock)) for _ in range(2)]
    assert [forking.end(each) for each in both] == [0, 0]
    app = opened(here, clock)
    (waiting,) = app.inbox.waiting()
    (proposal,) = app.growing.proposals.all()
    assert (proposal.state, proposal.activation) == (State.DRAFTED, waiting.id)
