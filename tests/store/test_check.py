import shutil
import sqlite3
from pathlib import Path

import pytest

from metnos.core.records import Level
from metnos.core.workspace import Workspace
from metnos.store import check
from metnos.store.check import check_databases, check_features
from metnos.store.db import Database
from metnos.store.file import is_database
from store.items import SCHEMA


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


def test_what_this_sqlite_lacks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    more = (*check._FEATURES, ("tables of stone", "CREATE VIRTUAL TABLE slabs USING stone(text)"))
    monkeypatch.setattr(check, "_FEATURES", more)
    found = check_features()
    assert found.level is Level.RED
    assert "tables of stone" in found.found
    assert "FTS5" not in found.found


def test_a_place_without_a_write_ahead_log_is_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "connect", lambda *_, **how: sqlite3.Connection(":memory:", **how))
    found = check_features()
    assert found.level is Level.RED
    assert "write-ahead log" in found.found


def test_a_database_that_was_cut_off_is_named(tmp_path: Path) -> None:
    Database(tmp_path / "cut.db", SCHEMA).close()
    whole = (tmp_path / "cut.db").read_bytes()
    (tmp_path / "cut.db").write_bytes(whole[:4096])
    (found,) = check_databases(tmp_path)
    assert found.level is Level.RED
    assert "cut.db" in found.found


def test_a_database_that_goes_away_meanwhile_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.db", "b.db"):
        Database(tmp_path / name, SCHEMA).close()

    def remove_the_other(path: Path) -> bool:
        (tmp_path / "b.db").unlink()
        return is_database(path)

    monkeypatch.setattr(check, "is_database", remove_the_other)
    (found,) = check_databases(tmp_path)
    assert found.level is Level.RED
    assert found.found.startswith("b.db")
