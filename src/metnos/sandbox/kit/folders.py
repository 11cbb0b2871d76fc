"""Looking at folders: what is in them, what a name stands for, and how to tell it.

Rules: links are never followed; a name that is not valid text is told in a form that is, and left out unless asked for;
what cannot be looked at is a failure of its own, and of many failures a hundred are told. Does not walk: how deep and
for how long is the executor's matter.
"""

import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any, Protocol

MOST_FAILURES = 100


class Failures(list[dict[str, Any]]):
    """What could not be looked at, and how many hidden places were left out: those are out of sight by intention."""

    left_out = 0


class Context(Protocol):
    """What of ``ctx`` is used here."""

    def failure(self, item: Any, kind: str, message: str) -> dict[str, Any]: ...


def shown(path: str | Path) -> str:
    """A path as text that a reply can carry, whatever its bytes are."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def is_text(path: str) -> bool:
    """Whether a path is valid text as it stands."""
    return path.isascii() or shown(path) == path


def children(
    folder: str | Path, failures: Failures, ctx: Context, *, odd: bool = False
) -> Iterator[tuple[os.DirEntry[str], os.stat_result]]:
    """What is in a folder, each with its status; with ``odd`` also what has a name that is not text.

    What is covered is left out and counted.
    """
    try:
        device = os.lstat(folder).st_dev
        with os.scandir(folder) as found:
            for child in found:
                if not odd and not is_text(child.name):
                    failures.append(ctx.failure(shown(child.path), "unreadable", "its name is not valid text"))
                    continue
                status = status_of(child, failures, ctx)
                if status is not None and is_covered(status, device):
                    failures.left_out += 1
                elif status is not None:
                    yield child, status
    except OSError as error:
        failures.append(ctx.failure(shown(folder), "unreadable", error.strerror or "cannot be opened"))


def is_covered(status: os.stat_result, device: int) -> bool:
    """Whether the sandbox has put nothing in the place of this, which lies in a folder on this device.

    A cover is a closed folder or an empty file, and a file system of its own.
    """
    if status.st_dev == device:
        return False
    closed = stat.S_ISDIR(status.st_mode) and not stat.S_IMODE(status.st_mode)
    return closed or (stat.S_ISREG(status.st_mode) and status.st_size == 0)


def status_of(child: os.DirEntry[str], failures: Failures, ctx: Context) -> os.stat_result | None:
    """What the disk says of a name, or nothing if it cannot be told."""
    try:
        return child.stat(follow_symlinks=False)
    except OSError as error:
        failures.append(ctx.failure(shown(child.path), "unreadable", error.strerror or "cannot be looked at"))
        return None


def described(child: os.DirEntry[str], failures: Failures, ctx: Context) -> dict[str, Any] | None:
    """What a name stands for as an entry, its time still in seconds; or nothing if it cannot be told."""
    status = status_of(child, failures, ctx)
    if status is None:
        return None
    kind = kind_of(status.st_mode)
    size = status.st_size if kind == "file" else 0
    return {"path": child.path, "name": child.name, "kind": kind, "size": size, "modified": status.st_mtime}


def kind_of(mode: int) -> str:
    """File, folder, link or other."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"


def moment(seconds: float, zone: tzinfo | None) -> str:
    """The time of a file as text."""
    try:
        return datetime.fromtimestamp(seconds, zone).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):  # a damaged disk dates files beyond all calendars
        return datetime.fromtimestamp(0, UTC).isoformat()


def shortened(failures: Failures, path: str, rest: str, ctx: Context, kind: str = "unreadable") -> Failures:
    """A few failures tell as much as thousands: the first, and how many more there are, in the words of ``rest``."""
    more = len(failures) - MOST_FAILURES
    return (
        failures
        if more <= 0
        else Failures([*failures[:MOST_FAILURES], ctx.failure(path, kind, f"and {more} more {rest}")])
    )
