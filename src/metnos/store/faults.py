"""What SQLite's error codes mean for the owner, and what to do about each."""

import sqlite3
from pathlib import Path

from metnos.core.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull

_PRIMARY = 0xFF  # extended codes carry the primary one in their low byte

_MEANINGS: dict[int, tuple[type[StoreError], str, str]] = {
    sqlite3.SQLITE_BUSY: (
        StoreBusy,
        "another process has been writing to {path} for too long",
        "Wait a moment and try again; `store.busy_timeout_s` sets how long Metnos waits.",
    ),
    sqlite3.SQLITE_FULL: (
        StoreFull,
        "the disk is full: nothing was written to {path}, and what was there is unharmed",
        "Free some space and try again.",
    ),
    sqlite3.SQLITE_CORRUPT: (
        StoreCorrupt,
        "{path} is damaged ({detail}). It was left as it is.",
        "Move it away and restore it from a backup: metnos restore FILE",
    ),
    sqlite3.SQLITE_NOTADB: (
        StoreCorrupt,
        "{path} is damaged: it does not begin as a database does. It was left as it is.",
        "Move it away and restore it from a backup: metnos restore FILE",
    ),
    sqlite3.SQLITE_READONLY: (
        StoreError,
        "{path} cannot be written here ({detail})",
        "Writes go through `Database.write()`; if this one did, check who owns the file and whether the disk is "
        "mounted read-only.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        StoreError,
        "{path} cannot be opened",
        "Check that its folder is there and belongs to you.",
    ),
    sqlite3.SQLITE_PERM: (StoreError, "{path} may not be opened", "Check who owns the file."),
    sqlite3.SQLITE_IOERR: (
        StoreError,
        "the disk failed while {path} was in use ({detail})",
        "Check the disk; `metnos doctor` says whether the file is still sound.",
    ),
}
_MEANINGS[sqlite3.SQLITE_LOCKED] = _MEANINGS[sqlite3.SQLITE_BUSY]


def translate(error: sqlite3.Error, path: Path) -> Exception:
    """The error in the owner's words. A mistake in our own SQL is a bug and stays what it is."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None or code & _PRIMARY not in _MEANINGS:
        return error
    # The shared-memory file is the one place where SQLite calls a full disk a failed one.
    meant = sqlite3.SQLITE_FULL if code == sqlite3.SQLITE_IOERR_SHMSIZE else code & _PRIMARY
    kind, what, fix = _MEANINGS[meant]
    return kind(what.format(path=path, detail=error), fix=fix)
