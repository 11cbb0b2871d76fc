import os
import random
import shutil
import tarfile
import time
from functools import partial
from pathlib import Path

import pytest

from killing import PATIENCE_S, Say, at_work, killed_after
from metnos import app
from metnos.core.canon import sha256_file
from metnos.core.clock import SystemClock
from metnos.core.errors import AuditError, BackupError
from metnos.core.sections import Settings
from metnos.core.workspace import Workspace
from metnos.law import backup, founding
from metnos.law.audit_line import Entry
from metnos.law.principal import at_terminal
from metnos.law.restore import restore
from metnos.store.db import Database
from metnos.store.migrations import Migration
from suite import Repeat
from support import agreed, on_a_full_disk

SCHEMA = (Migration("0001", ("CREATE TABLE turns (id INTEGER PRIMARY KEY, lines INTEGER)",)),)


def quiet(_name: str, _size: int) -> None:
    pass


def names(path: Path) -> list[str]:
    with tarfile.open(path) as tar:
        return tar.getnames()


def test_the_whole_workspace_without_its_secret(opened: app.App, tmp_path: Path) -> None:
    (opened.workspace.executors / "read_files").mkdir()
    (opened.workspace.executors / "read_files" / "executor.py").write_text("pass")
    made = app.backup(opened.workspace, tmp_path / "b.tar.gz", None, quiet, opened.clock)
    found = names(made.path)
    assert {"SOUL.md", "metnos.toml", ".law/law.db", ".law/audit.db", ".audit/2026-11.jsonl", ".keys/agent.pub",
            "executors/read_files/executor.py"} < set(found)  # fmt: skip
    assert not [name for name in found if name.endswith((".key", "-wal", "-shm"))]
    secret = opened.workspace.secret_key.read_bytes().splitlines()[1]
    with tarfile.open(made.path) as tar:
        contents = [tar.extractfile(member) for member in tar]
        assert all(content is not None and secret not in content.read() for content in contents)
    assert made.path.stat().st_mode & 0o777 == 0o600


def test_what_depends_on_something_goes_in_before_it(opened: app.App, tmp_path: Path) -> None:
    Database(opened.workspace.memory / "medium.db", SCHEMA).close()
    Database(opened.workspace.memory / "grimoire.db", SCHEMA).close()
    order = names(app.backup(opened.workspace, tmp_path / "b.tar.gz", None, quiet, opened.clock).path)
    assert order.index("memory/grimoire.db") < order.index("memory/medium.db") < order.index(".audit/2026-11.jsonl")
    assert order.index(".law/law.db") < order.index(".law/audit.db")


def test_keys_only_if_asked_and_then_sealed(opened: app.App, tmp_path: Path) -> None:
    made = app.backup(opened.workspace, tmp_path / "b.tar.gz", "correct horse", quiet, opened.clock)
    assert backup.SEALED_KEYS in names(made.path)
    secret = opened.workspace.secret_key.read_bytes().splitlines()[1]
    with tarfile.open(made.path) as tar:
        sealed = tar.extractfile(backup.SEALED_KEYS)
        assert sealed is not None
        assert secret not in sealed.read()


def test_a_short_passphrase_and_a_file_that_is_there_are_refused(opened: app.App, tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="at least 8"):
        app.backup(opened.workspace, tmp_path / "b.tar.gz", "short", quiet, opened.clock)
    (tmp_path / "b.tar.gz").write_text("mine")
    with pytest.raises(BackupError, match="there already"):
        app.backup(opened.workspace, tmp_path / "b.tar.gz", None, quiet, opened.clock)
    assert (tmp_path / "b.tar.gz").read_text() == "mine"


@pytest.mark.parametrize("place", ["b.tar.gz", "memory/b.tar.gz", "backups/b.tar.gz"])
def test_a_backup_inside_what_it_backs_up_is_refused(opened: app.App, place: str) -> None:
    with pytest.raises(BackupError, match="inside the workspace"):
        app.backup(opened.workspace, opened.workspace.root / place, None, quiet)


@pytest.mark.parametrize("name", ["SOUL.md", "metnos.toml", "memory", ".audit"])
def test_a_part_that_is_a_link_is_refused_and_not_left_out(opened: app.App, tmp_path: Path, name: str) -> None:
    part = opened.workspace.root / name
    part.rename(tmp_path / "elsewhere")
    part.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BackupError, match="is a link"):
        app.backup(opened.workspace, tmp_path / "b.tar.gz", None, quiet)


def test_names_that_look_like_ours_are_kept_or_said(opened: app.App, tmp_path: Path) -> None:
    root = opened.workspace.root
    for name in ("manifest.json", "keys.sealed", "notes.tmp"):
        (root / name).write_text("mine")
    (root / ".USER.md.abcdefgh.tmp").write_text("half a file")
    (root / ".backup").mkdir()
    (root / ".backup" / "keys.sealed").write_text("mine")
    made = app.backup(opened.workspace, tmp_path / "b.tar.gz", None, quiet)
    assert {"manifest.json", "keys.sealed", "notes.tmp"} < set(names(made.path))
    assert ".USER.md.abcdefgh.tmp" not in names(made.path)
    assert made.manifest.skipped == (".backup/keys.sealed",)
    restored = Workspace(tmp_path / "restored")
    assert app.restore(made.path, restored, replace=False, passphrase=None, agree=agreed).keys == "new"
    assert (restored.root / "keys.sealed").read_text() == "mine"


def test_a_name_that_is_no_text_is_a_clear_error(opened: app.App, tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(opened.workspace.memory) + b"/\xff")).touch()
    with pytest.raises(BackupError, match="not valid UTF-8"):
        app.backup(opened.workspace, tmp_path / "b.tar.gz", None, quiet)


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_a_folder_that_cannot_be_read_is_an_error(opened: app.App, tmp_path: Path) -> None:
    (opened.workspace.memory / "closed").mkdir(mode=0)
    with pytest.raises(BackupError, match="Permission denied"):
        app.backup(opened.workspace, tmp_path / "b.tar.gz", None, quiet)


def test_a_folder_that_fails_while_it_is_read_is_an_error(
    opened: app.App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.scandir

    def failing(path: str) -> object:
        if str(path).endswith("memory"):
            raise OSError(5, "Input/output error", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", failing)
    with pytest.raises(BackupError, match="Input/output error"):
        app.backup(opened.workspace, tmp_path / "b.tar.gz", None, quiet)


def test_without_hard_links_it_works_too(opened: app.App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    made = app.backup(opened.workspace, tmp_path / "b.tar.gz", None, quiet)
    assert app.read_backup(made.path) == made.manifest
    with pytest.raises(BackupError, match="there already"):
        app.backup(opened.workspace, tmp_path / "b.tar.gz", None, quiet)


@pytest.mark.slow
def test_a_broken_workspace_can_be_backed_up_and_restored(opened: app.App, tmp_path: Path) -> None:
    """Damage is when one needs a backup, and old damage in the audit must not make every later backup worthless."""
    opened.workspace.soul.write_text("not a constitution")
    log = opened.workspace.audit / "2026-11.jsonl"
    log.write_bytes(log.read_bytes().replace(b"workspace created", b"workspace crested"))
    made = app.backup(opened.workspace, tmp_path / "b.tar.gz", None, quiet)
    assert made.faults[0].place == "2026-11.jsonl:2"
    elsewhere = Workspace(tmp_path / "elsewhere")
    done = app.restore(made.path, elsewhere, replace=False, passphrase=None, agree=agreed)
    assert done.faults[0].place == "2026-11.jsonl:2"
    assert elsewhere.soul.read_text() == "not a constitution"
    elsewhere.soul.unlink()
    app.found(elsewhere)
    assert app.App.open(elsewhere).constitution.laws


def test_it_is_recorded(opened: app.App, tmp_path: Path) -> None:
    made = app.backup(opened.workspace, tmp_path / "b.tar.gz", None, quiet)
    line = next(opened.audit.newest())
    assert (line.kind, line.entry.digests) == (backup.MADE, {"archive": sha256_file(made.path)})


def test_what_cannot_be_recorded_is_not_made(opened: app.App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AuditError("no")

    monkeypatch.setattr("metnos.law.audit.Audit.append", refused)
    with pytest.raises(AuditError):
        app.backup(opened.workspace, tmp_path / "b.tar.gz", None, quiet)
    assert not list(tmp_path.glob("*.tar.gz*")) + list(tmp_path.glob(".*.partial"))


@pytest.mark.parametrize(
    ("folder", "place"),
    [("/safe", "/safe"), ("beside", "PARENT/beside"), ("~no-such-user/x", "PARENT/~no-such-user/x")],
)
def test_the_folder_may_be_anything(opened: app.App, folder: str, place: str) -> None:
    opened.set_setting("backup.folder", folder, at_terminal())
    target = app.backup_target(opened.workspace, opened.clock)
    assert str(target.parent) == place.replace("PARENT", str(opened.workspace.root.parent))


def test_where_it_goes_when_no_place_is_named(opened: app.App) -> None:
    assert (
        app.backup_target(opened.workspace, opened.clock)
        == opened.workspace.root.parent / "metnos-backups" / "metnos-20261115T120000Z.tar.gz"
    )
    opened.set_setting("backup.folder", "~/safe", at_terminal())
    again = app.App.open(opened.workspace, opened.clock)
    assert app.backup_target(again.workspace, again.clock) == Path.home() / "safe" / "metnos-20261115T120000Z.tar.gz"


def _work(workspace: Workspace, _: Say) -> None:
    """A busy agent: each turn is recorded in the audit first and then in the conversations."""
    seat = founding.take_seat(workspace, Settings(), SystemClock())
    turns = Database(workspace.memory / "medium.db", SCHEMA, busy_timeout_s=30)
    while True:
        line = seat.audit.append(Entry("some act"))
        with turns.write() as tx:
            tx.execute("INSERT INTO turns (lines) VALUES (?)", (line.seq,))
        time.sleep(0.002)  # enough is written without it; more makes the archives long


def _wait_for_turns(workspace: Workspace, more_than: int) -> int:
    """Wait until more turns than these were recorded; how many."""
    deadline = time.monotonic() + PATIENCE_S
    turns = Database(workspace.memory / "medium.db", SCHEMA, busy_timeout_s=30)
    while (count := turns.query("SELECT count(*) FROM turns")[0][0]) <= more_than:
        assert time.monotonic() < deadline, "nobody writes"
        time.sleep(0.005)
    turns.close()
    return int(count)


@pytest.mark.slow
@pytest.mark.repeated
def test_consistent_while_others_write(workspace: Workspace, tmp_path: Path, repeat: Repeat) -> None:
    """A backup may lack the newest turn, but never holds a turn without its audit line, and its audit is unbroken."""
    made, written = [], 0
    with at_work(*[partial(_work, workspace)] * 3):
        for number in repeat("backups of a workspace that is being written", suite=2, soak=12):
            written = _wait_for_turns(workspace, written)
            made.append(app.backup(workspace, tmp_path / f"{number}.tar.gz", None, quiet))
    counts = []
    for number, each in enumerate(made):
        target = Workspace(tmp_path / f"restored-{number}")
        # That of the Laws' own code: the turns here are in a table of this test's own.
        restore(each.path, target, SystemClock(), replace=False, passphrase=None, agree=agreed)
        restored = Database(target.memory / "medium.db", read_only=True)
        (newest, count) = restored.first("SELECT max(lines), count(*) FROM turns") or (None, None)
        restored.close()
        assert app.verify_audit(target).sound
        assert newest <= (app.App.open(target).audit.head() or pytest.fail("no head")).seq
        counts.append(count)
    assert counts == sorted(counts)
    assert counts[-1] > counts[0], "nobody wrote meanwhile: the test proves nothing"


@pytest.mark.slow
@pytest.mark.repeated
def test_killed_half_way_it_leaves_no_archive_and_harms_nothing(
    workspace: Workspace, tmp_path: Path, repeat: Repeat
) -> None:
    chance = random.Random(2)
    (workspace.memory / "big").write_bytes(os.urandom(4 << 20))
    target = tmp_path / "backups" / "b.tar.gz"
    for _ in repeat("kills of a backup", suite=4, soak=60):
        killed_after(chance.random() * 0.13, lambda: app.backup(workspace, target, None, quiet))
        if target.exists():
            app.read_backup(target)
            target.unlink()
    assert app.verify_audit(workspace).sound
    app.backup(workspace, target, None, quiet)
    app.read_backup(target)


FULL = """
from pathlib import Path
from metnos import app
from metnos.core.errors import AuditError, BackupError
from metnos.core.workspace import Workspace
import os, sys
workspace = Workspace(Path(sys.argv[1]))
(workspace.memory / "big").write_bytes(os.urandom(2 << 20))
try:
    app.backup(workspace, Path("/mnt/b.tar.gz"), None, lambda *_: None)
except BackupError as error:
    assert "cannot be made" in error.what and "No space left" in error.what, error
    assert list(Path("/mnt").iterdir()) == [], list(Path("/mnt").iterdir())
    print("refused")
"""


@pytest.mark.slow
def test_a_full_disk_is_a_clear_error_and_leaves_nothing(workspace: Workspace, ordinary: Path) -> None:
    shutil.copytree(workspace.root, ordinary / "workspace")
    assert on_a_full_disk(FULL, str(ordinary / "workspace"), size=1 << 20) == "refused\n"
