"""A process that is killed at any step of a death: whoever goes on comes to the same testament, to the bit."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import START
from life.lived import live
from metnos.app import App, dying, retiring
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace
from metnos.life.cause import Cause
from metnos.life.thanatopsis import Wishes

STEPS = ["accept", "count", "finish", "revoke", "learn", "gather", "reflect", "executors", "compose", "leave", "tell"]
PROCESS = """
import os, signal, sys
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from metnos.app import App, dying, retiring
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace
from metnos.life.thanatopsis import Thanatopsis

root, now, name, moment = sys.argv[1:]
die = lambda: os.kill(os.getpid(), signal.SIGKILL)
really, take = dying.steps, Thanatopsis._take

def deadly(act):
    def acting(death):
        if moment == "before":
            die()
        act(death)
        die()
    return acting

def steps(app):
    return [replace(s, act=deadly(s.act)) if s.name == name and moment != "after" else s for s in really(app)]

def taken(self, step, death):
    take(self, step, death)
    if step.name == name:
        die()

dying.steps, Thanatopsis._take = steps, taken
app = App.open(Workspace(Path(root)), MovableClock(datetime.fromisoformat(now)))
app.__dict__["embedder"] = None
retiring.retire(app)
"""


@pytest.fixture(scope="module")
def accepted(_template: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A life whose end was accepted, and not one step of it taken."""
    made = Workspace(tmp_path_factory.mktemp("accepted") / "workspace")
    shutil.copytree(_template.root, made.root)
    app = live(App.open(made, MovableClock(START)))
    retiring.thanatopsis(app).accept(Cause.OWNER, Wishes("left.testament"))
    app.close()
    return made


def gone_on(accepted: Workspace, folder: Path) -> App:
    """A copy of it, which leaves its testament in a folder of its own."""
    copied = Workspace(folder / "workspace")
    shutil.copytree(accepted.root, copied.root)
    app = App.open(copied, MovableClock(START))
    retiring.thanatopsis(app).move(str(folder / "left.testament"))
    return app


@pytest.fixture(scope="module")
def undisturbed(accepted: Workspace, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What is left when nobody interrupts."""
    folder = tmp_path_factory.mktemp("undisturbed")
    app = gone_on(accepted, folder)
    retiring.retire(app)
    app.close()
    return (folder / "left.testament").read_bytes()


def test_these_are_all_the_steps(opened: App) -> None:
    assert [step.name for step in dying.steps(opened)] == STEPS


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "within", "after"])
@pytest.mark.parametrize("name", STEPS)
def test_killed_anywhere(accepted: Workspace, undisturbed: bytes, tmp_path: Path, name: str, moment: str) -> None:
    app = gone_on(accepted, tmp_path)
    app.close()
    command = [sys.executable, "-c", PROCESS, str(app.workspace.root), START.isoformat(), name, moment]
    assert subprocess.run(command, check=False, timeout=120).returncode == -signal.SIGKILL
    again = App.open(app.workspace, MovableClock(START))
    done = retiring.retire(again)
    assert (tmp_path / "left.testament").read_bytes() == undisturbed
    assert done.death.failed == {}
    assert again.grants.active() == []


@pytest.mark.slow
def test_killed_again_and_again(accepted: Workspace, undisturbed: bytes, tmp_path: Path) -> None:
    app = gone_on(accepted, tmp_path)
    app.close()
    for name in STEPS:
        command = [sys.executable, "-c", PROCESS, str(app.workspace.root), START.isoformat(), name, "within"]
        assert subprocess.run(command, check=False, timeout=120).returncode == -signal.SIGKILL
        command[-1] = "after"
        assert subprocess.run(command, check=False, timeout=120).returncode == -signal.SIGKILL
    retiring.retire(App.open(app.workspace, MovableClock(START)))
    assert (tmp_path / "left.testament").read_bytes() == undisturbed
