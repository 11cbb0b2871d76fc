"""Inheriting that is killed with -9 on the way: the same command goes on, and comes to the same end."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from life.willed import BORN, a_signer, an_entry, of_generation, written
from metnos.app import App, inheriting
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace
from metnos.grimoire.episodes import ANY
from metnos.grimoire.fact import Kind
from metnos.life.testament import Bone, Habit, Left, Link
from metnos.mnestome import lists

PROCESS = """
import importlib, os, signal, sys
from datetime import datetime
from pathlib import Path
from metnos.app import App, inheriting
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace

root, path, now, module, owner, name, count = sys.argv[1:]
place = getattr(importlib.import_module(module), owner, None) or importlib.import_module(module)
really, calls = getattr(place, name), []

def dies(*args, **more):
    calls.append(1)
    if len(calls) == int(count):
        os.kill(os.getpid(), signal.SIGKILL)
    return really(*args, **more)

setattr(place, name, dies)
clock = MovableClock(datetime.fromisoformat(now))
inheriting.found_from(Workspace(Path(root)), Path(path), clock=clock)
"""
KILLED = {
    "before anything": ("metnos.life.lineage", "Lineage", "begin", 1),
    "in the first entry": ("metnos.grimoire.facts", "Facts", "admit", 1),
    "before the first note": ("metnos.life.lineage", "Lineage", "became", 1),
    "between a fact and its note": ("metnos.life.lineage", "Lineage", "became", 4),
    "before its belief is put right": ("metnos.grimoire.facts", "Facts", "put", 5),
    "between two links": ("metnos.grimoire.facts", "Facts", "link", 2),
    "before the episodes": ("metnos.life.inheritance", "Inheritance", "_left", 1),
    "between the episodes and their note": ("metnos.life.lineage", "Lineage", "note_episodes", 1),
    "before the skeleton": ("metnos.mnestome.seeds", "-", "plant", 1),
    "before the questions": ("metnos.app.defaulting", "-", "ask", 1),
    "before the end": ("metnos.life.lineage", "Lineage", "end", 1),
}

pytestmark = pytest.mark.slow


@pytest.fixture
def left(tmp_path: Path) -> Path:
    entries = (*(an_entry(number, held=3) for number in range(5)), an_entry(6, kind=Kind.ANTI))
    testament = of_generation(
        2,
        entries=entries,
        links=(Link("E0", "E1", "supports", 0.5), Link("E2", "E3", "used_with", 1.0)),
        episodes=tuple(Left(f"P{number}", BORN, f"It rained on day {number}.") for number in range(3)),
        bones=(Bone("find_files", "sort_tables", 0.5),),
        habits=(Habit("turn.steps", 20, 3),),
    )
    return written(tmp_path / "left", testament, a_signer(tmp_path / "predecessor"))


@pytest.fixture
def twin(_template: Workspace, tmp_path: Path) -> Workspace:
    """The same agent in another place: what would have come of it."""
    place = Workspace(tmp_path / "twin")
    shutil.copytree(_template.root, place.root)
    return place


def state(workspace: Workspace, clock: MovableClock) -> dict[str, Any]:
    """All that an heir has."""
    app = App.open(workspace, clock)
    line, facts = inheriting.lineage(app), app.grimoire.facts
    known = facts.find(standings=(), count=-1)
    found = {
        "facts": {each.id: (each.text, round(each.confidence, 9), each.standing, each.generation) for each in known},
        "links": sorted(app.grimoire.db.query("SELECT src, dst, relation, weight FROM fact_links")),
        "heirlooms": line.heirlooms(),
        "episodes": sorted((each.id, each.text) for each in app.grimoire.episodes.select(ANY)),
        "inherited": line.episodes(),
        "seeds": sorted((each.src, each.dst, each.weight) for each in lists.listing(app.catalog.db, clock.now())),
        "asked": sorted(item.title for item in app.inbox.waiting()),
        "ended": (origins := line.origins()) is not None and origins.ended is not None,
    }
    app.close()
    return found


@pytest.mark.parametrize("when", list(KILLED))
def test_killed_anywhere_the_same_command_goes_on(
    when: str, equipped: App, twin: Workspace, left: Path, clock: MovableClock
) -> None:
    workspace = equipped.workspace
    where = [str(each) for each in KILLED[when]]
    command = [sys.executable, "-c", PROCESS, str(workspace.root), str(left), clock.now().isoformat(), *where]
    assert subprocess.run(command, check=False, timeout=300).returncode == -signal.SIGKILL
    inheriting.found_from(workspace, left, clock=clock)
    inheriting.found_from(twin, left, clock=clock)
    mine, theirs = state(workspace, clock), state(twin, clock)
    assert mine == theirs
    assert mine["ended"]
    assert len(mine["facts"]) == 6
    assert len(mine["asked"]) >= 1
