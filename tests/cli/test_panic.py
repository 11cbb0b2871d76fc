"""Panic where the workspace cannot be opened, and where the disk is full: what runs ends, and nothing acts after it."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from metnos.app import App
from metnos.app.panic import panic
from metnos.core.errors import WorkspaceError
from metnos.core.workspace import Workspace
from metnos.executors.catalog import Catalog
from metnos.law.halt import Halts
from metnos.law.halt_file import HaltFile
from metnos.law.running import RunningList
from metnos.sandbox import process
from support import ROOT, Say, on_a_full_disk


@pytest.fixture
def sleeper(workspace: Workspace) -> Iterator["subprocess.Popen[bytes]"]:
    """Something that runs, and that only a panic would end."""
    with subprocess.Popen(["/bin/sleep", "600"]) as running:
        RunningList(workspace.running_list).add(running.pid, process.start_time(running.pid))
        yield running
        running.kill()


def spoil(workspace: Workspace, what: str) -> None:
    if what == "settings":
        workspace.settings.write_text("this is no [TOML")
    elif what == "constitution":
        workspace.soul.unlink()
    elif what == "key":
        workspace.secret_key.unlink()
    elif what == "store":
        workspace.law_db.write_bytes(b"no database at all" * 300)
    elif what == "audit":
        workspace.audit_db.write_bytes(b"no database at all" * 300)
    elif what == "everything":
        for path in (workspace.settings, workspace.soul, workspace.law_db, workspace.audit_db, workspace.secret_key):
            path.write_bytes(b"nothing of use")
            path.chmod(0o600)


@pytest.mark.parametrize("broken", ["settings", "constitution", "key", "store", "audit", "everything"])
def test_it_works_on_a_broken_workspace(
    workspace: Workspace, sleeper: "subprocess.Popen[bytes]", broken: str, say: Say
) -> None:
    spoil(workspace, broken)
    said = say("--workspace", str(workspace.root), "executor", "panic", "--reason", "smoke")
    assert (said.code, "Sandboxes stopped: 1" in said.out) == (0, True), said
    assert sleeper.wait(60) == -9
    note = HaltFile(workspace.halt_file).read()
    assert (note.halted, note.reason) == (True, "smoke")
    assert "cannot be opened" in said.err


def test_a_broken_setting_is_mended_and_the_halt_is_in_every_record(workspace: Workspace, say: Say) -> None:
    sound = workspace.settings.read_bytes()
    spoil(workspace, "settings")
    said = say("--workspace", str(workspace.root), "executor", "panic", "--reason", "smoke")
    assert said.err.count("note:") == 1, "store and audit need no settings"
    workspace.settings.write_bytes(sound)
    opened = App.open(workspace)
    assert [line.kind for line in opened.audit.newest()].count("everything halted") == 1
    assert "smoke" in (opened.halts.why() or "")


def test_a_folder_in_the_place_of_the_halt_file_keeps_nothing_from_being_recorded(
    workspace: Workspace, sleeper: "subprocess.Popen[bytes]", say: Say
) -> None:
    workspace.halt_file.unlink()
    workspace.halt_file.mkdir()
    said = say("--workspace", str(workspace.root), "executor", "panic", "--reason", "smoke")
    assert (said.code, "Sandboxes stopped: 1" in said.out) == (0, True), said
    assert "smoke" in (App.open(workspace).halts.why() or "")


@pytest.mark.parametrize("fails", ["file", "record"])
def test_what_fails_keeps_no_other_step_from_being_tried(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    def broken(*_: object) -> None:
        raise WorkspaceError("the disk is broken")

    disabled: list[str] = []
    monkeypatch.setattr(*((HaltFile, "halt", broken) if fails == "file" else (Halts, "record", broken)))
    monkeypatch.setattr(Catalog, "panic", lambda _, reason: disabled.append(reason) or ["some_executor"])
    stopped = panic(workspace, "smoke")
    assert (len(stopped.problems), stopped.disabled, disabled) == (1, ("some_executor",), ["smoke"])
    monkeypatch.undo()
    assert App.open(workspace).halts.halted() is not None


def test_a_halt_by_a_removed_file_holds_and_is_no_failure(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise WorkspaceError("the disk is broken")

    monkeypatch.setattr(HaltFile, "_try_to_halt", lambda *_: (_ for _ in ()).throw(OSError(5, "Input/output error")))
    monkeypatch.setattr(HaltFile, "create", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    monkeypatch.setattr(Halts, "record", broken)
    assert panic(workspace, "smoke").problems
    monkeypatch.undo()
    assert not workspace.halt_file.exists()
    assert App.open(workspace).halts.halted() is not None


def test_where_there_is_no_workspace_it_says_so_and_makes_nothing(tmp_path: Path, say: Say) -> None:
    said = say("--workspace", str(tmp_path / "none"), "executor", "panic")
    assert (said.code, "no workspace" in said.err) == (1, True)
    assert not (tmp_path / "none").exists()


def test_a_workspace_of_an_older_version_is_halted_too(workspace: Workspace, say: Say) -> None:
    workspace.halt_file.unlink()
    workspace.running_list.unlink()
    spoil(workspace, "settings")
    assert say("--workspace", str(workspace.root), "executor", "panic").code == 0
    assert HaltFile(workspace.halt_file).read().halted


@pytest.mark.slow
def test_it_works_while_the_disk_is_full() -> None:
    seen = json.loads(on_a_full_disk(FULL_DISK, str(ROOT / "tests"), size=2 << 20))
    assert seen == {"code": 0, "ended": -9, "halted": True, "told": True}


FULL_DISK = """
import contextlib, io, json, subprocess, sys
from pathlib import Path
from metnos import app, cli
from metnos.core.workspace import Workspace
from metnos.core.clock import SystemClock
from metnos.core.sections import Settings
from metnos.law import founding
from metnos.law.halt_file import HaltFile
from metnos.law.running import RunningList
from metnos.sandbox import process

workspace = Workspace(Path("/mnt/workspace"))
founding.found(workspace, Settings(), SystemClock())
app.App.open(workspace).close()
running = subprocess.Popen(["/bin/sleep", "600"])
RunningList(workspace.running_list).add(running.pid, process.start_time(running.pid))
with open("/mnt/filler", "wb", buffering=0) as file, contextlib.suppress(OSError):
    while True:
        file.write(b"x" * 64)
heard = io.StringIO()
with contextlib.redirect_stdout(heard), contextlib.redirect_stderr(heard):
    code = cli.main(["--workspace", str(workspace.root), "executor", "panic", "--reason", "smoke"])
print(json.dumps({
    "code": code, "ended": running.wait(60), "halted": HaltFile(workspace.halt_file).read().halted,
    "told": "not recorded" in heard.getvalue() or "cannot be opened" in heard.getvalue(),
}))
"""
