"""``metnos undo`` and ``metnos redo``, over a real journal."""

import json
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from click.testing import CliRunner, Result

from executors.boxes import Box
from metnos.cli import person
from metnos.cli import undo as undo_commands
from metnos.core.errors import Refused, UndoError, UsageError


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Box:
    box = Box(tmp_path)
    monkeypatch.setattr(undo_commands, "open_app", lambda _: SimpleNamespace(undo=box.undo))
    return box


def run(command: click.Command, *arguments: str) -> Result:
    return CliRunner().invoke(command, arguments, obj=None, help_option_names=["-h", "--help"])


def write(box: Box, name: str) -> str:
    with box.begin(f"write {name}") as acting:
        acting.write(box.home / name, b"x")
    return acting.id


def test_list_show_undo_redo(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(undo_commands.undo, "--list").output == "Nothing was changed yet.\n"
    ident = write(box, "x")
    listed = run(undo_commands.undo, "--list").output
    assert "write x" in listed
    assert ident in listed
    (facts,) = json.loads(run(undo_commands.undo, "--list", "--json").output)
    assert (facts["id"], facts["state"], facts["effects"]) == (ident, "done", [["write", str(box.home / "x")]])
    assert f"remove {box.home / 'x'}" in run(undo_commands.undo, "--dry-run").output
    assert (box.home / "x").exists()
    assert run(undo_commands.undo, "--yes").output == "Undone: write x (1 change)\n"
    assert not (box.home / "x").exists()
    would = json.loads(run(undo_commands.redo, "--dry-run", "--json").output)["would"]
    assert would == [f"put back what was removed from {box.home / 'x'}"]
    monkeypatch.setattr(person, "is_at_terminal", lambda: True)
    monkeypatch.setattr(person, "read_line", lambda *_: "yes")
    assert json.loads(run(undo_commands.redo, ident, "--json").stdout)["state"] == "redone"
    assert (box.home / "x").read_bytes() == b"x"


def test_asks_and_takes_no_for_an_answer(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    write(box, "x")
    assert isinstance(run(undo_commands.undo).exception, UsageError)
    monkeypatch.setattr(undo_commands, "_on_a_terminal", lambda: True)
    refused = CliRunner().invoke(undo_commands.undo, help_option_names=["-h", "--help"], input="n\n")
    assert "nothing was changed" in refused.output
    assert (box.home / "x").exists()
    agreed = CliRunner().invoke(undo_commands.undo, help_option_names=["-h", "--help"], input="y\n")
    assert "Undone" in agreed.output
    assert not (box.home / "x").exists()


def test_only_a_person_does_it_again(box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    ident = write(box, "x")
    run(undo_commands.undo, "--yes")
    assert run(undo_commands.redo, ident, "--yes").exit_code == 2, "no option stands for a person"
    assert isinstance(run(undo_commands.redo, ident).exception, Refused)
    monkeypatch.setattr(person, "is_at_terminal", lambda: True)
    for typed in (None, "", "y", "no"):
        monkeypatch.setattr(person, "read_line", lambda *_, typed=typed: typed)
        assert isinstance(run(undo_commands.redo, ident).exception, Refused)
    assert not (box.home / "x").exists()


def test_a_conflict_is_shown_and_refused(box: Box) -> None:
    ident = write(box, "x")
    (box.home / "x").write_text("changed")
    assert "cannot: " in run(undo_commands.undo, ident, "--dry-run").output
    assert isinstance(run(undo_commands.undo, ident, "--yes").exception, UndoError)
    assert run(undo_commands.undo, ident, "--list").exit_code == 2
