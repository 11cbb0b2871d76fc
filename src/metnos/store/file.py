"""A database as a file: opening it, telling whether it is one, copying it whole.

Rules: nothing here or anywhere else in Metnos opens a database's file by itself, not even to look at its first bytes.
Closing it again would silently drop every lock that SQLite holds on that file for this process, and two writers would
be at it at once. Whoever wants to know asks SQLite.
"""

import contextlib
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from metnos.core import files
from metnos.core.errors import StoreCorrupt, StoreError
from metnos.store.faults import FAILURES, translate

SIDE_FILES = ("-wal", "-shm", "-journal")  # SQLite believes what they say; no copy of ours has any
_LEAST = 512  # bytes: SQLite's smallest page, and so its smallest file
_BACKUP_PAGES = 256  # about 1 MB a step: between steps other threads of this process get their turn


def open_connection(path: Path, mode: str, busy_timeout_s: float) -> sqlite3.Connection:
    return sqlite3.connect(
        f"file:{quote(str(path))}?mode={mode}",
        uri=True,
        timeout=busy_timeout_s,
        isolation_level=None,  # transactions are ours alone; Python's own guessing is off
        check_same_thread=False,  # `close` closes every thread's connection
        cached_statements=256,
    )


def pragma(connection: sqlite3.Connection, name: str, value: str) -> None:
    connection.execute(f"PRAGMA {name}={value}")


def is_database(path: Path) -> bool:
    """Whether SQLite takes the file for one of its own."""
    if _is_too_short(path):
        return False
    try:
        with contextlib.closing(open_connection(path, "ro", 10.0)) as connection:
            connection.execute("PRAGMA schema_version").fetchone()
    except sqlite3.Error as error:
        return error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_NOTADB
    except UnicodeDecodeError:
        return True
    return True


def _is_too_short(path: Path) -> bool:
    return path.stat().st_size < _LEAST


def refuse_what_is_no_database(path: Path) -> None:
    """Look before opening: SQLite refuses what is not its own, but takes a file that is too short for an empty one."""
    try:
        if not path.exists() or path.stat().st_size == 0:
            return
        if not path.is_file():
            raise StoreError(f"{path} is not a file", fix="Move it away.")
        if not _is_too_short(path):
            return
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}", fix="Check who owns the file.") from error
    raise StoreCorrupt(
        f"{path} is damaged: it does not begin as a database does. It was left as it is.",
        fix="Move it away and restore it from a backup: metnos restore FILE",
    )


def copy_database(source: Path, target: Path, busy_timeout_s: float = 10.0, *, without: Sequence[str] = ()) -> None:
    """Copy a database that may be in use, whoever owns its tables: consistent, checked, whole or not at all.

    ``without`` names tables whose rows are left out, and not a byte of them stays in the copy.
    """
    refuse_what_is_no_database(source)
    staged = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with contextlib.closing(open_connection(source, "ro", busy_timeout_s)) as reader:
            files.create(staged, b"", mode=files.PRIVATE_FILE)
            with contextlib.closing(open_connection(staged, "rw", busy_timeout_s)) as writer:
                # One read transaction keeps a single snapshot. Without it SQLite restarts the backup after every write
                # of another connection, so a busy writer would keep it from finishing.
                reader.execute("BEGIN")
                reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
                reader.backup(writer, pages=_BACKUP_PAGES)
                # One file and no side files: a copy must be able to travel alone.
                pragma(writer, "journal_mode", "DELETE")
                for table in without:
                    writer.execute(f"DELETE FROM {table}")  # noqa: S608 -- our own words
                if without:
                    writer.execute("VACUUM")
                (verdict,) = writer.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise StoreCorrupt(f"{source} is damaged ({verdict})", fix="Restore it from an older backup.")
        staged.replace(target)
        files.sync_folder(target.parent)
    except FAILURES as error:
        raise translate(error, source) from error
    finally:
        staged.unlink(missing_ok=True)
