"""The one door to SQLite.

Rules:

- WAL; a committed write is on the disk when ``write()`` ends (``Durability.FULL``), or at the latest at the next
  checkpoint after a power cut (``NORMAL``, for what can be rebuilt). A killed process loses nothing either way.
- A write happens inside ``with db.write() as tx:`` and nowhere else: it takes the write lock at once (``BEGIN
  IMMEDIATE``), so it never fails half-way for a lock; nested, it is a savepoint.
- ``with db.read() as tx:`` is one unchanging view for several queries; a single query needs nothing around it.
- Each thread and process has connections of its own, one that can only read and one for ``write()``: threads may share
  a `Database`, and so may a forked child.
- Every failure of SQLite leaves as a `StoreError` that says what to do; a damaged file is never written to, and neither
  is one whose file was put in another's place since it was opened.

Does not guarantee fairness between writers: each waits up to the busy timeout.
"""

import contextlib
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from metnos.core import files
from metnos.core.clock import Clock, SystemClock
from metnos.core.errors import StoreError
from metnos.store import migrations as migrating
from metnos.store.faults import FAILURES, translate
from metnos.store.file import open_connection, pragma, refuse_what_is_no_database
from metnos.store.migrations import Migration

Value = str | bytes | int | float | None
Row = tuple[Any, ...]
_Taken = TypeVar("_Taken")

_ABANDONED: list["_Connections"] = []  # what a fork brought into this process


def _count(cursor: sqlite3.Cursor) -> int:
    return cursor.rowcount


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
        return self._run(sql, values, _count)

    def execute_many(self, sql: str, rows: Sequence[Sequence[Value]]) -> None:
        self._live().executemany(sql, rows)

    def query(self, sql: str, values: Sequence[Value] = ()) -> list[Row]:
        return self._run(sql, values, sqlite3.Cursor.fetchall)

    def first(self, sql: str, values: Sequence[Value] = ()) -> Row | None:
        row: Row | None = self._run(sql, values, sqlite3.Cursor.fetchone)
        return row

    def end(self) -> None:
        self._connection = None

    def _run(self, sql: str, values: Sequence[Value], take: Callable[[sqlite3.Cursor], _Taken]) -> _Taken:
        try:
            return take(self._live().execute(sql, values))
        except OverflowError as error:
            raise StoreError("a number is larger than any that is kept", fix="metnos doctor") from error
        except UnicodeDecodeError as error:
            raise sqlite3.DatabaseError("it holds what is no text") from error

    def _live(self) -> sqlite3.Connection:
        if self._connection is None:
            raise StoreError("a transaction was used after its end; this is a mistake in Metnos")
        return self._connection


class Database:
    """One SQLite file, opened for this process and migrated to what its owner module knows."""

    _identity: tuple[int, int] | None  # of the file that was opened

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
            self._connections().reader(self._connect)
        else:
            self._migrate(migrations, clock or SystemClock())

    # -- transactions

    @contextlib.contextmanager
    def write(self) -> Iterator[Transaction]:
        """A transaction that holds the write lock; all of it is committed, or, on any exception, none."""
        if self._read_only:
            raise StoreError(f"{self.path} was opened for reading only")
        connection = self._connections().writer(self._connect)
        self._refuse_replaced()
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
        except FAILURES as error:
            raise translate(error, self.path) from error

    def first(self, sql: str, values: Sequence[Value] = ()) -> Row | None:
        try:
            row: Row | None = self._viewing().execute(sql, values).fetchone()
        except FAILURES as error:
            raise translate(error, self.path) from error
        return row

    # -- the whole file

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
        """Let go of this process's connections, in every thread. Later use opens them again.

        This thread's are closed now; those of others as soon as nobody is in the middle of using them.
        """
        for connections in list(self._opened):
            connections.close()
        self._identity = None

    # -- inside

    def _depth(self) -> int:
        return getattr(self._local, "depth", 0)

    def _viewing(self) -> sqlite3.Connection:
        """The connection to read with: inside ``write()`` the writer's own, which alone sees what is not committed."""
        connections = self._connections()
        return connections.writer(self._connect) if self._depth() else connections.reader(self._connect)

    def _connections(self) -> "_Connections":
        """This thread's connections."""
        if self._pid != os.getpid():
            # A connection must not cross a fork, not even to be closed: it is kept and never touched again.
            _ABANDONED.extend(self._opened)
            self._forget_connections()
        connections: _Connections | None = getattr(self._local, "connections", None)
        if connections is None:
            connections = self._local.connections = _Connections()
            self._opened.add(connections)
        return connections

    def _forget_connections(self) -> None:
        self._pid: int = os.getpid()
        self._local: threading.local = threading.local()
        # Weak: a thread that ends takes its connections along.
        self._opened: weakref.WeakSet[_Connections] = weakref.WeakSet()
        self._identity = None

    def _connect(self, *, can_write: bool) -> sqlite3.Connection:
        connection = None
        try:
            connection = open_connection(self.path, "ro" if self._read_only else "rwc", self._busy_timeout_s)
            if not self._read_only:
                _enter_wal(connection, self._busy_timeout_s)
                pragma(connection, "synchronous", self._durability)
                pragma(connection, "foreign_keys", "ON")
            if not can_write:
                pragma(connection, "query_only", "ON")
        except FAILURES as error:
            if connection is not None:
                connection.close()
            raise translate(error, self.path) from error
        self._identity = self._identity or self._identity_now()
        return connection

    def _identity_now(self) -> tuple[int, int] | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _refuse_replaced(self) -> None:
        """A file that was restored or removed under us must not be written to by its old name's memory."""
        opened = self._identity  # none right after a close by another thread, until somebody opens it again
        if opened is not None and self._identity_now() != opened:
            raise StoreError(
                f"{self.path} is not the file that was opened: it was replaced or removed meanwhile",
                fix="Start this program again; nothing was written.",
            )

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
        applied = self._applied()
        migrating.refuse_foreign(self.path, applied, migrations)
        for migration in migrations[len(applied) :]:
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


class _Connections:
    """One thread's connections to one database: closed when the thread ends, unless they came over a fork.

    Knows nothing of its `Database`, because a ring of references would leave the closing to chance.
    """

    def __init__(self) -> None:
        self._reader: sqlite3.Connection | None = None
        self._writer: sqlite3.Connection | None = None
        self._pid = os.getpid()
        self._thread = threading.get_ident()

    def reader(self, connect: Callable[..., sqlite3.Connection]) -> sqlite3.Connection:
        if self._reader is None:
            self._reader = connect(can_write=False)
        return self._reader

    def writer(self, connect: Callable[..., sqlite3.Connection]) -> sqlite3.Connection:
        if self._writer is None:
            self._writer = connect(can_write=True)
        return self._writer

    def close(self) -> None:
        if self._pid != os.getpid():
            return
        held, self._reader, self._writer = (self._reader, self._writer), None, None
        if self._thread == threading.get_ident():
            for connection in held:
                if connection is not None:
                    connection.close()
        # Another thread may be in the middle of a statement, and closing under it ends the process. Whoever uses a
        # connection holds it; when nobody does any more, it is closed.

    def __del__(self) -> None:
        self.close()


def _enter_wal(connection: sqlite3.Connection, busy_timeout_s: float) -> None:
    """Switch a new file to WAL. SQLite does not wait for a lock here as it does elsewhere, so this does."""
    deadline = time.monotonic() + busy_timeout_s
    while True:
        try:
            pragma(connection, "journal_mode", "WAL")
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
