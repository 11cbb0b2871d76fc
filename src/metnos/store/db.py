"""The one door to SQLite.

Rules:

- WAL; a committed write is on the disk when ``write()`` ends (``Durability.FULL``), or at the latest at the next
  checkpoint after a power cut (``NORMAL``, for what can be rebuilt). A killed process loses nothing either way.
- A write happens inside ``with db.write() as tx:`` and nowhere else: it takes the write lock at once (``BEGIN
  IMMEDIATE``), so it never fails half-way for a lock; nested, it is a savepoint.
- ``with db.read() as tx:`` is one unchanging view for several queries; a single query needs nothing around it.
- Each thread and process has connections of its own, one that can only read and one for ``write()``: threads may share
  a `Database`, and so may a forked child.
- Every failure of SQLite leaves as a `StoreError` that says what to do; a damaged file is never written to.

Does not guarantee fairness between writers: each waits up to the busy timeout.
"""

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import quote

from metnos.core import files
from metnos.core.clock import Clock, SystemClock
from metnos.core.errors import StoreCorrupt, StoreError
from metnos.store import migrations as migrating
from metnos.store.faults import translate
from metnos.store.migrations import Migration

Value = str | bytes | int | float | None
Row = tuple[Any, ...]

_MAGIC = b"SQLite format 3\0"
_ABANDONED: list[sqlite3.Connection] = []  # connections that a fork brought into this process
_BACKUP_PAGES = 256  # about 1 MB a step: between steps writers get their turn


class Durability(StrEnum):
    """What a power cut may take: nothing that was committed, or the last moments of what can be rebuilt."""

    FULL = "FULL"
    NORMAL = "NORMAL"


class Transaction:
    """What can be done inside ``write()`` or ``read()``, and not a moment longer."""

    __slots__ = ("_connection",)

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection: sqlite3.Connection | None = connection

    def execute(self, sql: str, values: Sequence[Value] = ()) -> int:
        """Run one statement and return how many rows it changed."""
        return self._live().execute(sql, values).rowcount

    def execute_many(self, sql: str, rows: Sequence[Sequence[Value]]) -> None:
        self._live().executemany(sql, rows)

    def query(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        return self._live().execute(sql, values).fetchall()

    def first(self, sql: str, values: Sequence[Value] = ()) -> Row | None:
        row: Row | None = self._live().execute(sql, values).fetchone()
        return row

    def end(self) -> None:
        self._connection = None

    def _live(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError("a transaction was used after its end; this is a mistake in Metnos")
        return self._connection


class Database:
    """One SQLite file, opened for this process and migrated to what its owner module knows."""

    def __init__(
        self,
        path: Path,
        migrations: Sequence[Migration] = (),
        *,
        busy_timeout_s: float = 10.0,
        durability: Durability = Durability.FULL,
        read_only: bool = False,
        clock: Clock | None = None,
    ) -> None:
        self.path = path
        self._busy_timeout_s = busy_timeout_s
        self._durability = durability
        self._read_only = read_only
        self._forget_connections()
        refuse_what_is_no_database(path)
        if read_only:
            self._connection("reader")
        else:
            self._migrate(migrations, clock or SystemClock())

    # -- transactions

    @contextlib.contextmanager
    def write(self) -> Iterator[Transaction]:
        """A transaction that holds the write lock; all of it is committed, or, on any exception, none."""
        if self._read_only:
            raise StoreError(f"{self.path} was opened for reading only")
        connection = self._connection("writer")
        depth = self._depth()
        begin, commit, rollback = _bracket(depth)
        transaction = Transaction(connection)
        try:
            connection.execute(begin)
            self._local.depth = depth + 1
            try:
                yield transaction
                connection.execute(commit)
            except BaseException:
                self._undo(connection, rollback)
                raise
            finally:
                transaction.end()
                self._local.depth = depth
        except sqlite3.Error as error:
            raise translate(error, self.path) from error

    @contextlib.contextmanager
    def read(self) -> Iterator[Transaction]:
        """One unchanging view. Inside ``write()`` it is the view of that transaction."""
        connection = self._viewing()
        outermost = not connection.in_transaction
        transaction = Transaction(connection)
        try:
            if outermost:
                connection.execute("BEGIN")
            try:
                yield transaction
            finally:
                transaction.end()
                if outermost and connection.in_transaction:
                    connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            raise translate(error, self.path) from error

    def query(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        try:
            return self._viewing().execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise translate(error, self.path) from error

    def first(self, sql: str, values: Sequence[Value] = ()) -> Row | None:
        try:
            row: Row | None = self._viewing().execute(sql, values).fetchone()
        except sqlite3.Error as error:
            raise translate(error, self.path) from error
        return row

    # -- the whole file

    def copy_to(self, target: Path) -> None:
        """A consistent copy of the database while others go on writing; it appears whole or not at all."""
        copy_database(self.path, target, self._busy_timeout_s)

    def problems(self) -> list[str]:
        """What SQLite finds wrong with the file; nothing when it is sound."""
        try:
            rows = self.query("PRAGMA integrity_check(20)")
            broken_links = self.query("PRAGMA foreign_key_check")
        except StoreError as error:
            return [error.what]
        found = [str(text) for (text,) in rows if text != "ok"]
        return found + [f"a row of {table} points at a missing row of {parent}" for table, _, parent, _ in broken_links]

    def close(self) -> None:
        """Close this process's connections, in every thread. Later use opens them again."""
        with self._guard:
            for connection in self._open_connections:
                connection.close()
        self._forget_connections()

    # -- inside

    def _depth(self) -> int:
        return getattr(self._local, "depth", 0)

    def _viewing(self) -> sqlite3.Connection:
        """The connection to read with: inside ``write()`` the writer's own, which alone sees what is not committed."""
        return self._connection("writer" if self._depth() else "reader")

    def _connection(self, role: str) -> sqlite3.Connection:
        """This thread's connection for that role, opened at its first use."""
        if self._pid != os.getpid():
            # A connection must not cross a fork, not even to be closed: it is kept and never touched again.
            _ABANDONED.extend(self._open_connections)
            self._forget_connections()
        connection: sqlite3.Connection | None = getattr(self._local, role, None)
        if connection is None:
            connection = self._connect(can_write=role == "writer")
            with self._guard:
                self._open_connections.append(connection)
            setattr(self._local, role, connection)
        return connection

    def _forget_connections(self) -> None:
        self._pid: int = os.getpid()
        self._local: threading.local = threading.local()
        self._guard: threading.Lock = threading.Lock()
        self._open_connections: list[sqlite3.Connection] = []

    def _connect(self, *, can_write: bool) -> sqlite3.Connection:
        connection = None
        try:
            connection = _open(self.path, "ro" if self._read_only else "rwc", self._busy_timeout_s)
            if not self._read_only:
                _enter_wal(connection, self._busy_timeout_s)
                _pragma(connection, "synchronous", self._durability)
                _pragma(connection, "foreign_keys", "ON")
            if not can_write:
                _pragma(connection, "query_only", "ON")
        except sqlite3.Error as error:
            if connection is not None:
                connection.close()
            raise translate(error, self.path) from error
        return connection

    def _undo(self, connection: sqlite3.Connection, rollback: Sequence[str]) -> None:
        """SQLite may have rolled back by itself (a full disk does that), and then there is nothing left to undo."""
        if connection.in_transaction:
            for statement in rollback:
                connection.execute(statement)

    def _migrate(self, migrations: Sequence[Migration], clock: Clock) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        created = not self.path.exists()
        if created:
            # Closed to others from the first byte; SQLite gives its side files the same mode.
            files.create(self.path, b"", mode=files.PRIVATE_FILE)
        migrating.refuse_foreign(self.path, self._applied(), migrations)
        for migration in migrations[len(self._applied()) :]:
            with self.write() as tx:
                # Another process may have been faster while this one waited for the lock.
                done = {name for name, _ in migrating.applied(tx.query)}
                if migration.name not in done:
                    migrating.run(tx.execute, migration, clock)

    def _applied(self) -> list[tuple[str, str]]:
        try:
            with self.read() as tx:
                return migrating.applied(tx.query)
        except StoreError:
            self.close()
            raise


def copy_database(source: Path, target: Path, busy_timeout_s: float = 10.0) -> None:
    """Copy a database that may be in use, whoever owns its tables: consistent, checked, whole or not at all."""
    refuse_what_is_no_database(source)
    staged = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with contextlib.closing(_open(source, "ro", busy_timeout_s)) as reader:
            files.create(staged, b"", mode=files.PRIVATE_FILE)
            with contextlib.closing(_open(staged, "rw", busy_timeout_s)) as writer:
                reader.backup(writer, pages=_BACKUP_PAGES)
                # One file and no side files: a copy must be able to travel alone.
                _pragma(writer, "journal_mode", "DELETE")
                (verdict,) = writer.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise StoreCorrupt(f"{source} is damaged ({verdict})", fix="Restore it from an older backup.")
        staged.replace(target)
        files.sync_folder(target.parent)
    except sqlite3.Error as error:
        raise translate(error, source) from error
    finally:
        staged.unlink(missing_ok=True)


def is_database(path: Path) -> bool:
    """Whether the file says of itself that it is SQLite's."""
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def refuse_what_is_no_database(path: Path) -> None:
    """Look before opening: SQLite would write its own header over some files that are not its own."""
    try:
        if not path.exists() or path.stat().st_size == 0 or is_database(path):
            return
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}", fix="Check who owns the file.") from error
    raise StoreCorrupt(
        f"{path} is damaged: it does not begin as a database does. It was left as it is.",
        fix="Move it away and restore it from a backup: metnos restore FILE",
    )


def _open(path: Path, mode: str, busy_timeout_s: float) -> sqlite3.Connection:
    return sqlite3.connect(
        f"file:{quote(str(path))}?mode={mode}",
        uri=True,
        timeout=busy_timeout_s,
        isolation_level=None,  # transactions are ours alone; Python's own guessing is off
        check_same_thread=False,  # `close` closes every thread's connection
        cached_statements=256,
    )


def _pragma(connection: sqlite3.Connection, name: str, value: str) -> None:
    connection.execute(f"PRAGMA {name}={value}")


def _enter_wal(connection: sqlite3.Connection, busy_timeout_s: float) -> None:
    """Switch a new file to WAL. SQLite does not wait for a lock here as it does elsewhere, so this does."""
    deadline = time.monotonic() + busy_timeout_s
    while True:
        try:
            _pragma(connection, "journal_mode", "WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.005)


def _bracket(depth: int) -> tuple[str, str, Sequence[str]]:
    """How a transaction at this depth of nesting begins, ends well, and ends badly."""
    if depth == 0:
        return "BEGIN IMMEDIATE", "COMMIT", ("ROLLBACK",)
    point = f"nested_{depth}"
    return f"SAVEPOINT {point}", f"RELEASE {point}", (f"ROLLBACK TO {point}", f"RELEASE {point}")
