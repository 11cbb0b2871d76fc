"""What the doctor asks of SQLite: the features we build on, tried out, and every database's soundness."""

import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from types import MappingProxyType

from metnos.core.errors import StoreError
from metnos.core.records import Check
from metnos.store.db import Database
from metnos.store.file import is_database
from metnos.store.migrations import Migration
from metnos.store.schema import compare

_FEATURES = (
    ("strict tables (3.37)", "CREATE TABLE strictly (a INTEGER) STRICT"),
    ("full-text search (FTS5)", "CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'unicode61')"),
    ("JSON", "SELECT json_extract('{\"a\": 1}', '$.a')"),
    ("upsert", "INSERT INTO strictly VALUES (1) ON CONFLICT DO NOTHING"),
)
_NONE: Mapping[Path, Sequence[Migration]] = MappingProxyType({})
_FIX = "Use a Python built against SQLite 3.37 or newer with FTS5, such as Debian's python3."


def check_features() -> Check:
    """Every feature that Metnos needs, tried in a database of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="metnos-check-") as folder,
        closing(sqlite3.connect(Path(folder) / "check.db", isolation_level=None)) as connection,
    ):
        missing = [name for name, sql in _FEATURES if not _works(connection, sql)]
        (mode,) = connection.execute("PRAGMA journal_mode=WAL").fetchone()
    if mode != "wal":
        missing.append("write-ahead log")
    if missing:
        return Check.red("sqlite", f"SQLite {sqlite3.sqlite_version} lacks {', '.join(missing)}", _FIX)
    return Check.green("sqlite", f"SQLite {sqlite3.sqlite_version} with write-ahead log, FTS5, JSON and strict tables")


def check_databases(root: Path, known: Mapping[Path, Sequence[Migration]] = _NONE) -> Iterator[Check]:
    """Check every database below ``root``, and that each ``known`` one is as we make it. Says something only once."""
    paths = sorted(path for path in root.rglob("*.*") if path.suffix in (".db", ".sqlite") and path.is_file())
    for path in paths:
        problem = _problem(path, known.get(path))
        if problem:
            fix = f"metnos restore BACKUP --replace   (or move {path} away)"
            yield Check.red("databases", f"{path.relative_to(root)}: {problem}", fix)
            return
    yield Check.green("databases", f"{len(paths)} of {len(paths)} sound")


def _problem(path: Path, migrations: Sequence[Migration] | None) -> str | None:
    try:
        if migrations is not None:
            compare(path, migrations)
        if path.stat().st_size and not is_database(path):
            return "it does not begin as a database does"
        database = Database(path, read_only=True)
        try:
            return next(iter(database.problems()), None)
        finally:
            database.close()
    except StoreError as error:
        return error.what
    except OSError as error:
        return error.strerror or str(error)


def _works(connection: sqlite3.Connection, sql: str) -> bool:
    try:
        connection.execute(sql)
    except sqlite3.Error:
        return False
    return True
