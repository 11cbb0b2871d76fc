"""Whether anything was committed since, by this process or another: SQLite itself says so.

Rules: a look asks each database for its ``PRAGMA data_version`` over a connection that never writes, so that whoever
changed something is seen by the next look. It is asked before every answer of the web page, so it does little: one
connection for each file, kept open. What cannot be looked at is equal to nothing. For one thread.
"""

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from metnos.store.file import open_connection

Look = tuple[object, ...]

_BUSY_S = 10.0


class Freshness:
    """Looks at some databases, and at some files beside them."""

    def __init__(self, databases: Sequence[Path], files: Sequence[Path] = ()) -> None:
        self._databases = tuple(map(str, databases))
        self._files = tuple(map(str, files))
        self._open: dict[str, sqlite3.Connection] = {}

    def look(self) -> Look:
        """Two that are equal: nothing was committed, and no file was changed, in between."""
        return (*map(self._version, self._databases), *map(_changed, self._files))

    def close(self) -> None:
        for connection in self._open.values():
            connection.close()
        self._open.clear()

    def _version(self, path: str) -> object:
        connection = self._open.get(path)
        try:
            if connection is None:
                if not os.path.exists(path):  # noqa: PTH110 -- at every look: a Path takes five times as long
                    return None  # it is made when it is first needed
                connection = self._open[path] = open_connection(Path(path), "ro", _BUSY_S)
            return connection.execute("PRAGMA data_version").fetchone()
        except sqlite3.Error:
            return object()  # equal to nothing: whatever depends on it is made anew, and says what is wrong


def _changed(path: str) -> object:
    try:
        status = os.stat(path)  # noqa: PTH116 -- as above
    except OSError:
        return None
    return (status.st_ino, status.st_size, status.st_mtime_ns)
