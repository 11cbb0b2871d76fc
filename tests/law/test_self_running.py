"""What something runs or obeys by itself, by every name, and what of it counts among notes."""

from pathlib import Path

import pytest

from executors.hands import TARGET, give, home, run
from metnos.app import App
from metnos.core.errors import Waiting
from metnos.law.self_running import STARTED_FROM, SelfRunning

NOTE = """
def run(args, ctx):
    ctx.write(args["target"], "new", overwrite=True)
    return {"results": []}
"""


def test_any_name_of_a_path_makes_it_run() -> None:
    running = SelfRunning(started=(Path("/home/me/srv/mcp"),))
    assert running.find([Path("/home/me/letter")]) is None
    assert running.find([Path("/home/me/x"), Path("/home/me/bin/x")]) == "programs"
    assert running.find([Path("/home/me/srv/mcp/server.py")]) == STARTED_FROM
    assert running.find([Path("/home/me/srv/mcp2")]) is None
    assert running.places_below(Path("/home/me/srv")) == {"/home/me/srv/mcp"}
    assert running.places_below(Path("/home/me/srv/mcp")) == frozenset()


def test_a_note_may_be_called_as_what_agents_obey() -> None:
    running = SelfRunning(notes=(Path("/home/me/.config/metnos/notes"),))
    notes = Path("/home/me/.config/metnos/notes")
    for name in ("", "agents.md", "CLAUDE.md", "Makefile", "skill.md", "bin/x", "conventions.md"):
        assert running.find([notes / name]) is None, name
    for name in ("a.desktop", "autostart/x", "x/Autostart/y", "a.AppImage"):
        assert running.find([notes / name]) is not None, name
    assert running.find([notes / "a.md", Path("/home/me/bin/a.md")]) == "programs"


@pytest.mark.parametrize("name", ["agents", "skill", "claude", "Conventions", "Makefile"])
def test_such_a_note_is_kept_unasked(equipped: App, name: str) -> None:
    outcome = run(equipped, "append_notes", text="milk", note=name)
    assert (outcome.ok, outcome.reply.get("failures", [])) == (True, [])
    assert any(path.stem.casefold() == name.casefold() for path in equipped.workspace.notes.iterdir())


def test_what_starts_wherever_it_lies_is_asked_about_in_the_notes_too(equipped: App) -> None:
    fields = {"kind": "mutator", "reversal": "restore_content", "args": {"target": TARGET}}
    give(equipped, NOTE, name="write_files", capabilities={"fs": {"write": ["{workspace}/notes/**"]}}, **fields)
    notes = equipped.workspace.notes
    assert run(equipped, "write_files", target=str(notes / "AGENTS.md")).ok
    (notes / "autostart").mkdir()
    for name in ("a.desktop", "autostart/x"):
        with pytest.raises(Waiting):
            run(equipped, "write_files", target=str(notes / name))
    (home() / "bin").symlink_to(notes)
    with pytest.raises(Waiting):
        run(equipped, "write_files", target=str(notes / "ls"))
