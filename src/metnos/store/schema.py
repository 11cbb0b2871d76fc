"""Whether a database that somebody else may have made is exactly what our migrations make.

Rules: nothing of a file is believed before its schema was compared, word for word, with that of a fresh database on
which the same migrations ran: a trigger, view, column or virtual table more, less or other than ours is refused. Only
an index may be missing, because long work lays some aside; `complete` makes those again. Rows are what they are: of the
known tables, of the right types, and within their checks.
"""

import contextlib
import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from metnos.core.clock import Clock, SystemClock
from metnos.core.errors import StoreCorrupt, StoreError, StoreSchema
from metnos.store import migrations as migrating
from metnos.store.db import Database
from metnos.store.faults import FAILURES, translate
from metnos.store.file import open_connection, pragma, refuse_what_is_no_database
from metnos.store.migrations import Migration

_FIX = "Use another copy of it, such as an older backup."

_Item = tuple[str, str, str, str]  # type, name, table, SQL
_ITEMS = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master"


def check(path: Path, migrations: Sequence[Migration]) -> None:
    """Refuse a file that is not ours in every word of its schema, or not sound. Changes nothing."""
    compare(path, migrations)
    database = Database(path, read_only=True)
    try:
        problems = database.problems()
    finally:
        database.close()
    if problems:
        raise StoreCorrupt(f"{path} is damaged: {problems[0]}", fix=_FIX)


def compare(path: Path, migrations: Sequence[Migration]) -> None:
    """Refuse a file whose schema is not the one that its version of ours has."""
    refuse_what_is_no_database(path)
    _missing(path, migrations)


def complete(path: Path, migrations: Sequence[Migration], clock: Clock) -> None:
    """Bring a file that was checked up to date, with all its indexes."""
    lacking = _missing(path, migrations)
    database = Database(path, migrations, clock=clock)
    try:
        if lacking:
            with database.write() as tx:
                for _, name, _, sql in lacking:
                    if tx.first("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)) is None:
                        tx.execute(sql)
    finally:
        database.close()


def _missing(path: Path, migrations: Sequence[Migration]) -> list[_Item]:
    """Which indexes are missing; raises on everything else that differs."""
    try:
        with contextlib.closing(open_connection(path, "ro", 10.0)) as connection:
            pragma(connection, "query_only", "ON")
            pragma(connection, "trusted_schema", "OFF")  # not for our own: they call JSON functions in their checks
            pragma(connection, "cell_size_check", "ON")
            found = connection.execute(_ITEMS).fetchall()
            done = _applied(connection, path, found, migrations)
    except FAILURES as error:
        raise translate(error, path) from error
    wanted = expected(tuple(migrations[:done]))
    foreign = sorted(set(found) - wanted, key=repr)
    lacking = sorted(wanted - set(found))
    gone = [item for item in lacking if item[0] != "index" or not item[3]]
    if foreign or gone or len(set(found)) != len(found):
        raise _not_ours(path, *(foreign or gone or found)[0][:2])
    return lacking


def _applied(
    connection: sqlite3.Connection, path: Path, found: Sequence[_Item], migrations: Sequence[Migration]
) -> int:
    """How many migrations ran on this file, if its record of them is ours."""
    record = [item for item in found if item[1] == "migrations"]
    if not record:
        return 0
    if record != [item for item in expected(tuple(migrations[:1])) if item[1] == "migrations"]:
        raise _not_ours(path, record[0][0], record[0][1])
    rows = "SELECT name, digest, position FROM migrations ORDER BY position LIMIT ?"
    done = connection.execute(rows, (len(migrations) + 1,)).fetchall()
    migrating.refuse_foreign(path, [(name, digest) for name, digest, _ in done], migrations)
    if [position for *_, position in done] != list(range(1, len(done) + 1)):
        raise _not_ours(path, "table", "migrations")
    return len(done)


@lru_cache(maxsize=64)
def expected(migrations: tuple[Migration, ...]) -> frozenset[_Item]:
    """The schema that these migrations make."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for migration in migrations:
            migrating.run(connection.execute, migration, SystemClock())
        return frozenset(connection.execute(_ITEMS).fetchall())


def _not_ours(path: Path, kind: object, name: object) -> StoreError:
    said = "".join(each for each in f"{kind} {name}"[:80] if each.isprintable())
    return StoreSchema(f"{path} is not as Metnos makes it: see its {said}. It was left as it is.", fix=_FIX)
