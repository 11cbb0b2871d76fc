"""What runs and must end in a panic: a list of processes in a file, readable when no database is.

Rules: a process is known by its number together with the time the kernel started it, because a number alone may belong
to another process by now. Entries have a fixed length and lie in blocks that are allocated beforehand; a process that
cannot be listed must not go on. A lost list costs nothing but the reach of a panic: what is not listed still gets no
permit. Does not end any process.
"""

import contextlib
import fcntl
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from metnos.core import files
from metnos.core.errors import StoreError

_SLOT = 32  # bytes of one entry
_BLOCK = 4096  # by which the file grows
_EMPTY = b" " * (_SLOT - 1) + b"\n"
_ENTRY = re.compile(rb" *(\d{1,10}) (\d{1,20}) *\n")


@dataclass(frozen=True, slots=True)
class Running:
    """A process that is alive, or was: compare ``started`` with the kernel before ending it."""

    pid: int
    started: str


class RunningList:
    """The list of one workspace. Threads and processes may share it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def create(self) -> None:
        files.create(self._path, _EMPTY * (_BLOCK // _SLOT), mode=files.PRIVATE_FILE)

    def add(self, pid: int, started: str) -> None:
        """List a process. An older one of the same number is gone, or it could not have that number."""
        try:
            self.create()
            with self._held() as descriptor:
                slots = list(_slots(_read(descriptor)))
                _write(descriptor, _place(slots, pid), f"{pid} {started}".encode())
        except OSError as error:
            what = f"what runs cannot be listed in {self._path}: {error.strerror or error}"
            raise StoreError(what, fix="Free some space, or check who owns it. Nothing was started.") from error

    def remove(self, pid: int) -> None:
        """Take a process off the list. What cannot be taken off stays on it, which harms nothing."""
        with contextlib.suppress(OSError), self._held() as descriptor:
            for number, entry in enumerate(_slots(_read(descriptor))):
                if entry is not None and entry.pid == pid:
                    _write(descriptor, number, b"")

    def all(self) -> list[Running]:
        """Everything listed, by number; nothing if the list cannot be read."""
        try:
            raw = self._path.read_bytes()
        except OSError:
            return []
        return sorted((each for each in _slots(raw) if each is not None), key=lambda each: each.pid)

    @contextlib.contextmanager
    def _held(self) -> Iterator[int]:
        descriptor = os.open(self._path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield descriptor
        finally:
            os.close(descriptor)


def _slots(raw: bytes) -> Iterator[Running | None]:
    for start in range(0, len(raw), _SLOT):
        found = _ENTRY.fullmatch(raw[start : start + _SLOT])
        yield Running(int(found[1]), found[2].decode()) if found else None


def _place(slots: list[Running | None], pid: int) -> int:
    """The slot for a process: its own, else a free one, else that of a process that is gone, else a new one."""
    taken = [(number, entry.pid) for number, entry in enumerate(slots) if entry is not None]
    own = (number for number, listed in taken if listed == pid)
    free = (number for number, entry in enumerate(slots) if entry is None)
    gone = (number for number, listed in taken if not _is_there(listed))
    return next(chain(own, free, gone), len(slots))


def _is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def _read(descriptor: int) -> bytes:
    return os.pread(descriptor, os.fstat(descriptor).st_size, 0)


def _write(descriptor: int, number: int, text: bytes) -> None:
    """Fill one slot; a new one comes with a whole block of empty ones behind it."""
    end = os.fstat(descriptor).st_size
    if number * _SLOT >= end:
        block = _EMPTY * (_BLOCK // _SLOT)
        if os.pwrite(descriptor, block, number * _SLOT) != len(block):
            raise OSError(28, os.strerror(28))
    os.pwrite(descriptor, text.ljust(_SLOT - 1) + b"\n", number * _SLOT)
