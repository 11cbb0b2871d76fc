"""A restore that a panic comes between, and one that is killed: what was stopped stays so, no key is left."""

import shutil
import threading
import time
from pathlib import Path

import pytest

from killing import Say, at_work, wait_for_a_word
from metnos import app
from metnos.app.examining import examine
from metnos.core.fixed_file import FixedFile
from metnos.core.records import Level
from metnos.core.workspace import Workspace
from metnos.law import restore as restoring
from metnos.law.arrival import Arrival
from metnos.law.halt_file import HaltFile
from metnos.law.staging import check_leftovers, remove_leftovers
from support import agreed

WORDS = "correct horse"


@pytest.fixture
def saved(opened: app.App, tmp_path: Path) -> Path:
    return app.backup(opened.workspace, tmp_path / "k.tar.gz", WORDS, lambda *_: None, opened.clock).path


@pytest.mark.parametrize("for_good", [False, True])
@pytest.mark.parametrize("step", ["_say_goodbye", "_take_place"])
def test_a_panic_while_a_backup_is_restored_holds(
    saved: Path, opened: app.App, monkeypatch: pytest.MonkeyPatch, step: str, for_good: bool
) -> None:
    note = opened.halts.note("fire", for_good=for_good)
    really = getattr(restoring, step)

    def meanwhile(*arguments: object) -> object:
        HaltFile(opened.workspace.halt_file).halt(note)
        return really(*arguments)

    monkeypatch.setattr(restoring, step, meanwhile)
    app.restore(saved, opened.workspace, replace=True, passphrase=None, agree=agreed)
    restored = app.App.open(opened.workspace)
    assert "fire" in (restored.halts.why() or "")
    assert restored.halts.is_for_good() == for_good
    assert restored.halts.file.read().id == note.id


def test_a_panic_that_waits_while_the_folders_are_exchanged_halts_what_is_there_then(
    saved: Path, opened: app.App, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = opened.halts.note("fire")
    begun: list[threading.Thread] = []
    really = restoring._take_place

    def meanwhile(*arguments: object) -> object:
        with FixedFile(opened.workspace.halt_file).held():
            begun.append(threading.Thread(target=HaltFile(opened.workspace.halt_file).halt, args=(note,)))
            begun[0].start()
            return really(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(restoring, "_take_place", meanwhile)
    app.restore(saved, opened.workspace, replace=True, passphrase=None, agree=agreed)
    begun[0].join(60)
    assert "fire" in (app.App.open(opened.workspace).halts.why() or "")


def test_what_a_killed_restore_left_is_named_and_the_next_one_removes_it(saved: Path, opened: app.App) -> None:
    def hang(say: Say) -> None:
        def ask(_: Arrival) -> None:
            say("asked")
            time.sleep(600)

        app.restore(saved, opened.workspace, replace=True, passphrase=WORDS, agree=ask)

    root = opened.workspace.root
    with at_work(hang) as (worker,):
        wait_for_a_word(worker)
        assert list(check_leftovers(root)) == [], "it goes on"
        remove_leftovers(root)
        (left,) = root.parent.glob(f".{root.name}.restoring-*")
        assert (left / ".keys" / "agent.key").exists()
        worker.kill()
    (named,) = check_leftovers(root)
    assert (named.level, str(left) in named.found) == (Level.YELLOW, True)
    assert any(str(left) in check.found for check in examine(opened.workspace, opened.clock))
    app.restore(saved, opened.workspace, replace=True, passphrase=None, agree=agreed)
    assert not left.exists()
    assert list(check_leftovers(root)) == []


def test_a_workspace_that_a_killed_restore_put_aside_is_never_removed(saved: Path, workspace: Workspace) -> None:
    aside = workspace.root.with_name(f".{workspace.root.name}.restoring-{workspace.root.stat().st_ino + 1}-abcdefgh")
    shutil.copytree(workspace.root, aside)
    foreign = workspace.root.with_name(f".{workspace.root.name}.restoring-abcdefgh")
    foreign.mkdir()
    app.restore(saved, workspace, replace=True, passphrase=None, agree=agreed)
    assert (aside / ".keys" / "agent.key").exists()
    assert foreign.is_dir()
    assert len(list(check_leftovers(workspace.root))) == 2
