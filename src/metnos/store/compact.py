"""Giving back the room that removed rows left in a database's file.

Rules: nothing is lost if it is killed or the disk is full, since SQLite builds the new content beside the old. Whoever
wants to write waits meanwhile, and it needs as much free disk as the file is large.
"""

import contextlib
import sqlite3
from pathlib import Path

from metnos.store.faults import translate
from metnos.store.file import open_connection


def compact(path: Path, busy_timeout_s: float = 10.0) -> int:
    """Write a database anew without gaps; returns how many bytes that saved."""
    try:
        with contextlib.closing(open_connection(path, "rw", busy_timeout_s)) as connection:
            before = _size(connection)
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return before - _size(connection)
    except sqlite3.Error as error:
        raise translate(error, path) from error


def _size(connection: sqlite3.Connection) -> int:
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (page,) = connection.execute("PRAGMA page_size").fetchone()
    return int(pages) * int(page)
