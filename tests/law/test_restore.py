import os
import signal
import time
from pathlib import Path

import pytest

from metnos import app
from metnos.core import sign
from metnos.core.errors import BackupError
from metnos.core.workspace import Workspace
from support import kinds


def quiet(_name: str, _size: int) -> None:
    pass


@pytest.fixture
def saved(opened: app.App, tmp_path: Path) -> Path:
    (opened.workspace.root / "USER.md").write_text("as it was")
    return opened.backup(tmp_path / "b.tar.gz", None, quiet).path


@pytest.fixture
def saved_with_keys(opened: app.App, tmp_path: Path) -> Path:
    return opened.backup(tmp_path / "k.tar.gz", "correct horse", quiet).path


def test_elsewhere_without_keys_it_is_a_new_agent_with_the_old_memory(saved: Path, tmp_path: Path) -> None:
    target = Workspace(tmp_path / "elsewhere")
    done = app.restore(saved, target, replace=False, passphrase=None)
    assert (done.kept, done.keys) == (None, "new")
    assert (target.root / "USER.md").read_text() == "as it was"
    assert kinds(target)[-3:] == ["key installed", "constitution pinned", "workspace restored"]
    assert app.verify_audit(target).sound
    assert app.App.open(target).audit.unfinished()[0].kind == "backup", "it was made while the backup was going on"


def test_elsewhere_with_keys_it_is_the_same_agent(saved_with_keys: Path, workspace: Workspace, tmp_path: Path) -> None:
    target = Workspace(tmp_path / "elsewhere")
    done = app.restore(saved_with_keys, target, replace=False, passphrase="correct horse")
    assert done.keys == "from the backup"
    assert target.secret_key.read_bytes() == workspace.secret_key.read_bytes()
    assert target.secret_key.stat().st_mode & 0o777 == 0o600
    assert not (target.root / "keys.sealed").exists()
    assert app.verify_audit(target).sound
    assert "key installed" not in kinds(target)[-1:]


def test_a_wrong_passphrase_restores_nothing(saved_with_keys: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    with pytest.raises(BackupError, match="passphrase"):
        app.restore(saved_with_keys, Workspace(target), replace=False, passphrase="wrong horse")
    assert not target.exists()
    assert not list(tmp_path.glob(".elsewhere*"))


def test_sealed_keys_are_not_left_lying_when_not_wanted(saved_with_keys: Path, tmp_path: Path) -> None:
    target = Workspace(tmp_path / "elsewhere")
    assert app.restore(saved_with_keys, target, replace=False, passphrase=None).keys == "new"
    assert not (target.root / "keys.sealed").exists()


def test_a_workspace_that_is_there_is_kept_and_replaced_only_on_purpose(saved: Path, workspace: Workspace) -> None:
    (workspace.root / "USER.md").write_text("newer")
    with pytest.raises(BackupError) as caught:
        app.restore(saved, workspace, replace=False, passphrase=None)
    assert "--replace" in caught.value.fix
    assert (workspace.root / "USER.md").read_text() == "newer"
    secret = workspace.secret_key.read_bytes()
    done = app.restore(saved, workspace, replace=True, passphrase=None)
    assert done.keys == "kept from the workspace that was there"
    assert workspace.secret_key.read_bytes() == secret
    assert (workspace.root / "USER.md").read_text() == "as it was"
    assert done.kept is not None
    assert (done.kept / "USER.md").read_text() == "newer"
    assert kinds(Workspace(done.kept))[-1] == "workspace replaced"
    assert kinds(workspace)[-1] == "workspace restored"
    assert app.verify_audit(workspace).sound
    assert not list(workspace.root.parent.glob(".workspace.restoring*"))


def test_twice_at_the_same_second_keeps_both(
    saved: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = app.restore(saved, workspace, replace=True, passphrase=None).kept
    second = app.restore(saved, workspace, replace=True, passphrase=None).kept
    assert first != second
    assert first is not None
    assert first.is_dir()
    assert second is not None
    assert second.is_dir()


def test_without_an_atomic_exchange_it_works_too(
    saved: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("metnos.core.files.exchange", lambda *_: False)
    done = app.restore(saved, workspace, replace=True, passphrase=None)
    assert done.kept is not None
    assert app.verify_audit(workspace).sound


def test_into_an_empty_folder(saved: Path, tmp_path: Path) -> None:
    target = Workspace(tmp_path / "empty")
    target.root.mkdir()
    assert app.restore(saved, target, replace=False, passphrase=None).kept is None
    assert app.App.open(target).constitution.laws


def test_a_damaged_archive_restores_nothing(saved: Path, workspace: Workspace) -> None:
    content = bytearray(saved.read_bytes())
    content[len(content) // 2] ^= 0xFF
    saved.write_bytes(content)
    before = {path: path.stat().st_ino for path in workspace.root.rglob("*")}
    with pytest.raises(BackupError, match="damaged"):
        app.restore(saved, workspace, replace=True, passphrase=None)
    assert {path: path.stat().st_ino for path in workspace.root.rglob("*")} == before


def test_a_backup_whose_audit_was_broken_before_is_refused(opened: app.App, tmp_path: Path) -> None:
    log = opened.workspace.audit / "2026-11.jsonl"
    log.write_bytes(log.read_bytes().replace(b"workspace created", b"workspace crested"))
    made = opened.backup(tmp_path / "b.tar.gz", None, quiet)
    with pytest.raises(BackupError, match="audit in this backup does not hold"):
        app.restore(made.path, Workspace(tmp_path / "elsewhere"), replace=False, passphrase=None)


def test_killed_at_any_moment_there_is_a_whole_workspace(saved: Path, workspace: Workspace) -> None:
    for attempt in range(12):
        child = os.fork()
        if child == 0:
            try:
                app.restore(saved, workspace, replace=True, passphrase=None)
            finally:
                os._exit(0)
        time.sleep(attempt * 0.006)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        app.found(workspace)
        assert app.App.open(workspace).constitution.laws
        assert app.verify_audit(workspace).sound


def test_the_key_of_another_agent_is_not_taken_over(saved: Path, workspace: Workspace, tmp_path: Path) -> None:
    sign.make_keys(tmp_path / "s", tmp_path / "p")
    (tmp_path / "s").replace(workspace.secret_key)
    stranger = workspace.secret_key.read_bytes()
    done = app.restore(saved, workspace, replace=True, passphrase=None)
    assert done.keys == "new"
    assert workspace.secret_key.read_bytes() != stranger
    assert done.kept is not None
    assert Workspace(done.kept).secret_key.read_bytes() == stranger
