import random
from pathlib import Path

import pytest

from killing import killed_after
from metnos import app
from metnos.core import sign
from metnos.core.errors import BackupError
from metnos.core.workspace import Workspace
from suite import Repeat
from support import kinds


def quiet(_name: str, _size: int) -> None:
    pass


@pytest.fixture
def saved(opened: app.App, tmp_path: Path) -> Path:
    (opened.workspace.root / "USER.md").write_text("as it was")
    return app.backup(opened.workspace, tmp_path / "b.tar.gz", None, quiet, opened.clock).path


@pytest.fixture
def saved_with_keys(opened: app.App, tmp_path: Path) -> Path:
    return app.backup(opened.workspace, tmp_path / "k.tar.gz", "correct horse", quiet, opened.clock).path


def test_elsewhere_without_keys_it_is_a_new_agent_with_the_old_memory(saved: Path, tmp_path: Path) -> None:
    target = Workspace(tmp_path / "elsewhere")
    done = app.restore(saved, target, replace=False, passphrase=None)
    assert (done.kept, done.keys) == (None, "new")
    assert (target.root / "USER.md").read_text() == "as it was"
    assert kinds(target)[-2:] == ["key installed", "workspace restored"]
    assert app.verify_audit(target).sound
    assert app.App.open(target).audit.unfinished() == []


def test_elsewhere_with_keys_it_is_the_same_agent(saved_with_keys: Path, workspace: Workspace, tmp_path: Path) -> None:
    target = Workspace(tmp_path / "elsewhere")
    done = app.restore(saved_with_keys, target, replace=False, passphrase="correct horse")
    assert done.keys == "from the backup"
    assert target.secret_key.read_bytes() == workspace.secret_key.read_bytes()
    assert target.secret_key.stat().st_mode & 0o777 == 0o600
    assert not (target.root / ".backup").exists()
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
    assert not (target.root / ".backup").exists()


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


@pytest.mark.parametrize("broken", ["audit", "law", "key", "settings", "soul"])
def test_a_broken_workspace_is_replaced(saved: Path, workspace: Workspace, broken: str) -> None:
    """These are the cases that a restore exists for."""
    if broken in ("audit", "law"):
        path = workspace.law / f"{broken}.db"
        for side in workspace.law.glob(f"{broken}.db-*"):
            side.unlink()
        path.write_bytes(b"this is not a database, whatever it was before" * 20)
    elif broken == "key":
        workspace.secret_key.chmod(0o644)
    else:
        (workspace.settings if broken == "settings" else workspace.soul).write_text("[[[")
    done = app.restore(saved, workspace, replace=True, passphrase=None)
    assert app.App.open(workspace).constitution.laws
    assert app.verify_audit(workspace).sound
    assert done.keys == ("new" if broken == "key" else "kept from the workspace that was there")


def test_places_where_nothing_can_be_restored_are_clear_errors(saved: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for place, says in (("file", "is a file"), ("file/below", "nothing was restored")):
        with pytest.raises(BackupError, match=says):
            app.restore(saved, Workspace(tmp_path / place), replace=True, passphrase=None)
    with pytest.raises(BackupError, match="mount point"):
        app.restore(saved, Workspace(Path("/proc")), replace=True, passphrase=None)


def test_a_swap_that_fails_takes_nothing_away(
    saved: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever rename fails, the old workspace is whole somewhere, and nothing staged is left behind."""
    real = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if "restoring" in self.name:
            raise OSError(16, "Device or resource busy")
        return real(self, target)

    (workspace.root / "USER.md").write_text("newer")
    monkeypatch.setattr(Path, "rename", failing)
    kept = app.restore(saved, workspace, replace=True, passphrase=None).kept
    assert kept is not None
    assert (kept / "USER.md").read_text() == "newer"
    monkeypatch.setattr("metnos.core.files.exchange", lambda *_: False)
    (workspace.root / "USER.md").write_text("newest")
    with pytest.raises(BackupError, match="busy"):
        app.restore(saved, workspace, replace=True, passphrase=None)
    assert (workspace.root / "USER.md").read_text() == "newest"


@pytest.mark.slow
@pytest.mark.repeated
def test_killed_at_any_moment_there_is_a_whole_workspace(saved: Path, workspace: Workspace, repeat: Repeat) -> None:
    chance = random.Random(5)
    for _ in repeat("kills of a restore", suite=4, soak=60):
        killed_after(chance.random() * 0.07, lambda: app.restore(saved, workspace, replace=True, passphrase=None))
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
