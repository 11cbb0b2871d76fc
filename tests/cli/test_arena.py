"""``metnos arena`` as a person meets it, and the questions that selection asks."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from executors.samples import write_sample
from grimoire.traces import step
from metnos.app import App, selecting
from metnos.core.workspace import Workspace
from metnos.executors import fitness
from metnos.executors.state import State
from signing import sign
from support import Say

pytestmark = pytest.mark.usefixtures("typist")

NAME = "find_archives"


@pytest.fixture
def app(root: Path) -> App:
    """A workspace in which something was found, and something not."""
    app = App.open(Workspace(root))
    write_sample(app.workspace.executors, NAME)
    digest = sign(app, NAME, "a test").digest
    well = step(wall_ms=0, digest=app.catalog.get("find_files").digest)
    ill = step(1, NAME, digest=digest, ok=False, kind="failed", gap_after=2, wall_ms=0)
    for number, (made, goal) in enumerate([(well, "find files"), (well, "find files"), (ill, "find files")]):
        fitness.record(app.catalog.db, f"01T{number}", app.clock.now(), goal, (made,))
    fitness.record(app.catalog.db, "01T9", app.clock.now(), "move files", (well,))
    return app


@pytest.mark.usefixtures("root")
def test_before_anything_was_done(say: Say) -> None:
    ran = say("arena")
    assert (ran.code, "Nothing was done yet." in ran.out) == (0, True)
    ran = say("arena", "move", "files")
    assert (ran.code, "nothing like 'move files' was done yet" in ran.err) == (2, True)
    assert say("arena", "--svg", "x.svg").code == 2


@pytest.mark.usefixtures("app")
def test_without_a_goal_every_kind_is_listed_the_most_frequent_first(say: Say) -> None:
    lines = [line.split() for line in say("arena").out.splitlines()]
    assert lines == [["goal", "turns", "executors"], ["find", "files", "3", "2"], ["move", "files", "1", "1"]]
    assert json.loads(say("arena", "--json").out)[0] == {"goal": "find files", "turns": 3, "executors": 2}


@pytest.mark.usefixtures("app")
def test_a_goal_is_named_in_ones_own_words(say: Say) -> None:
    ran = say("arena", "cerca", "documento")
    assert ran.out.splitlines()[0] == "find files"
    rows = {line.split()[0]: line.split()[1:6] for line in ran.out.splitlines()[2:]}
    assert rows["find_files"] == ["+2.00", "2", "2", "0", "fit"]
    assert rows[NAME] == ["-1.00", "1", "1", "0", "unfit"]
    assert "Also like it: move files" in say("arena", "files").out


@pytest.mark.usefixtures("app")
def test_the_picture_and_the_data(say: Say, tmp_path: Path) -> None:
    ran = say("arena", "find", "files", "--svg", str(tmp_path / "a.svg"), "--json")
    found = json.loads(ran.out)
    assert [(each["name"], each["state"], each["fitness"]) for each in found["executors"]] == [
        ("find_files", "fit", 2.0),
        (NAME, "unfit", -1.0),
    ]
    assert ElementTree.parse(tmp_path / "a.svg").getroot().tag.endswith("svg")
    ran = say("arena", "find", "files", "--svg", str(tmp_path / "nowhere" / "a.svg"))
    assert (ran.code, "cannot be written" in ran.err) == (2, True)


def test_a_yes_in_the_inbox_archives_what_is_offered(app: App, say: Say) -> None:
    (item,) = selecting.make_room(app)
    assert NAME in say("inbox", "show", item.id).out
    ran = say("inbox", "approve", item.id)
    assert (ran.code, f"{NAME} is archived." in ran.out) == (0, True)
    assert app.catalog.look(NAME).state is State.ARCHIVED
