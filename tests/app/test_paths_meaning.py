"""Requests that nobody worded so before, recognised by their meaning: the built-in embedder, real turns, no model.

What calibration asks for, about two hundred ways of asking, would take minutes as turns. So of every kind some are
really asked, and the others are closed turns, which are learnt from in the same way (`app.turned`). Nothing of the
rules is made easier for it.
"""

from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from app.turned import close
from copying import copy_folder
from metnos.app import App, learning
from metnos.app import night as building
from metnos.cli import Choice, why
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace
from metnos.fastpath.records import State
from metnos.fastpath.rules import Rules
from metnos.grimoire.trace import State as Ended
from metnos.grimoire.trace import Trace
from metnos.law.principal import at_terminal
from metnos.models.embed_builtin import Builtin
from metnos.turn.shortcut import Shortcuts
from support import START
from turn.fasting import every, fill
from turn.turning import take

WAYS = ("show me {}", "show {}", "give me {}", "list {}", "tell me about {}", "what are {}", "let me see {}",
        "i want to see {}", "display {}", "{} please", "look at {}", "get {}")  # fmt: skip
NEW = "the active software"
ASKED = 2  # ways of asking for each that are really asked
THINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "the disk space": ("list_disks", {}),
    "the free space on the disks": ("list_disks", {}),
    "the current time": ("show_time", {}),
    "the time of day": ("show_time", {}),
    "the running processes": ("list_processes", {}),
    "the active programs": ("list_processes", {}),
    "my reminders": ("list_reminders", {}),
    "my open reminders": ("list_reminders", {}),
    "my notes": ("list_notes", {}),
    "the notes i wrote": ("list_notes", {}),
    "the PDFs in ~/docs": ("find_files", {"path": "~/docs", "pattern": "*.pdf"}),
    "the largest files in ~/docs": ("find_files", {"path": "~/docs", "order": "largest"}),
    "the duplicates in ~/docs": ("find_duplicates", {"paths": ["~/docs"]}),
    "the total size of the folder ~/docs": ("measure_folders", {"path": "~/docs"}),
    "the checksum of ~/docs/c.txt": ("hash_files", {"paths": ["~/docs/c.txt"]}),
    "the number of words in ~/docs/c.txt": ("count_text", {"paths": ["~/docs/c.txt"]}),
    "the summary of ~/docs/c.txt": ("summarise_text", {"paths": ["~/docs/c.txt"]}),
    "the columns of the table ~/docs/t.csv": ("describe_tables", {"path": "~/docs/t.csv"}),
}


@pytest.fixture
def app(_template: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[App]:
    """A house that was asked for all of this, before its first night. No model is in it."""
    monkeypatch.setattr(Shortcuts, "_is_checked", lambda _self, _turn: False)  # it would be by chance
    fill(tmp_path / "home")
    (Path.home() / "docs" / "t.csv").write_text("item,amount\na,1\nb,2\n")
    made = Workspace(Path.home() / "workspace")
    copy_folder(_template.root, made.root)
    first = App.open(made, MovableClock(START))
    first.set_setting("turn.planner", "router", at_terminal())
    opened = App.open(made, first.clock)
    opened.__dict__["embedder"] = Builtin()
    numbers = count(1)
    for thing, (executor, args) in THINGS.items():
        for way in WAYS[:ASKED]:
            assert done(take(opened, way.format(thing)).trace) == [executor], way.format(thing)
        for way in WAYS[ASKED:]:
            close(opened, next(numbers), way.format(thing), [(executor, args)])
    learning.catch_up(opened)
    yield opened
    opened.close()


def done(trace: Trace | None) -> list[str]:
    """What a turn that went well did."""
    assert trace is not None
    return [step.executor for step in trace.steps if step.ok]


def sleep(app: App) -> str:
    """The job of the night by which fast paths are judged, as the night runs it; says what came of it."""
    assert isinstance(app.clock, MovableClock)
    app.clock.move(timedelta(days=1))
    run = building.build(app).run_now("fast_paths")
    assert str(run.state) == "done"
    return run.message


@pytest.mark.slow
def test_a_new_wording_is_answered_by_meaning_and_an_unrelated_request_is_not(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = take(app, NEW).trace
    assert before is not None
    assert before.state is Ended.NOTHING, "fixed rules do not know it, and nothing was calibrated"
    assert len(every(app)) >= Rules().least_paths
    assert sleep(app).startswith("recognises ")
    assert {path.state for path in every(app)} == {State.ACTIVE}

    asked = take(app, NEW).trace
    assert asked is not None
    assert (asked.path, done(asked), asked.calls) == ("fast", ["list_processes"], ())
    said = asked.plan["fast"]
    assert (said["exact"], said["may"]) == (False, True)
    monkeypatch.setattr(why, "open_app", lambda _: app)
    told = CliRunner().invoke(why.why, [asked.id], obj=Choice(None)).output
    for part in (
        "A shortcut, learnt from earlier requests of this kind.",
        "A fast path knows such requests by its meaning: the active programs please",
        f"It answers (active), learnt from {said['passes']} requests",
        f"metnos fastpath show {said['path'][:10]}",
        "It answered: like what was asked before; of such answers at most",
        "None was asked; it cost nothing.",
    ):
        assert part in told, part

    other = take(app, "the overall size of the folder ~/work").trace
    assert other is not None
    assert (other.path, done(other)) == ("fast", ["measure_folders"])
    assert other.plan["steps"][0]["args"] == {"path": "~/work"}, "particulars are those of the new request"

    for unrelated in ("how is the weather", "order a pizza", "the stars in the sky", "my taxes", "the price of gold"):
        trace = take(app, unrelated).trace
        assert trace is not None
        assert (trace.path, trace.steps) == ("router", ()), unrelated
    assert {path.state for path in every(app)} == {State.ACTIVE}, "what nobody knows speaks against nothing"
