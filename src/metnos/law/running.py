"""What runs and must end in a panic: a list of processes in a file, readable when no database is.

Rules: a process is known by its number together with the time the kernel started it, because a number alone may belong
to another process by now. Entries have a fixed length and lie in blocks that are allocated beforehand; a process that
cannot be listed must not go on. A lost list costs nothing but the reach of a panic: what is not listed still gets no
permit. Does not end any process.
"""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from metnos.core.errors import StoreError
from metnos.core.fixed_file import FixedFile, OpenFixedFile

_SLOT = 32  # bytes of one entry
_BLOCK = 4096  # by which the file grows
_EMPTY = b" " * (_SLOT - 1) + b"\n"
_LARGEST = 1 << 24  # bytes: more processes than a kernel has numbers for
_ENTRY = re.compile(rb" *(\d{1,10}) (\d{1,20}) *\n")


@dataclass(frozen=True, slots=True)
class Running:
    """A process that is alive, or was: compare ``started`` with the kernel before ending it."""

    pid: int
    started: str


class RunningList:
    """The list of one workspace. Threads and processes may share it."""

    def __init__(self, path: Path) -> None:
        self._file = FixedFile(path)

    def create(self) -> None:
        self._file.create(_EMPTY * (_BLOCK // _SLOT))

    def add(self, pid: int, started: str) -> None:
        """List a process. An older one of the same number is gone, or it could not have that number."""
        try:
            self.create()
            with self._file.held() as held:
                slots = list(_slots(held.read(_LARGEST)))
                _write(held, _place(slots, pid), f"{pid} {started}".encode())
        except OSError as error:
            what = f"what runs cannot be listed in {self._file.path}: {error.strerror or error}"
            raise StoreError(what, fix="Free some space, or check who owns it. Nothing was started.") from error

    def remove(self, pid: int) -> None:
        """Take a process off the list. What cannot be taken off stays on it, which harms nothing."""
        with contextlib.suppress(OSError), self._file.held() as held:
            for number, entry in enumerate(_slots(held.read(_LARGEST))):
                if entry is not None and entry.pid == pid:
                    _write(held, number, b"")

    def all(self) -> list[Running]:
        """Everything listed, by number; nothing if the list cannot be read."""
        try:
            raw = self._file.read(_LARGEST)
        except OSError:
            return []
        return sorted((each for each in _slots(raw) if each is not None), key=lambda each: each.pid)


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


def _write(held: OpenFixedFile, number: int, text: bytes) -> None:
    """Fill one slot; a new one comes with a whole block of empty ones behind it."""
    if number * _SLOT >= held.size():
        held.put(_EMPTY * (_BLOCK // _SLOT), number * _SLOT)
    held.put(text.ljust(_SLOT - 1) + b"\n", number * _SLOT)
