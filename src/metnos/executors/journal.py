"""The journal of an executor: one line of JSON for each use, in its own folder.

Rules: holds times, counts and error classes, never content; stays below a bound by dropping its older half; never
raises into a run, because a call that was made stays made whatever the disk says: the problem is returned instead. Two
processes take turns by a lock on the file. Does not guarantee that a line survives a power cut.
"""

import fcntl
import json
import os
import stat
from dataclasses import asdict, dataclass
from pathlib import Path

from metnos.core import files
from metnos.core.canon import canonical_json
from metnos.executors.folder import JOURNAL

MOST_BYTES = 256 * 1024


@dataclass(frozen=True, slots=True)
class Line:
    """One use. ``kind`` is the error class, or empty."""

    ts: str
    ok: bool
    kind: str
    wall_ms: int
    cpu_ms: int


def append(folder: Path, line: Line) -> str:
    """Write one line behind the others; returns what went wrong, or an empty string."""
    try:
        descriptor = _open(folder)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            return _append(descriptor, canonical_json(asdict(line)) + b"\n")
        finally:
            os.close(descriptor)
    except OSError as error:
        return f"the journal of {folder.name} cannot be written: {error.strerror}"


def read(folder: Path) -> list[Line]:
    """Every readable line, the oldest first. What is no line is passed over."""
    try:
        raw = (folder / JOURNAL).read_bytes()
    except OSError:
        return []
    return [line for each in raw.splitlines() if (line := _parse(each)) is not None]


def _open(folder: Path) -> int:
    """The file itself, never what a link leads to, and made by us if it is not there."""
    home = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(JOURNAL, flags, files.PRIVATE_FILE, dir_fd=home)
    finally:
        os.close(home)


def _append(descriptor: int, content: bytes) -> str:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        return "the journal is not an ordinary file"
    if status.st_size + len(content) > MOST_BYTES:
        _drop_older_half(descriptor, status.st_size)
        status = os.fstat(descriptor)
    if status.st_size and os.pread(descriptor, 1, status.st_size - 1) != b"\n":
        content = b"\n" + content  # the end of a torn line must not swallow ours
    if os.write(descriptor, content) != len(content):
        return "the journal is torn: the disk is full"
    return ""


def _drop_older_half(descriptor: int, size: int) -> None:
    """Keep the newer half, from the beginning of a line on. A crash here tears a journal, and only that."""
    kept = os.pread(descriptor, MOST_BYTES // 2, max(0, size - MOST_BYTES // 2))
    kept = kept[kept.find(b"\n") + 1 :]
    os.ftruncate(descriptor, 0)
    os.write(descriptor, kept)


def _parse(raw: bytes) -> Line | None:
    try:
        data = json.loads(raw)
        return Line(str(data["ts"]), bool(data["ok"]), str(data["kind"]), int(data["wall_ms"]), int(data["cpu_ms"]))
    except (ValueError, TypeError, KeyError):
        return None
