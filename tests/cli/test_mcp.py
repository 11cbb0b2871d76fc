"""``metnos mcp`` at the terminal."""

import json
from pathlib import Path

import pytest

from cli.terminal import on_a_terminal
from executors.mcp import strange
from metnos.cli import person
from support import Say

pytestmark = pytest.mark.usefixtures("typist")


@pytest.fixture
def notes(root: Path, say: Say) -> str:
    """The executor of a server that was added."""
    ran = say("mcp", "add", "notes", "--reads", "search_notes", "--", *strange.command("honest"))
    assert ran.code == 0, ran.err
    return "search_notes_remote" if "search_notes_remote" in ran.out else "search_notes"


def test_adding_shows_what_it_may_do_and_says_it_bluntly(root: Path, say: Say) -> None:
    ran = say("mcp", "add", "notes", "--", *strange.command("honest"))
    assert ran.code == 0
    assert "cannot be undone; you are asked twice" in ran.out
    assert "outside the sandbox, with your rights" in ran.out
    assert "active" in ran.out


def test_what_was_added_is_listed_shown_and_removed(notes: str, say: Say) -> None:
    assert json.loads(say("mcp", "list", "--json").out)[0]["name"] == "notes"
    shown = say("mcp", "show", "notes").out
    assert notes in shown
    assert "it only reads" in shown
    tools = json.loads(say("mcp", "tools", "notes", "--json").out)
    assert tools == [
        {"tool": "search_notes", "executor": notes, "stands": "as agreed", "says": "Search the notes for words."}
    ]
    assert say("mcp", "remove", "notes", "--yes").code == 0
    assert json.loads(say("mcp", "list", "--json").out) == []
    assert say("executor", "run", notes, "--words", "a").code == 1


def test_a_call_waits_for_a_yes_and_then_answers(notes: str, say: Say) -> None:
    ran = say("executor", "run", notes, "--words", "milk")
    assert ran.code == 3
    item = ran.err.split()[-1]
    done = say("inbox", "approve", item)
    assert "found: milk" in done.out


def test_what_changed_is_named(root: Path, say: Say, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    say("mcp", "add", "notes", "--", *strange.command("changed", mark))
    mark.touch()
    ran = say("mcp", "tools", "notes")
    assert "CHANGED" in ran.out
    assert "--again" in ran.err
    assert say("mcp", "add", "notes", "--again").code == 0
    assert "as agreed" in say("mcp", "tools", "notes").out


def test_orders_are_shown_inert_and_not_kept(root: Path, say: Say) -> None:
    ran = say("mcp", "add", "notes", "--", *strange.command("orders"))
    assert "Ignore" not in ran.out
    assert "Ignore all previous" in say("mcp", "tools", "notes").out  # the owner may read what it says


def test_at_a_terminal_each_tool_is_asked_about(root: Path) -> None:
    ran = on_a_terminal(
        "mcp",
        "add",
        "notes",
        "--",
        *strange.command("honest"),
        typed=[("send something?", "reads"), ("Add notes", "notes")],
    )
    assert "it says of itself: Search the notes for words." in ran.out
    assert "it only reads" in ran.out
    assert "active" in ran.out


def test_what_was_changed_in_the_list_is_confirmed_by_typing_its_name(notes: str, root: Path, say: Say) -> None:
    path = root / "mcp.json"
    path.write_text(path.read_text().replace('"honest"', '"honest", "x"'))
    assert say("mcp", "tools", "notes").code == 1
    assert json.loads(say("mcp", "list", "--json").out)[0]["confirmed"] == "no"
    assert "metnos mcp confirm notes" in say("mcp", "show", "notes").err
    assert json.loads(say("mcp", "show", "notes", "--json").out)["confirmed"] is False
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(person, "is_at_terminal", lambda: False)
        assert say("mcp", "confirm", "notes").code == 1, "a script is no person"
    assert on_a_terminal("mcp", "confirm", "notes", typed=[("Type ", "yes")]).code == 1
    assert say("mcp", "tools", "notes").code == 1
    assert on_a_terminal("mcp", "confirm", "notes", typed=[("Type ", "notes")]).code == 0
    assert say("mcp", "tools", "notes").code == 0
    assert "already" in say("mcp", "confirm", "notes").out


@pytest.mark.parametrize(
    "wrong",
    [
        ("add", "notes"),
        ("add", "Notes", "--", "x"),
        ("add", "notes", "--may", "fly", "--", "x"),
        ("add", "notes", "--env", "TOKEN", "--", "x"),
        ("add", "notes", "--env", "TOKEN=secret", "--", "x"),
        ("add", "notes", "--again"),
        ("show", "nobody"),
        ("remove", "nobody", "--yes"),
    ],
)
def test_what_is_wrong_is_said_before_anything_starts(root: Path, say: Say, wrong: tuple[str, ...]) -> None:
    ran = say("mcp", *wrong)
    assert ran.code == 2
    assert "fix:" in ran.err
    assert not (root / "mcp.json").exists()


def test_a_command_that_cannot_be_started_adds_nothing(root: Path, say: Say) -> None:
    ran = say("mcp", "add", "notes", "--", "/nowhere/at-all")
    assert ran.code == 1
    assert not (root / "mcp.json").exists()
