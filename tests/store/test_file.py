import os
import sqlite3
import threading
from pathlib import Path

import pytest

from metnos.core.errors import StoreCorrupt
from metnos.store import file
from metnos.store.check import check_databases
from metnos.store.db import Database
from metnos.store.file import copy_database, is_database
from store.items import SCHEMA, add


def held(path: Path) -> int:
    """How many locks this process holds on the files of a database, as the kernel lists them."""
    inodes = {str(each.stat().st_ino) for each in path.parent.glob(f"{path.name}*")}
    lines = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    return sum(line[4] == str(os.getpid()) and line[5].split(":")[2] in inodes for line in lines if line[1] == "POSIX")


def test_looking_at_a_database_drops_no_lock_of_it(db: Database, tmp_path: Path) -> None:
    """Closing any descriptor of a file drops all locks of the process on it: so nobody but SQLite may open it."""
    add(db, "one")
    with db.read() as tx:
        tx.query("SELECT * FROM items")
        before = held(db.path)
        assert before > 0
        Database(db.path, SCHEMA).close()
        Database(db.path, read_only=True).close()
        is_database(db.path)
        copy_database(db.path, tmp_path / "copy.db")
        list(check_databases(tmp_path))
        assert held(db.path) == before


@pytest.mark.slow
def test_a_copy_is_whole_and_comes_to_an_end_while_others_write(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two rows always come together; a copy that held one without the other would be torn.

    In such small steps something is written between any two of them.
    """
    monkeypatch.setattr(file, "_BACKUP_PAGES", 1)
    with db.write() as tx:
        tx.execute_many("INSERT INTO items (name) VALUES (?)", [(f"filler {n} " + "x" * 400,) for n in range(4000)])
    stop = threading.Event()

    def pairs() -> None:
        number = 0
        while not stop.is_set():
            with db.write() as tx:
                tx.execute("INSERT INTO items (name) VALUES (?)", (f"pair {number} a",))
                tx.execute("INSERT INTO items (name) VALUES (?)", (f"pair {number} b",))
            number += 1

    writer = threading.Thread(target=pairs)
    writer.start()
    try:
        for number in range(5):
            copy_database(db.path, tmp_path / f"copy-{number}.db")
    finally:
        stop.set()
        writer.join()
    for number in range(5):
        copy = Database(tmp_path / f"copy-{number}.db", read_only=True)
        assert copy.problems() == []
        (count,) = copy.first("SELECT count(*) FROM items WHERE name LIKE 'pair%'") or (None,)
        assert count % 2 == 0
        copy.close()
        assert not list(tmp_path.glob(f"copy-{number}.db-*")), "a copy must be able to travel alone"


def test_a_copy_of_a_damaged_database_is_refused(db: Database, tmp_path: Path) -> None:
    damage(db)
    with pytest.raises(StoreCorrupt):
        copy_database(db.path, tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()
    assert not list(tmp_path.glob("*.tmp")) + list(tmp_path.glob(".*.tmp"))


def damage(db: Database) -> bytes:
    """Overwrite pages in the middle of the file; returns what the file then holds."""
    with db.write() as tx:
        tx.execute_many("INSERT INTO items (name) VALUES (?)", [(f"{n} " + "x" * 300,) for n in range(500)])
    db.close()
    with sqlite3.connect(db.path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode=DELETE")
    connection.close()
    content = bytearray(db.path.read_bytes())
    for start in range(4096, len(content) - 8192, 8192):
        content[start : start + 2048] = os.urandom(2048)
    db.path.write_bytes(content)
    return bytes(content)


def test_a_damaged_file_is_named_and_left_as_it_is(db: Database) -> None:
    content = damage(db)
    reader = Database(db.path, read_only=True)
    assert reader.problems()
    with pytest.raises(StoreCorrupt) as caught:
        reader.query("SELECT * FROM items")
    assert "metnos restore" in caught.value.fix
    reader.close()
    assert db.path.read_bytes() == content


@pytest.mark.parametrize(
    "content", [b"this is a letter, not a database\n" * 10, b"x", b"SQLite format 2\0" + b"\0" * 4096]
)
def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(content)
    with pytest.raises(StoreCorrupt, match="damaged"):
        Database(path, SCHEMA)
    assert path.read_bytes() == content
    assert [each.name for each in tmp_path.glob("store.db*")] == ["store.db"]


def test_what_is_no_database_is_refused_to_whoever_only_reads(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(b"SQLite format 2\0" + b"\0" * 4096)
    with pytest.raises(StoreCorrupt, match="damaged"):
        Database(path, read_only=True).query("SELECT 1 FROM sqlite_master")


def test_a_truncated_file_is_left_as_it_is(db: Database) -> None:
    damage(db)
    content = db.path.read_bytes()[:5000]
    db.path.write_bytes(content)
    with pytest.raises(StoreCorrupt):
        add(Database(db.path, SCHEMA), "one")
    assert db.path.read_bytes() == content
