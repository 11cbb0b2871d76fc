import shutil
from pathlib import Path

from metnos.core.records import Level
from metnos.core.workspace import Workspace
from metnos.store.check import check_databases, check_features


def test_the_sqlite_here_has_what_we_need() -> None:
    assert check_features().level is Level.GREEN


def test_sound_databases_are_counted(workspace: Workspace) -> None:
    (found,) = check_databases(workspace.root)
    assert (found.level, found.found) == (Level.GREEN, "2 of 2 sound")


def test_a_damaged_database_is_named(workspace: Workspace) -> None:
    path = workspace.law_db
    content = bytearray(path.read_bytes())
    content[100:3000] = b"\xff" * 2900
    path.write_bytes(content)
    shutil.rmtree(path.with_name("law.db-wal"), ignore_errors=True)
    for side in ("law.db-wal", "law.db-shm"):
        path.with_name(side).unlink(missing_ok=True)
    (found,) = check_databases(workspace.root)
    assert found.level is Level.RED
    assert ".law/law.db" in found.found


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("hello, I am a letter")
    (found,) = check_databases(tmp_path)
    assert found.level is Level.RED
    assert "x.db" in found.found
