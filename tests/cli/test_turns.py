"""``metnos turns`` and ``metnos feedback``, over a real memory."""

import json
from datetime import timedelta

import click
import pytest
from click.testing import CliRunner, Result

from cli.warm import metnos
from grimoire.traces import SECRET, START, secretive, step, trace
from metnos import app
from metnos.app import learning
from metnos.cli import Choice, person
from metnos.cli import turns as commands
from metnos.core.errors import Refused, TurnError
from metnos.core.workspace import Workspace
from metnos.grimoire.medium import Medium
from metnos.grimoire.trace import State
from metnos.mnestome import proto
from metnos.mnestome.record import record_turn
from support import Say, kinds


@pytest.fixture
def medium(equipped: app.App, monkeypatch: pytest.MonkeyPatch) -> Medium:
    """The memory that the commands see."""
    monkeypatch.setattr(commands, "open_app", lambda _: equipped)
    return equipped.medium


def type_in(command: click.Command, *line: str) -> Result:
    return CliRunner().invoke(command, line, obj=Choice(None), help_option_names=["-h", "--help"])


def test_nothing_yet(medium: Medium) -> None:
    assert type_in(commands.turns, "list").output == "Nothing was asked yet.\n"
    assert type_in(commands.turns, "list", "--state", "failed").output == "Nothing like that was asked.\n"
    assert json.loads(type_in(commands.turns, "list", "--json").output) == []
    found = type_in(commands.feedback, "good").exception
    assert isinstance(found, TurnError)
    assert "metnos ask" in found.fix


def test_listed_the_newest_first(medium: Medium) -> None:
    medium.close(trace("01AAA"))
    medium.close(trace("01BBB", conversation="other", state=State.FAILED, text="a\x1b[31m very " + "long " * 30))
    listed = type_in(commands.turns, "list").output
    assert listed.index("01BBB") < listed.index("01AAA")
    assert "find_files move_files" in listed
    assert "\x1b" not in listed
    assert "…" in listed
    assert "01AAA" not in type_in(commands.turns, "list", "-n", "1").output
    assert "01AAA" not in type_in(commands.turns, "list", "--conversation", "other").output
    (only,) = json.loads(type_in(commands.turns, "list", "--state", "done", "--json").output)
    assert (only["id"], only["state"], only["asked"]) == ("01AAA", "done", "2026-11-15T12:00:00.000Z")


def test_shown_whole(medium: Medium) -> None:
    odd = step(3, "read_files", ok=False, kind="not_found", message="no \x1b[2Jfile", args={"path": "/a\x07", "n": [1]})
    medium.close(trace("01AAA", steps=(*trace().steps, odd), error="ModelError"))
    medium.feedback("01AAA", good=False, note="wrong folder")
    shown = type_in(commands.turns, "show", "aaa").output
    for words in (
        "You: move the PDFs in ~/inbox to ~/papers", "1. find_files  1 item", "to: /home/owner/papers",
        "metnos undo 01ACTION", "Metnos: Moved 1 file", "Error: ModelError", "Feedback: bad wrong folder",
        "metnos why 01AAA", "no \\x1b[2Jfile", "path: /a\\x07", "n: [1]",
    ):  # fmt: skip
        assert words in shown, words
    assert "\x1b" not in shown
    assert "\x07" not in shown
    found = json.loads(type_in(commands.turns, "show", "01AAA", "--json").output)
    assert found["steps"][0]["reply"]["count"] == 1
    assert (found["feedback"]["good"], found["state"], found["kept"]) == (False, "done", "whole")


def test_counts_of_a_step_in_words(medium: Medium) -> None:
    assert commands.found(step(reply={"count": 20, "total": 90, "failed": 2})) == "20 of 90, 2 failed"
    assert commands.found(step(ok=False, message="", kind="")) == "it did not succeed"


def test_forgotten(medium: Medium, equipped: app.App, monkeypatch: pytest.MonkeyPatch) -> None:
    made = secretive()
    medium.close(made)
    house = commands.open_app(Choice(None))
    record_turn(house.catalog.db, medium.facts(made.id))
    refused = type_in(commands.turns, "forget", "01SECRET")
    assert isinstance(refused.exception, Refused)
    assert medium.load("01SECRET").text
    monkeypatch.setattr(person, "is_at_terminal", lambda: True)
    monkeypatch.setattr(person, "read_line", lambda *_: "yes")
    assert type_in(commands.turns, "forget", "01SECRET").output == "Forgotten: turn 01SECRET\n"
    assert SECRET not in repr(medium.load("01SECRET"))
    assert proto.protos(house.catalog.db)[0].summary == ""
    assert kinds(equipped.workspace)[-2:] == ["turn forgotten"] * 2
    assert "was forgotten before" in type_in(commands.turns, "forget", "01SECRET").output
    shown = type_in(commands.turns, "show", "01SECRET").output
    assert "was forgotten, as you wished" in shown
    assert SECRET not in shown


def test_shown_when_it_was_summarised(medium: Medium, equipped: app.App) -> None:
    medium.close(trace())
    learning.catch_up(equipped)  # what was not learnt from yet is not summarised
    medium.retain(START + timedelta(days=400), 90, 5000)
    assert "a summary has what was said" in type_in(commands.turns, "show", "01TURN").output


def test_feedback_on_the_last_or_on_a_named_one(medium: Medium) -> None:
    medium.close(trace("01AAA"))
    medium.close(trace("01BBB", text="\x1b[31mred"))
    said = type_in(commands.feedback, "bad", "--note", "not this").output
    assert said == "Noted: bad, turn 01BBB (\\x1b[31mred)\n"
    assert "good, turn 01AAA" in type_in(commands.feedback, "good", "aaa").output
    first, last = medium.opinion("01AAA"), medium.opinion("01BBB")
    assert first is not None
    assert last is not None
    assert (first.good, last.good, last.note) == (True, False, "not this")
    assert type_in(commands.feedback, "so-so").exit_code == 2
    assert "bad" in type_in(commands.turns, "list").output


@pytest.mark.slow
def test_through_the_program_itself(workspace: Workspace, say: Say) -> None:
    place = ("--workspace", str(workspace.root))
    house = app.App.open(workspace)
    house.medium.close(trace("01AAA"))
    house.medium.db.close()
    assert "01AAA" in metnos(*place, "turns", "list").out
    assert "Noted: good" in say(*place, "feedback", "good").out
    assert "01AAA" in say(*place, "why").out
    unknown = say(*place, "turns", "show", "nonsense")
    assert unknown.code == 1
    assert "fix: See them: metnos turns list" in unknown.err
