"""PLAYBOOK.md as a file: read whole, written whole, by one process at a time, and never over what somebody just saved.

Rules: whoever writes holds the lock, which goes with the process however it ends. New content is put on the disk beside
the file and then changes places with it at one stroke; what was in the place until then is looked at afterwards, so a
save by an editor in the last moment is seen and never lost. A link is followed: the file that it leads to is written.
Where the system cannot swap two names, the file is compared right before it is replaced, and a save between those two
calls would be lost.
"""

import contextlib
import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from metnos.core import files
from metnos.core.canon import sha256_hex
from metnos.core.errors import MetnosError, StoreBusy, StoreFull, WorkspaceError

MOST_BYTES = 4_000_000  # a file of rules that nobody could read is none
_PAUSE_S = 0.01


class PlaybookFile:
    """The file and its lock."""

    def __init__(self, path: Path, lock: Path, busy_timeout_s: float = 10.0) -> None:
        self.path = path
        self._lock = lock
        self._busy_timeout_s = busy_timeout_s

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock. Raises `StoreBusy` if somebody else keeps it too long."""
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(self._lock, flags, files.PRIVATE_FILE)
        try:
            self._wait(descriptor)
            yield
        finally:
            os.close(descriptor)

    def read(self) -> bytes | None:
        """What is in the file; nothing if it is not there."""
        try:
            with self._target().open("rb") as file:
                content = file.read(MOST_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._failed("read", error) from error
        if len(content) > MOST_BYTES:
            raise WorkspaceError(
                f"{self.path.name} is larger than {MOST_BYTES // 1_000_000} MB and was left as it is",
                fix="Shorten it: it is read before plans are made.",
            )
        return content

    def stage(self, content: bytes, name: str) -> Path:
        """The content on the disk beside the file, under a name of its own: a ULID."""
        target = self._target()
        staged = target.with_name(f".{target.name}.{name}.tmp")
        try:
            mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else files.PRIVATE_FILE
            files.create(staged, content, mode=mode)
        except OSError as error:
            raise self._failed("written", error) from error
        return staged

    def swap(self, staged: Path, expected: bytes | None) -> bool:
        """Let a staged file take the place of the file; says whether it did, and that of what was expected there.

        If not, ``staged`` either is as it was, or holds what somebody had saved in that place (see `beside`).
        """
        target = self._target()
        try:
            if expected is None:
                return files.place(staged, target)
            if self.read() != expected:
                return False
            if files.exchange(staged, target):
                return self.beside(staged) == expected
            staged.replace(target)
            files.sync_folder(target.parent)
        except OSError as error:
            raise self._failed("written", error) from error
        return True

    def beside(self, staged: Path) -> bytes | None:
        """What is in a staged file; nothing if it is gone."""
        try:
            return staged.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._failed("read", error) from error

    def staged(self) -> list[Path]:
        """Every staged file that was not done away with: somebody was interrupted."""
        target = self._target()
        name = re.compile(rf"\.{{1,2}}{re.escape(target.name)}\.[0-9A-Z]{{26}}\.tmp.*")
        try:
            return [path for path in target.parent.iterdir() if name.fullmatch(path.name)]
        except OSError as error:
            raise self._failed("read", error) from error

    def sweep(self) -> None:
        """Do away with staged files; one that cannot be removed is litter, and nothing else."""
        with contextlib.suppress(OSError, MetnosError):
            for path in self.staged():
                path.unlink(missing_ok=True)

    def _target(self) -> Path:
        return Path(os.path.realpath(self.path))

    def _wait(self, descriptor: int) -> None:
        deadline = time.monotonic() + self._busy_timeout_s
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError as error:
                if time.monotonic() > deadline:
                    raise StoreBusy(
                        f"another process is writing {self.path.name}", fix="Try again in a moment."
                    ) from error
                time.sleep(_PAUSE_S)

    def _failed(self, done: str, error: OSError) -> MetnosError:
        what = f"{self.path.name} cannot be {done}: {error.strerror or error}. It was left as it is."
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            return StoreFull(what, fix="Free some space.")
        return WorkspaceError(what, fix="Check who owns the file and its folder.")


def digest_of(content: bytes | None) -> str:
    """By what a content is known; nothing for a file that is not there."""
    return "" if content is None else sha256_hex(content)
