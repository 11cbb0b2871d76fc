from pathlib import Path

import pytest

from metnos.core.errors import StoreBusy
from metnos.store.compact import compact
from metnos.store.db import Database
from metnos.store.migrations import Migration

MIGRATIONS = (Migration("0001_words", ("CREATE TABLE words (text TEXT NOT NULL) STRICT",)),)


def test_room_is_given_back_and_what_is_open_goes_on(tmp_path: Path) -> None:
    db = Database(tmp_path / "words.db", MIGRATIONS)
    with db.write() as tx:
        tx.execute_many("INSERT INTO words VALUES (?)", [("x" * 1000,)] * 2000)
    with db.write() as tx:
        tx.execute("DELETE FROM words WHERE rowid > 10")
    size = db.path.stat().st_size
    saved = compact(db.path)
    assert saved > 1_000_000
    assert db.path.stat().st_size <= size - saved
    assert db.query("SELECT count(*) FROM words") == [(10,)]
    with db.write() as tx:
        tx.execute("INSERT INTO words VALUES ('still here')")
    assert db.problems() == []
    db.close()


def test_it_waits_its_turn(tmp_path: Path) -> None:
    db = Database(tmp_path / "words.db", MIGRATIONS)
    with db.write(), pytest.raises(StoreBusy):
        compact(db.path, busy_timeout_s=0.01)
    db.close()
