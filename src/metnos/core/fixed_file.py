"""A small file that is made once, whole, and from then on overwritten where it lies, by any number of processes.

Rules: when `create` returns, every byte of it and its name are on the disk; overwriting takes no new block on most file
systems. Only an ordinary file under its own name counts: a link, a folder, a pipe or a device is an `OSError`, and
opening one never waits. Who changes what they read does so inside `held`, which ends with the process. Does not
guarantee that an overwrite outlives a power cut unless it is synced, nor that a reader without the lock never sees half
of one: what is read has to prove itself.
"""

import contextlib
import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from metnos.core import files

_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_POLL_S = 0.005


class OpenFixedFile:
    """A fixed file that is open, and not a moment longer."""

    __slots__ = ("_descriptor",)

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def read(self, most: int) -> bytes:
        """The first ``most`` bytes."""
        return os.pread(self._descriptor, min(most, self.size()), 0)

    def put(self, content: bytes, at: int) -> None:
        """Overwrite a part of it."""
        if os.pwrite(self._descriptor, content, at) != len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # a short write to a file means a full disk

    def overwrite(self, content: bytes, *, sync: bool = False) -> None:
        """Overwrite all of it; what was longer is cut."""
        self.put(content, 0)
        if self.size() != len(content):
            os.ftruncate(self._descriptor, len(content))
        if sync:
            os.fsync(self._descriptor)


class FixedFile:
    """One such file, by its path. Threads and processes may share it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def exists(self) -> bool:
        """Whether anything has that name, ordinary or not."""
        return os.path.lexists(self.path)

    def create(self, content: bytes) -> bool:
        """Make it, unless something has that name; says whether this call made it."""
        return files.create(self.path, content, mode=files.PRIVATE_FILE)

    def read(self, most: int) -> bytes:
        """The first ``most`` bytes. Waits for no lock."""
        with self._opened(os.O_RDONLY) as opened:
            return opened.read(most)

    def overwrite(self, content: bytes, *, sync: bool = False) -> None:
        """Overwrite all of it. Waits for no lock."""
        with self._opened(os.O_WRONLY) as opened:
            opened.overwrite(content, sync=sync)

    @contextlib.contextmanager
    def held(self, patience_s: float | None = None) -> Iterator[OpenFixedFile]:
        """Hold the lock of the file that has this name now.

        Waits for whoever holds it, for ``patience_s`` at most; then it is a `TimeoutError`.
        """
        until = None if patience_s is None else time.monotonic() + patience_s
        while True:
            with self._descriptor(os.O_RDWR) as descriptor:
                _lock(descriptor, until)
                if self._is_named(descriptor):
                    yield OpenFixedFile(descriptor)
                    return

    @contextlib.contextmanager
    def _opened(self, how: int) -> Iterator[OpenFixedFile]:
        with self._descriptor(how) as descriptor:
            yield OpenFixedFile(descriptor)

    @contextlib.contextmanager
    def _descriptor(self, how: int) -> Iterator[int]:
        descriptor = os.open(self.path, how | _FLAGS)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, "it is not an ordinary file")
            yield descriptor
        finally:
            os.close(descriptor)

    def _is_named(self, descriptor: int) -> bool:
        """Whether the name still leads to the file that is open: another may have its place while one waits."""
        try:
            return os.path.samestat(self.path.stat(follow_symlinks=False), os.fstat(descriptor))
        except FileNotFoundError:
            return False  # the next try to open it says so


def _lock(descriptor: int, until: float | None) -> None:
    if until is None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= until:
                raise TimeoutError(errno.ETIMEDOUT, "another process holds it") from None
            time.sleep(_POLL_S)
