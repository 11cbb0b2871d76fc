"""Importing that is killed on the way, or done twice at once: nothing is lost, and nothing is asked twice."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.bundled import agree, another, only, packed, taken, titled
from metnos.app import App
from metnos.app.importing import Became
from metnos.core.clock import MovableClock
from metnos.synt.proposals import State
from synt.specimens import draft

PROCESS = """
import importlib, os, signal, sys
from datetime import datetime
from pathlib import Path
from metnos.app import App, importing
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace

root, path, now, *where = sys.argv[1:]
if where:
    module, owner, name = where
    found = importlib.import_module(module)
    setattr(getattr(found, owner, found), name, lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
app = App.open(Workspace(Path(root)), MovableClock(datetime.fromisoformat(now)))
app.__dict__["embedder"] = None
opened, source = importing.open_bundle(app, Path(path))
list(importing.take_in(app, opened.drafts, source))
app.close()
"""
KILLED = {
    "while it is examined": ("metnos.synt.gates", "-", "examine"),
    "before the question": ("metnos.synt.activation", "Activation", "ask_activation"),
    "between the question and the proposal": ("metnos.synt.proposals", "Proposals", "drafted"),
}


@pytest.fixture
def there(tmp_path: Path, clock: MovableClock) -> App:
    return another(tmp_path / "there", clock)


@pytest.fixture
def here(equipped: App) -> App:
    """The instance that takes in."""
    equipped.__dict__["embedder"] = None  # loading one takes longer than all the rest
    return equipped


def started(app: App, path: Path, *where: str) -> "subprocess.Popen[bytes]":
    """Another process that takes a bundle in; killed where that is said."""
    now = app.clock.now().isoformat()
    return subprocess.Popen([sys.executable, "-c", PROCESS, str(app.workspace.root), str(path), now, *where])


@pytest.mark.parametrize("when", list(KILLED))
@pytest.mark.slow
def test_killed_anywhere_it_can_simply_be_repeated(here: App, there: App, when: str) -> None:
    path = packed(there, draft())
    assert started(here, path, *KILLED[when]).wait(60) == -signal.SIGKILL
    assert here.growing.proposals.all() == []
    assert only(taken(here, path)).became is Became.WAITS
    (waiting,) = here.inbox.waiting()
    (proposal,) = here.growing.proposals.all()
    assert (proposal.state, proposal.activation) == (State.DRAFTED, waiting.id)
    agree(here, waiting.id)
    assert titled(here)


@pytest.mark.slow
def test_two_processes_at_once_ask_one_question(here: App, there: App) -> None:
    path = packed(there, draft())
    both = [started(here, path) for _ in range(2)]
    assert [each.wait(60) for each in both] == [0, 0]
    (waiting,) = here.inbox.waiting()
    (proposal,) = here.growing.proposals.all()
    assert (proposal.state, proposal.activation) == (State.DRAFTED, waiting.id)
