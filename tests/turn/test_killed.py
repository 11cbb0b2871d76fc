"""SIGKILL at any moment of a turn: no half-recorded turn, no action without its audit line, nothing lost."""

import itertools
import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest

from metnos.app import App, turning, verify_audit
from metnos.grimoire.trace import State
from metnos.law.principal import Autonomy, Channel, Principal, at_terminal
from suite import Repeat

OWNER = Principal(Channel.TERMINAL, "owner", Autonomy.FULL)


def take_turn(app: App, inbox: Path, target: Path, events: int) -> None:
    """One whole turn that finds files and moves them; this process is killed after so many events of it, if any."""
    text = f"move the txt files in {inbox} to {target}"
    for number, _ in enumerate(app.turns.run(app.turns.request(text, principal=OWNER, cwd=inbox)), start=1):
        if number == events:
            os.kill(os.getpid(), signal.SIGKILL)


def killed(app: App, inbox: Path, target: Path, seconds: float, events: int = 0) -> bool:
    """Take the turn in a process of its own; says whether it was killed by us before it was over."""
    child = os.fork()
    if child == 0:
        try:
            take_turn(app, inbox, target, events)
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


def check(app: App, inbox: Path, target: Path) -> State | None:
    """Nothing lost, nothing half-done, nothing unrecorded; returns how the newest turn stands."""
    here = {path.name for path in inbox.glob("*.txt")} | {path.name for path in target.glob("*.txt")}
    assert here == {"0.txt", "1.txt", "2.txt"}
    for action in app.undo.actions(1):
        lines = itertools.islice(app.audit.newest(), 400)  # several turns may have been killed before they acted
        assert action.turn in {line.entry.names.get("turn") for line in lines if line.kind == "executor run"}
    turning.settle(app)  # as at the next start
    assert app.medium.interrupted() == []
    newest = app.medium.newest(1)
    if not newest:
        return None
    trace = app.medium.load(newest[0].id)
    if trace.state is State.DONE:
        assert [step.executor for step in trace.steps] == ["find_files", "move_files"]
        assert all(step.ok and step.audit for step in trace.steps)
        assert trace.answer
    else:
        assert trace.state is State.INTERRUPTED, trace.answer
    return trace.state


@pytest.mark.slow
@pytest.mark.repeated
@pytest.mark.timeout(1800)
def test_a_turn_killed_at_any_point(equipped: App, tmp_path: Path, repeat: Repeat) -> None:
    equipped.set_setting("policy.autonomy", "full", at_terminal())
    app = App.open(equipped.workspace)
    app.turns.warm()  # what a first turn would load, so that the kills fall into the turn itself
    inbox, target = tmp_path / "home" / "inbox", tmp_path / "home" / "done"
    dice = random.Random(7)
    refill(inbox, target)
    began = time.monotonic()
    assert not killed(app, inbox, target, 60)
    whole = time.monotonic() - began
    assert check(app, inbox, target) is State.DONE
    for events in range(1, 6):
        refill(inbox, target)
        assert not killed(app, inbox, target, 60, events)
        app.undo.settle()
        assert check(app, inbox, target) is State.INTERRUPTED
    kills = repeat("kills of a turn", suite=10, soak=600)
    cut = 0
    for number in kills:
        refill(inbox, target)
        share = (number + dice.random()) / len(kills)  # one in each part of the turn
        cut += killed(app, inbox, target, share * whole)
        app.undo.settle()
        check(app, inbox, target)
    assert cut  # how many depends on how busy the machine is; the first one falls before the turn can be over
    assert verify_audit(app.workspace).faults == ()
    app.close()
