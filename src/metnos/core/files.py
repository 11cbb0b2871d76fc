"""Writing files so that nobody ever sees half of one, and reading those of others.

Rules: a file appears whole or not at all, and is on the disk when the call returns; `create` never replaces, so two
processes that create one file at once leave one winner; private files are never readable by others, not even for the
moment between making and protecting them. Does not guarantee anything on file systems that ignore fsync.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from metnos.core.errors import MetnosError

PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
PLAIN_FILE = 0o644

_NO_HARD_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)  # what file systems such as FAT answer
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def replace(path: Path, content: bytes, *, mode: int = PLAIN_FILE) -> None:
    """Write ``path`` anew: readers see the old content or the new one, nothing between."""
    staged = _stage(path, content, mode)
    try:
        staged.replace(path)
    except OSError:
        staged.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def create(path: Path, content: bytes, *, mode: int = PLAIN_FILE) -> bool:
    """Write ``path`` unless it is there already, and say whether this call wrote it."""
    if path.is_symlink() or path.exists():
        return False
    staged = _stage(path, content, mode)
    try:
        return place(staged, path)
    finally:
        staged.unlink(missing_ok=True)


def place(staged: Path, path: Path) -> bool:
    """Give a finished file beside ``path`` that name, unless something has it already; says whether it did."""
    try:
        os.link(staged, path)  # unlike a rename, a link never replaces
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE_FILE))
        except FileExistsError:
            return False
        staged.replace(path)
    sync_folder(path.parent)
    return True


def read_outside(path: Path, most: int, kind: str, error: Callable[..., MetnosError]) -> bytes:
    """The bytes of a file that somebody brought: an ordinary one of at most ``most`` bytes, which ``kind`` of thing it
    is to be. What it is not is told as an ``error``."""
    fix = f"Name a {kind}."
    odd = f"{path} is not an ordinary file, and so no {kind}"
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # before it is opened: that alone makes some devices do something
            raise error(odd, fix=fix)
        # Not blocking: opening a pipe that somebody put there since would otherwise wait for ever.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise error(odd, fix=fix)
            raw = file.read(most + 1)
    except OSError as failed:
        raise error(f"{path} cannot be read: {failed.strerror}", fix=fix) from failed
    if len(raw) > most:
        raise error(f"{path} is larger than a {kind} can be ({most / (1 << 20):.3g} MB); it was not read", fix=fix)
    return raw


def private_folder(path: Path) -> None:
    """Make ``path`` with its parents, closed to others. A folder that is there already keeps its mode."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=PRIVATE_FOLDER)


@contextlib.contextmanager
def held(path: Path) -> Iterator[bool]:
    """Whether this is the only one that has the lock file ``path``, for as long as it lasts. Never waits."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, PRIVATE_FILE)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def exchange(one: Path, other: Path) -> bool:
    """Swap two names at one stroke, so that neither is ever missing; says whether the system could."""
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        rename = libc.renameat2
    except AttributeError:
        return False  # not Linux, or a C library older than the call
    swapped: bool = rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0
    if swapped:
        sync_folder(one.parent)
        sync_folder(other.parent)
    return swapped


def sync_folder(folder: Path) -> None:
    """Put a folder's own entries on the disk: without it a new file's name may be lost with the power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _stage(path: Path, content: bytes, mode: int) -> Path:
    """The content in a temporary file beside ``path``, synced. ``mkstemp`` makes it private from the first moment."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    staged = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
    except BaseException:
        staged.unlink(missing_ok=True)
        raise
    return staged
