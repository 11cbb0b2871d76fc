"""Keeps a workspace open for many at once, and opens it anew when what it was opened from has changed.

Rules: whoever uses it holds a lease; a change of the settings or of the constitution gives the next lease a fresh one,
while the old one goes on until its last lease ends and is then closed. While it cannot be opened, nobody gets any, and
everybody is told why; the next lease tries again.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, Protocol, TypeVar


class Closable(Protocol):
    def close(self) -> None: ...


T = TypeVar("T", bound=Closable)
Look = tuple[tuple[int, ...] | None, ...]


@dataclass(eq=False)
class _Held(Generic[T]):
    it: T
    look: Look
    leases: int = field(default=0)
    retired: bool = field(default=False)


class Keeper(Generic[T]):
    """Hands out what ``open_`` opens; ``files`` are what it depends on."""

    def __init__(self, open_: Callable[[], T], files: Sequence[Path], log: Callable[[str], None]) -> None:
        self._open = open_
        self._files = files
        self._log = log
        self._lock = threading.Lock()
        self._held: _Held[T] | None = None

    @contextlib.contextmanager
    def lease(self) -> Iterator[T]:
        """The one that is current, for as long as the block lasts."""
        with self._lock:
            held = self._current()
            held.leases += 1
        try:
            yield held.it
        finally:
            with self._lock:
                held.leases -= 1
                self._bury(held)

    def close(self) -> None:
        """Close it, whoever still uses it; what comes later opens it anew."""
        with self._lock:
            held, self._held = self._held, None
        if held is not None:
            held.it.close()

    def _current(self) -> _Held[T]:
        # Looked at before opening: a change in between shows as one at the next lease.
        look = tuple(_look(path) for path in self._files)
        if self._held is not None and self._held.look == look:
            return self._held
        old, fresh = self._held, _Held(self._open(), look)
        self._held = fresh
        if old is not None:
            self._log("the settings or the constitution changed: opened anew")
            old.retired = True
            self._bury(old)
        return fresh

    def _bury(self, held: _Held[T]) -> None:
        if held.retired and not held.leases:
            held.it.close()


def _look(path: Path) -> tuple[int, ...] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
