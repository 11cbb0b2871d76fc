"""A process that is killed at any step of a death: whoever goes on comes to the same testament, to the bit."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import forking
from copying import copy_folder
from forking import KILLED, die
from life.lived import live
from metnos.app import App, dying, retired, retiring
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace
from metnos.life.cause import Cause
from metnos.life.thanatopsis import Thanatopsis, Wishes
from support import START

STEPS = ["accept", "count", "finish", "revoke", "learn", "gather", "reflect", "executors", "compose", "leave", "tell"]


def reopened(workspace: Workspace) -> App:
    app = App.open(workspace, MovableClock(START))
    app.__dict__["embedder"] = None  # loading one takes longer than all the rest
    return app


def retire_until(workspace: Workspace, name: str, moment: str) -> None:
    """Take the steps of a death up to this moment of one of them, and be killed there. Never returns."""
    really, take = dying.steps, Thanatopsis._take

    def deadly(step: Any) -> Any:
        if step.name != name or moment == "after":
            return step
        return replace(step, act=die if moment == "before" else lambda death: die(step.act(death)))

    def taken(self: Thanatopsis, step: Any, death: Any) -> None:
        take(self, step, death)
        if step.name == name:
            die()

    dying.steps, Thanatopsis._take = lambda app: [deadly(step) for step in really(app)], taken
    retiring.retire(reopened(workspace))


def kill(workspace: Workspace, name: str, moment: str) -> None:
    """Let another process retire it, which is killed on the way."""
    assert forking.run(lambda: retire_until(workspace, name, moment)) == KILLED


@pytest.fixture(scope="module")
def accepted(_template: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A life whose end was accepted, and not one step of it taken."""
    made = Workspace(tmp_path_factory.mktemp("accepted") / "workspace")
    copy_folder(_template.root, made.root)
    app = live(App.open(made, MovableClock(START)))
    retired.thanatopsis(app).accept(Cause.OWNER, Wishes("left.testament"))
    app.close()
    return made


def gone_on(accepted: Workspace, folder: Path) -> Workspace:
    """A copy of it, which leaves its testament in a folder of its own."""
    copied = Workspace(folder / "workspace")
    copy_folder(accepted.root, copied.root)
    app = reopened(copied)
    retired.thanatopsis(app).move(str(folder / "left.testament"))
    app.close()
    return copied


@pytest.fixture(scope="module")
def undisturbed(accepted: Workspace, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """What is left when nobody interrupts."""
    folder = tmp_path_factory.mktemp("undisturbed")
    app = reopened(gone_on(accepted, folder))
    retiring.retire(app)
    app.close()
    return (folder / "left.testament").read_bytes()


def test_these_are_all_the_steps(opened: App) -> None:
    assert [step.name for step in dying.steps(opened)] == STEPS


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "within", "after"])
@pytest.mark.parametrize("name", STEPS)
def test_killed_anywhere(accepted: Workspace, undisturbed: bytes, tmp_path: Path, name: str, moment: str) -> None:
    workspace = gone_on(accepted, tmp_path)
    kill(workspace, name, moment)
    again = reopened(workspace)
    done = retiring.retire(again)
    assert (tmp_path / "left.testament").read_bytes() == undisturbed
    assert done.death.failed == {}
    assert again.grants.active() == []


@pytest.mark.slow
def test_killed_again_and_again(accepted: Workspace, undisturbed: bytes, tmp_path: Path) -> None:
    workspace = gone_on(accepted, tmp_path)
    for name in STEPS:
        kill(workspace, name, "within")
        kill(workspace, name, "after")
    retiring.retire(reopened(workspace))
    assert (tmp_path / "left.testament").read_bytes() == undisturbed
