import multiprocessing
import os
import signal
import tarfile
import time
from pathlib import Path

import pytest

from metnos import app
from metnos.core.clock import SystemClock
from metnos.core.errors import BackupError
from metnos.core.settings import Settings
from metnos.core.workspace import Workspace
from metnos.law import backup, founding
from metnos.law.audit_line import Entry
from metnos.store.db import Database
from metnos.store.migrations import Migration
from support import on_a_full_disk

SCHEMA = (Migration("0001", ("CREATE TABLE turns (id INTEGER PRIMARY KEY, lines INTEGER)",)),)


def quiet(_name: str, _size: int) -> None:
    pass


def names(path: Path) -> list[str]:
    with tarfile.open(path) as tar:
        return tar.getnames()


def test_the_whole_workspace_without_its_secret(opened: app.App, tmp_path: Path) -> None:
    (opened.workspace.executors / "read_files").mkdir()
    (opened.workspace.executors / "read_files" / "executor.py").write_text("pass")
    made = opened.backup(tmp_path / "b.tar.gz", None, quiet)
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
    order = names(opened.backup(tmp_path / "b.tar.gz", None, quiet).path)
    assert order.index("memory/grimoire.db") < order.index("memory/medium.db") < order.index(".audit/2026-11.jsonl")
    assert order.index(".law/law.db") < order.index(".law/audit.db")


def test_keys_only_if_asked_and_then_sealed(opened: app.App, tmp_path: Path) -> None:
    made = opened.backup(tmp_path / "b.tar.gz", "correct horse", quiet)
    assert backup.SEALED_KEYS in names(made.path)
    secret = opened.workspace.secret_key.read_bytes().splitlines()[1]
    with tarfile.open(made.path) as tar:
        sealed = tar.extractfile(backup.SEALED_KEYS)
        assert sealed is not None
        assert secret not in sealed.read()


def test_a_short_passphrase_and_a_file_that_is_there_are_refused(opened: app.App, tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="at least 8"):
        opened.backup(tmp_path / "b.tar.gz", "short", quiet)
    (tmp_path / "b.tar.gz").write_text("mine")
    with pytest.raises(BackupError, match="there already"):
        opened.backup(tmp_path / "b.tar.gz", None, quiet)
    assert (tmp_path / "b.tar.gz").read_text() == "mine"


def test_backups_inside_the_workspace_do_not_hold_each_other(opened: app.App) -> None:
    folder = opened.workspace.root / "backups"
    opened.backup(folder / "1.tar.gz", None, quiet)
    second = opened.backup(folder / "2.tar.gz", None, quiet)
    assert not [name for name in names(second.path) if "backups" in name]
    with pytest.raises(BackupError, match="top folder"):
        opened.backup(opened.workspace.root / "3.tar.gz", None, quiet)


def test_it_is_recorded(opened: app.App, tmp_path: Path) -> None:
    opened.backup(tmp_path / "b.tar.gz", None, quiet)
    lines = [line for line in opened.audit.newest() if line.kind == backup.MADE]
    assert [line.entry.names["phase"] for line in lines] == ["done", "intent"]


def test_where_it_goes_when_no_place_is_named(opened: app.App) -> None:
    assert opened.backup_target() == opened.workspace.root.parent / "metnos-backups" / "metnos-20261115T120000Z.tar.gz"
    opened.set_setting("backup.folder", "~/safe")
    again = app.App.open(opened.workspace, opened.clock)
    assert again.backup_target() == Path.home() / "safe" / "metnos-20261115T120000Z.tar.gz"


def _work(workspace: Workspace) -> None:
    """A busy agent: each turn is recorded in the audit first and then in the conversations."""
    seat = founding.take_seat(workspace, Settings(), SystemClock())
    turns = Database(workspace.memory / "medium.db", SCHEMA, busy_timeout_s=30)
    while True:
        line = seat.audit.append(Entry("some act"))
        with turns.write() as tx:
            tx.execute("INSERT INTO turns (lines) VALUES (?)", (line.seq,))


def test_consistent_while_others_write(workspace: Workspace, tmp_path: Path) -> None:
    """A backup may lack the newest turn, but never holds a turn without its audit line, and its audit is unbroken."""
    opened = app.App.open(workspace)
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_work, args=(workspace,), daemon=True) for _ in range(3)]
    for worker in workers:
        worker.start()
    time.sleep(0.2)
    try:
        made = [opened.backup(tmp_path / f"{number}.tar.gz", None, quiet) for number in range(4)]
    finally:
        for worker in workers:
            worker.kill()
            worker.join()
    counts = []
    for number, each in enumerate(made):
        target = Workspace(tmp_path / f"restored-{number}")
        app.restore(each.path, target, replace=False, passphrase=None)
        restored = Database(target.memory / "medium.db", read_only=True)
        (newest, count) = restored.first("SELECT max(lines), count(*) FROM turns") or (None, None)
        restored.close()
        assert app.verify_audit(target).sound
        assert newest <= (app.App.open(target).audit.head() or pytest.fail("no head")).seq
        counts.append(count)
    assert counts == sorted(counts)
    assert counts[-1] > counts[0], "nobody wrote meanwhile: the test proves nothing"


def test_killed_half_way_it_leaves_no_archive_and_harms_nothing(workspace: Workspace, tmp_path: Path) -> None:
    (workspace.memory / "big").write_bytes(os.urandom(4 << 20))
    target = tmp_path / "backups" / "b.tar.gz"
    for attempt in range(6):
        child = os.fork()
        if child == 0:
            try:
                app.App.open(workspace).backup(target, None, quiet)
            finally:
                os._exit(0)
        time.sleep(0.01 + attempt * 0.02)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if target.exists():
            app.read_backup(target)
            target.unlink()
    assert app.verify_audit(workspace).sound
    app.App.open(workspace).backup(target, None, quiet)
    app.read_backup(target)


FULL = """
from pathlib import Path
from metnos import app
from metnos.core.errors import BackupError
from metnos.core.workspace import Workspace
import os, sys
workspace = Workspace(Path(sys.argv[1]))
(workspace.memory / "big").write_bytes(os.urandom(2 << 20))
try:
    app.App.open(workspace).backup(Path("/mnt/b.tar.gz"), None, lambda *_: None)
except BackupError as error:
    assert "cannot be written" in error.what and "No space left" in error.what, error
    assert list(Path("/mnt").iterdir()) == [], list(Path("/mnt").iterdir())
    print("refused")
"""


def test_a_full_disk_is_a_clear_error_and_leaves_nothing(workspace: Workspace) -> None:
    assert on_a_full_disk(FULL, str(workspace.root), size=1 << 20) == "refused\n"
