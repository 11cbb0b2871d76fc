"""Inheriting that is killed with -9 on the way: the same command goes on, and comes to the same end."""

from pathlib import Path
from typing import Any

import pytest

import forking
from copying import copy_folder
from life.willed import BORN, a_signer, an_entry, of_generation, written
from metnos.app import App, defaulting, inheriting
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace
from metnos.grimoire.episodes import ANY
from metnos.grimoire.fact import Kind
from metnos.grimoire.facts import Facts
from metnos.life.inheritance import Inheritance
from metnos.life.lineage import Lineage
from metnos.life.testament import Bone, Habit, Left, Link
from metnos.mnestome import lists, seeds
from support import START

KILLED: dict[str, tuple[Any, str, int]] = {
    "before anything": (Lineage, "begin", 1),
    "in the first entry": (Facts, "admit", 1),
    "before the first note": (Lineage, "became", 1),
    "between a fact and its note": (Lineage, "became", 4),
    "before its belief is put right": (Facts, "put", 5),
    "between two links": (Facts, "link", 2),
    "before the episodes": (Inheritance, "_left", 1),
    "between the episodes and their note": (Lineage, "note_episodes", 1),
    "before the skeleton": (seeds, "plant", 1),
    "before the questions": (defaulting, "ask", 1),
    "before the end": (Lineage, "end", 1),
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("left")
    entries = (*(an_entry(number, held=3) for number in range(5)), an_entry(6, kind=Kind.ANTI))
    testament = of_generation(
        2,
        entries=entries,
        links=(Link("E0", "E1", "supports", 0.5), Link("E2", "E3", "used_with", 1.0)),
        episodes=tuple(Left(f"P{number}", BORN, f"It rained on day {number}.") for number in range(3)),
        bones=(Bone("find_files", "sort_tables", 0.5),),
        habits=(Habit("turn.steps", 20, 3),),
    )
    return written(folder / "left", testament, a_signer(folder / "predecessor"))


@pytest.fixture(scope="module")
def undisturbed(_template: Workspace, left: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The same agent in another place: what comes of it when nobody interrupts."""
    twin, clock = Workspace(tmp_path_factory.mktemp("twin") / "workspace"), MovableClock(START)
    copy_folder(_template.root, twin.root)
    inheriting.found_from(twin, left, clock=clock)
    return state(twin, clock)


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


@pytest.fixture
def heir(_template: Workspace, blank: Workspace) -> Workspace:
    copy_folder(_template.root, blank.root)
    return blank


@pytest.mark.parametrize("when", list(KILLED))
def test_killed_anywhere_the_same_command_goes_on(
    when: str, heir: Workspace, undisturbed: dict[str, Any], left: Path, clock: MovableClock
) -> None:
    def inherit() -> None:
        inheriting.found_from(heir, left, clock=clock)

    def killed() -> None:
        forking.die_at(*KILLED[when])
        inherit()

    assert forking.run(killed) == forking.KILLED
    inherit()
    mine = state(heir, clock)
    assert mine == undisturbed
    assert mine["ended"]
    assert len(mine["facts"]) == 6
    assert len(mine["asked"]) >= 1
