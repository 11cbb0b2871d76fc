import sqlite3
import stat
import tempfile
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import forking
from metnos.core.errors import StoreBusy, StoreError, StoreSchema
from metnos.store import db as databases
from metnos.store import file
from metnos.store.db import Database, Durability, Transaction
from store.items import SCHEMA, add, names
from support import at_once


def test_a_new_file_is_private_and_in_wal_mode(db: Database) -> None:
    assert db.first("PRAGMA journal_mode") == ("wal",)
    assert db.first("PRAGMA foreign_keys") == (1,)
    add(db, "one")
    for path in db.path.parent.glob("store.db*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


@pytest.mark.parametrize(("durability", "level"), [(Durability.FULL, 2), (Durability.NORMAL, 1)])
def test_durability_is_what_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, durability: Durability, level: int
) -> None:
    monkeypatch.setattr(databases, "pragma", file.pragma)  # the real one, which all other tests do without
    db = Database(tmp_path / "store.db", durability=durability)
    assert db.first("PRAGMA synchronous") == (level,)


def test_what_was_written_is_there_for_others(db: Database) -> None:
    add(db, "one")
    assert names(Database(db.path, SCHEMA)) == ["one"]


def test_an_exception_takes_everything_back(db: Database) -> None:
    with pytest.raises(RuntimeError, match="no"), db.write() as tx:
        tx.execute("INSERT INTO items (name) VALUES ('one')")
        raise RuntimeError("no")
    assert names(db) == []
    add(db, "two")
    assert names(db) == ["two"]


def test_a_nested_write_fails_alone(db: Database) -> None:
    with db.write() as tx:
        tx.execute("INSERT INTO items (name) VALUES ('outer')")
        with pytest.raises(StoreSchema), db.write() as inner:
            inner.execute("INSERT INTO items (name) VALUES ('inner')")
            inner.execute("INSERT INTO items (name) VALUES ('inner')")
        with db.write() as inner:
            inner.execute("INSERT INTO items (name) VALUES ('second')")
        assert db.query("SELECT count(*) FROM items") == [(2,)]
    assert names(db) == ["outer", "second"]


def test_outside_a_write_nothing_can_be_written(db: Database) -> None:
    with pytest.raises(StoreError, match="cannot be written"):
        db.query("INSERT INTO items (name) VALUES ('one')")
    with pytest.raises(StoreError, match="cannot be written"), db.read() as tx:
        tx.execute("DELETE FROM items")
    add(db, "after")
    with pytest.raises(StoreError, match="cannot be written"):
        db.first("DELETE FROM items")
    assert names(db) == ["after"]


def test_a_transaction_is_over_when_it_is_over(db: Database) -> None:
    with db.write() as tx:
        pass
    with pytest.raises(StoreError, match="after its end"):
        tx.execute("INSERT INTO items (name) VALUES ('late')")
    with db.read() as view:
        pass
    with pytest.raises(StoreError, match="after its end"):
        view.query("SELECT 1")
    assert names(db) == []


def test_inside_a_write_every_read_sees_it(db: Database) -> None:
    with db.write() as tx:
        tx.execute("INSERT INTO items (name) VALUES ('mine')")
        assert names(db) == ["mine"]
        with db.read() as view:
            assert view.first("SELECT name FROM items") == ("mine",)
    assert names(db) == ["mine"]


def test_a_read_sees_one_moment(db: Database) -> None:
    other = Database(db.path, SCHEMA)
    add(db, "before")
    with db.read() as tx:
        assert tx.first("SELECT count(*) FROM items") == (1,)
        add(other, "meanwhile")
        assert tx.query("SELECT count(*) FROM items") == [(1,)]
    assert names(db) == ["before", "meanwhile"]


def test_a_write_takes_its_lock_at_once(db: Database) -> None:
    other = Database(db.path, SCHEMA, busy_timeout_s=0.05)
    with db.write():
        with pytest.raises(StoreBusy) as caught, other.write():
            pytest.fail("two writers at once")
        assert "busy_timeout_s" in caught.value.fix
    add(other, "now")


def test_a_read_only_database_takes_no_write(db: Database) -> None:
    add(db, "one")
    reader = Database(db.path, read_only=True)
    assert names(reader) == ["one"]
    with pytest.raises(StoreError, match="reading only"), reader.write():
        pytest.fail("wrote")


def test_a_read_only_database_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be opened"):
        Database(tmp_path / "missing.db", read_only=True)
    assert not (tmp_path / "missing.db").exists()


def test_names_that_a_uri_would_misread(tmp_path: Path) -> None:
    path = tmp_path / "odd?mode=memory#%41 name.db"
    add(Database(path, SCHEMA), "one")
    assert path.stat().st_size > 0
    assert names(Database(path, SCHEMA)) == ["one"]


def test_a_file_that_was_replaced_meanwhile_is_not_written_to(db: Database, tmp_path: Path) -> None:
    add(db, "old")
    other = Database(tmp_path / "other.db", SCHEMA)
    add(other, "new")
    other.close()
    for side in ("-wal", "-shm"):
        db.path.with_name(db.path.name + side).unlink()
    other.path.replace(db.path)
    with pytest.raises(StoreError, match="replaced or removed"):
        add(db, "lost")
    assert names(Database(db.path, SCHEMA)) == ["new"]
    db.path.unlink()
    with pytest.raises(StoreError, match="replaced or removed"):
        add(db, "lost")
    assert not db.path.exists()


def test_a_thread_that_ends_takes_its_connections_along(db: Database) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for number in range(20):
        thread = threading.Thread(target=add, args=(db, str(number)))
        thread.start()
        thread.join()
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 8


def test_threads_share_a_database(db: Database) -> None:
    errors: list[Exception] = []

    def work(number: int) -> None:
        try:
            for each in range(20):
                add(db, f"{number}-{each}")
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(names(db)) == 80
    db.close()
    assert len(names(db)) == 80


def _write_many(path: Path, number: int) -> None:
    db = Database(path, SCHEMA, busy_timeout_s=30)
    for each in range(50):
        add(db, f"{number}-{each}")


@pytest.mark.slow
def test_processes_share_a_database_from_its_first_moment(tmp_path: Path) -> None:
    at_once([partial(_write_many, tmp_path / "store.db", number) for number in range(6)])
    db = Database(tmp_path / "store.db", SCHEMA)
    assert len(names(db)) == 300
    assert db.problems() == []


@pytest.mark.slow
def test_a_file_that_is_locked_before_it_is_in_wal_mode_is_waited_for(tmp_path: Path) -> None:
    """Switching to WAL fails at once when another process is at it, busy timeout or not."""
    path = tmp_path / "store.db"
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("CREATE TABLE early (a)")
    holder.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.2, lambda: holder.execute("COMMIT"))
    release.start()
    db = Database(path, SCHEMA, busy_timeout_s=10)
    assert db.first("PRAGMA journal_mode") == ("wal",)
    release.join()
    holder.close()


def test_a_file_that_stays_locked_is_given_up_in_time(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("CREATE TABLE early (a)")
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusy):
        Database(path, SCHEMA, busy_timeout_s=0.05)
    holder.close()


def test_a_fork_gets_a_connection_of_its_own(db: Database) -> None:
    add(db, "parent")

    def write() -> None:
        with db.write() as tx:
            tx.execute("INSERT INTO items (name) VALUES ('child')")
        db.close()

    assert forking.run(write) == 0
    add(db, "parent again")
    assert names(db) == ["parent", "child", "parent again"]


def test_a_folder_in_the_files_place_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "store.db").mkdir()
    with pytest.raises(StoreError, match="is not a file"):
        Database(tmp_path / "store.db", SCHEMA)


class Model(RuleBasedStateMachine):
    """Any nesting of transactions, ended well or badly, leaves what a plain list would hold."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.db = Database(Path(self.folder.name) / "store.db", SCHEMA, durability=Durability.NORMAL)
        self.kept: list[str] = []
        self.open: list[tuple[Any, Transaction, list[str]]] = []
        self.number = 0

    @property
    def seen(self) -> list[str]:
        return self.open[-1][2] if self.open else self.kept

    @precondition(lambda self: len(self.open) < 4)
    @rule()
    def begin(self) -> None:
        bracket = self.db.write()
        self.open.append((bracket, bracket.__enter__(), list(self.seen)))

    @precondition(lambda self: self.open)
    @rule(count=st.integers(1, 3))
    def insert(self, count: int) -> None:
        for _ in range(count):
            self.number += 1
            self.open[-1][1].execute("INSERT INTO items (name) VALUES (?)", (str(self.number),))
            self.seen.append(str(self.number))

    @precondition(lambda self: self.open)
    @rule(well=st.booleans())
    def end(self, well: bool) -> None:
        bracket, _, content = self.open.pop()
        if not well:
            bracket.__exit__(ValueError, ValueError("no"), None)
            return
        bracket.__exit__(None, None, None)
        if self.open:
            self.open[-1][2][:] = content
        else:
            self.kept = content

    @invariant()
    def holds(self) -> None:
        assert names(self.db) == self.seen

    def teardown(self) -> None:
        while self.open:
            self.end(well=False)
        self.db.close()
        self.folder.cleanup()


TestNesting = Model.TestCase


def test_closing_while_another_thread_is_at_work_harms_nobody(tmp_path: Path) -> None:
    db = Database(tmp_path / "busy.db", SCHEMA)
    ended, failed = threading.Event(), list[BaseException]()

    def work(who: str) -> None:
        number = 0
        try:
            while not ended.is_set():
                add(db, f"{who}{number}")
                names(db)
                number += 1
        except BaseException as error:  # what is shown is that there is none
            failed.append(error)

    threads = [threading.Thread(target=work, args=(who,)) for who in "ab"]
    for thread in threads:
        thread.start()
    for _ in range(300):
        db.close()
    ended.set()
    for thread in threads:
        thread.join()
    assert failed == []
    assert names(db)
