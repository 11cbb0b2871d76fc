"""The folder beside a workspace that a restore unpacks into, and what restores that were killed left behind.

Rules: the folder is locked for as long as its restore goes on, and its name holds its number in the file system. After
the exchange that name holds the workspace that was replaced, which has another number and is never removed. What holds
neither its own number nor a lock is left to a person.
"""

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from metnos.core.records import Check


@contextlib.contextmanager
def staging_folder(root: Path) -> Iterator[Path]:
    """A locked folder to unpack the workspace ``root`` into; what was unpacked goes away with an exception."""
    folder = Path(tempfile.mkdtemp(prefix=_prefix(root), dir=root.parent))
    with _opened(folder) as descriptor:
        with contextlib.suppress(OSError):  # a file system without locks: nothing that was left is removed there
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        folder = folder.replace(folder.with_name(f"{_prefix(root)}{os.fstat(descriptor).st_ino}-{folder.name[-8:]}"))
        try:
            yield folder
        except BaseException:
            if folder.exists() and _is_unpacked(folder):
                shutil.rmtree(folder)
            raise


def remove_leftovers(root: Path) -> None:
    """Remove what killed restores of this workspace unpacked; the doctor names what cannot be removed."""
    for folder in _left(root):
        if _is_unpacked(folder):
            with contextlib.suppress(OSError), _opened(folder) as descriptor:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder)


def check_leftovers(root: Path) -> Iterator[Check]:
    """Name what killed restores of this workspace left behind."""
    for folder in _left(root):
        if _is_unpacked(folder):
            found = f"a restore that was cut short left {folder}, which can hold keys"
            yield Check.yellow("workspace", found, f"rm -r {folder} (the next restore does it, too)")
        else:
            found = f"a restore left {folder}, which can hold the workspace that it replaced"
            yield Check.yellow("workspace", found, "Look at it; then give it another name, or remove it")


def _left(root: Path) -> list[Path]:
    """Every folder of a restore that has ended."""
    try:
        found = sorted(path for path in root.parent.iterdir() if path.name.startswith(_prefix(root)))
    except OSError:
        return []
    return [path for path in found if path.is_dir() and not path.is_symlink() and not _is_locked(path)]


def _is_locked(folder: Path) -> bool:
    try:
        with _opened(folder) as descriptor:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


def _is_unpacked(folder: Path) -> bool:
    """Whether this is still the folder that was made under this name."""
    number = re.fullmatch(r"(\d+)-\w{8}", folder.name.rpartition(".restoring-")[2])
    try:
        return number is not None and int(number[1]) == folder.stat().st_ino
    except OSError:
        return False  # it is gone, or not ours


def _prefix(root: Path) -> str:
    return f".{root.name}.restoring-"


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
