"""What SQLite's error codes mean for the owner, and what to do about each."""

import sqlite3
from pathlib import Path

from metnos.core.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull, StoreSchema

_PRIMARY = 0xFF  # extended codes carry the primary one in their low byte
_DETAIL = 200  # characters of what SQLite says, which can hold what the file does

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
    sqlite3.SQLITE_ERROR: (
        StoreSchema,
        "{path} is not as Metnos makes it ({detail}). Nothing was written.",
        "Restore it from a backup: metnos restore FILE. If that does not help, this is a mistake in Metnos.",
    ),
    sqlite3.SQLITE_CONSTRAINT: (
        StoreSchema,
        "{path} does not take what Metnos writes ({detail}). Nothing was written.",
        "Restore it from a backup: metnos restore FILE. If that does not help, this is a mistake in Metnos.",
    ),
    sqlite3.SQLITE_IOERR: (
        StoreError,
        "the disk failed while {path} was in use ({detail})",
        "Check the disk; `metnos doctor` says whether the file is still sound.",
    ),
}
_MEANINGS[sqlite3.SQLITE_LOCKED] = _MEANINGS[sqlite3.SQLITE_BUSY]
_OF_PYTHON = (sqlite3.ProgrammingError, sqlite3.InterfaceError)  # SQLite was never asked


# What a call of SQLite fails with. What it says may quote a broken file, and then Python cannot even read it.
FAILURES = (sqlite3.Error, UnicodeDecodeError)


def translate(error: sqlite3.Error | UnicodeDecodeError, path: Path) -> Exception:
    """The error in the owner's words. Only a wrong use of Python's module stays what it is.

    A broken file and a mistake in our own SQL cannot be told apart: both say "no such table".
    """
    code = getattr(error, "sqlite_errorcode", None)
    if code is None and isinstance(error, _OF_PYTHON):
        return error
    # The shared-memory file is the one place where SQLite calls a full disk a failed one.
    meant = sqlite3.SQLITE_FULL if code == sqlite3.SQLITE_IOERR_SHMSIZE else (code or 0) & _PRIMARY
    kind, what, fix = _MEANINGS.get(meant, _MEANINGS[sqlite3.SQLITE_ERROR])
    said = str(error) if code is not None else "it holds what is no text"  # Python would quote what that is
    detail = "".join(each for each in said if each.isprintable())[:_DETAIL]
    return kind(what.format(path=path, detail=detail), fix=fix)
