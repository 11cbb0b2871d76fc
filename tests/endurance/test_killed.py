"""Nights and deaths that are killed with -9 at any moment; turns are in `tests/turn/test_killed.py`."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from app.test_dying import accepted, gone_on, reopened, undisturbed
from killing import killed_after
from metnos.app import App, retiring, verify_audit
from metnos.app import night as building
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace
from metnos.law.principal import at_terminal
from metnos.night.records import State
from suite import Repeat
from support import START
from turn.turning import take

__all__ = ["accepted", "undisturbed"]


def longest(act: Callable[[], object]) -> float:
    """How long this takes when nobody interrupts."""
    began = time.monotonic()
    act()
    return time.monotonic() - began


def a_night(workspace: Workspace) -> None:
    """All jobs of one night, in a process of its own."""
    clock = MovableClock(START)
    app = App.open(workspace, clock)
    app.__dict__["embedder"] = None
    building.build(app).run_all()


@pytest.mark.slow
@pytest.mark.repeated
@pytest.mark.timeout(1800)
def test_a_night_killed_at_any_moment_is_made_up_for(equipped: App, tmp_path: Path, repeat: Repeat) -> None:
    equipped.set_setting("night.backup", "false", at_terminal())
    equipped.__dict__["embedder"] = None
    (tmp_path / "home" / "a.txt").write_text("a")
    for number in range(3):
        take(equipped, f"note: number {number}", cwd=tmp_path / "home")
    workspace = equipped.workspace
    equipped.close()
    whole = longest(lambda: a_night(workspace))
    kills = repeat("kills of a night", suite=2, soak=200)
    for number in kills:
        killed_after((number + 1) / (len(kills) + 1) * whole, lambda: a_night(workspace))
    app = App.open(workspace, MovableClock(START))
    app.__dict__["embedder"] = None
    made = building.build(app).run_all()
    assert {run.state for run in made} == {State.DONE}
    assert app.medium.interrupted() == []
    assert len(app.medium.newest(9)) == 3
    assert verify_audit(workspace).faults == ()
    app.close()


@pytest.mark.slow
@pytest.mark.repeated
@pytest.mark.timeout(1800)
def test_a_death_killed_at_any_moment_leaves_the_same_testament(
    accepted: Workspace, undisturbed: bytes, tmp_path: Path, repeat: Repeat
) -> None:
    (tmp_path / "first").mkdir()
    first = gone_on(accepted, tmp_path / "first")
    whole = longest(lambda: retiring.retire(reopened(first)))
    kills = repeat("kills of a death", suite=1, soak=200)
    each = 5  # kills of one death, one after another
    for start in kills[::each]:
        folder = tmp_path / f"{start}"
        folder.mkdir()
        workspace = gone_on(accepted, folder)
        for number in kills[start : start + each]:
            share = (number % each + 1) / (each + 1)
            killed_after(share * whole, lambda workspace=workspace: retiring.retire(reopened(workspace)))
        again = reopened(workspace)
        retiring.retire(again)
        assert (folder / "left.testament").read_bytes() == undisturbed
        again.close()
