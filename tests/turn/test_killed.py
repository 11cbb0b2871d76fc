"""SIGKILL at any moment of a turn: no half-recorded turn, no action without its audit line, nothing lost."""

import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest

from metnos.app import App
from metnos.core.workspace import Workspace
from metnos.grimoire.trace import State
from metnos.law.principal import Autonomy, Channel, Principal

KILLS = 200
OWNER = Principal(Channel.TERMINAL, "owner", Autonomy.FULL)


def take_turn(workspace: Workspace, inbox: Path, target: Path) -> None:
    """One whole turn that finds files and moves them, in a process of its own."""
    app = App.open(workspace)
    text = f"move the txt files in {inbox} to {target}"
    for _ in app.turns.run(app.turns.request(text, principal=OWNER, cwd=inbox)):
        pass


def killed(workspace: Workspace, inbox: Path, target: Path, seconds: float) -> bool:
    """Whether the turn was killed before it was over."""
    child = os.fork()
    if child == 0:
        os.setsid()  # its sandboxes die with it
        try:
            take_turn(workspace, inbox, target)
        finally:
            os._exit(0)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, _ = os.waitpid(child, os.WNOHANG)
        if done:
            return False
        time.sleep(0.001)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def refill(inbox: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    inbox.mkdir(exist_ok=True)
    for number in range(3):
        (inbox / f"{number}.txt").write_text(f"{number}")


def check(app: App, inbox: Path, target: Path) -> None:
    """Nothing lost, nothing half-done, nothing unrecorded."""
    here = {path.name for path in inbox.glob("*.txt")} | {path.name for path in target.glob("*.txt")}
    assert here == {"0.txt", "1.txt", "2.txt"}
    lines = list(app.audit.newest())
    announced = {line.entry.names.get("turn") for line in lines if line.kind == "executor run"}
    assert {action.turn for action in app.undo.actions(10_000)} <= announced
    turns = app.medium.newest(10_000)
    for glance in turns:
        trace = app.medium.load(glance.id)
        if glance.state is State.DONE:
            assert [step.executor for step in trace.steps] == ["find_files", "move_files"]
            assert all(step.ok and step.audit for step in trace.steps)
            assert trace.answer
    assert app.medium.interrupted() == []  # each was found and named when the workspace was opened


@pytest.mark.slow
def test_a_turn_killed_at_any_point(equipped: App, tmp_path: Path) -> None:
    equipped.set_setting("policy.autonomy", "full")
    workspace = equipped.workspace
    equipped.close()
    inbox, target = tmp_path / "home" / "inbox", tmp_path / "home" / "done"
    dice = random.Random(7)
    refill(inbox, target)
    began = time.monotonic()
    assert not killed(workspace, inbox, target, 60)
    whole = time.monotonic() - began
    cut = 0
    for _ in range(KILLS):
        refill(inbox, target)
        cut += killed(workspace, inbox, target, dice.uniform(0, whole * 1.1))
        app = App.open(workspace)
        _ = app.turns  # what the dead process left behind is settled
        check(app, inbox, target)
        app.close()
    assert cut > KILLS // 2
    assert not equipped.audit.unfinished() or cut
