"""What a running call can see and must not: something private that came into a folder after its walls were built.

Rules: masks cover what was there. A file that takes a masked one's name, or comes in beside it, is in plain sight
inside; so before anything leaves a call it is looked again. Only folders that changed are read again: a folder is known
by its number and by the time of its last change, and one that changed a moment ago is read in any case, because the
next change may bear the same time. Does not guarantee that something is noticed that came and went between two looks,
or in a folder that was itself moved out of sight meanwhile.
"""

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from metnos.law.forbidden import TooMany

_YOUNG_NS = 100_000_000  # clocks of file systems tick every few milliseconds, some on the network more slowly
_UNKNOWN = (0, 0, 0)

_Mark = tuple[int, int, int]
Enter = Callable[[str], bool]
PrivateBelow = Callable[[Path, Enter], Iterator[Path]]  # what is private below a folder; asks before it goes into one


class Exposed(Exception):
    """Something private is in sight of a call."""


class Exposure:
    """What one call sees: its folders as they were when they were last read, and what in them is covered."""

    def __init__(self) -> None:
        self._roots: dict[str, int] = {}  # a handle on each folder that was bound: that one stays in sight
        self._folders: dict[str, _Mark] = {}
        self._files: list[str] = []  # other than folders when the walls were built, to be asked for once after that
        self._covered: dict[str, _Mark] = {}
        self._is_exposed = False
        self._private_below: PrivateBelow = lambda _folder, _enter: iter(())

    def close(self) -> None:
        while self._roots:
            os.close(self._roots.popitem()[1])

    def cover(self, folders: Iterable[Path], private_below: PrivateBelow) -> Iterator[Path]:
        """What has to be covered in folders that will be shown, each of them once, before that."""
        self._private_below = private_below
        for folder in folders:
            if not folder.is_dir():
                self._files.append(str(folder))
                continue
            if str(folder) not in self._roots:  # a call may name one twice
                self._roots[str(folder)] = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            for path in private_below(folder, self._enter):
                self._covered[str(path)] = _mark_entry(path)
                yield path

    def check(self) -> None:
        """Raise `Exposed` if anything private is in sight, or was at an earlier look."""
        try:
            self._is_exposed = self._is_exposed or self._look_again()
        except TooMany:
            self._is_exposed = True
        if self._is_exposed:
            raise Exposed

    def _look_again(self) -> bool:
        moved = [root for root, at in self._roots.items() if _identity(os.fstat(at)) != identify(root)]
        if any(self._shows_elsewhere(root) for root in moved):
            return True
        self._folders |= {path: _UNKNOWN for path in self._files if os.path.isdir(path)}  # noqa: PTH112 -- often many
        self._files = []
        changed = [folder for folder, mark in self._folders.items() if _mark_folder(folder) != mark]
        return any(self._shows_now(folder) for folder in changed)

    def _enter(self, folder: str) -> bool:
        """Note a folder before it is read, so that no change is missed; once is enough."""
        if folder in self._folders:
            return False
        self._folders[folder] = _settle(_mark_folder(folder))
        return True

    def _shows_now(self, folder: str) -> bool:
        """Read a folder again, and those that are new in it."""
        del self._folders[folder]
        found = self._private_below(Path(folder), self._enter)
        return any(self._covered.get(str(path)) != _mark_entry(path) for path in found)

    def _shows_elsewhere(self, root: str) -> bool:
        """A folder that was moved or replaced is still in sight, wherever it is now."""
        now = os.readlink(f"/proc/self/fd/{self._roots[root]}")  # noqa: PTH115 -- a name that the kernel makes up
        for folder in [each for each in self._folders if each == root or each.startswith(f"{root}/")]:
            del self._folders[folder]
        covered = {mark for path, mark in self._covered.items() if path.startswith(f"{root}/")}
        # Both: it may have been replaced before it was bound, or after.
        found = (
            (path, Path(place)) for place in (now, root) for path in self._private_below(Path(place), lambda _: True)
        )
        return any(not _is_covered(path, place, covered) for path, place in found)


def identify(path: str) -> tuple[int, int]:
    """Which file or folder a path is now, links not followed."""
    return _identity(_status(path))


def _is_covered(path: Path, root: Path, covered: set[_Mark]) -> bool:
    """Whether a path is one of those that are covered, or lies in one: covers go where a folder that is shown goes."""
    return any(_mark_entry(each) in covered for each in (path, *path.parents) if each.is_relative_to(root))


def _status(path: str) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except OSError:
        return None


def _identity(status: os.stat_result | None) -> tuple[int, int]:
    return (status.st_dev, status.st_ino) if status else (0, 0)


def _mark_folder(path: str) -> _Mark:
    status = _status(path)
    return (status.st_dev, status.st_ino, status.st_ctime_ns) if status else _UNKNOWN


def _settle(mark: _Mark) -> _Mark:
    """A mark that another change could bear too is none; nor is one from the future."""
    return mark if time.clock_gettime_ns(time.CLOCK_REALTIME) - mark[2] > _YOUNG_NS else _UNKNOWN


def _mark_entry(path: Path) -> _Mark:
    """What something covered is: of a file also when it last changed, because numbers of deleted ones come again."""
    status = _status(str(path))
    if status is None:
        return _UNKNOWN
    return (status.st_dev, status.st_ino, 0 if stat.S_ISDIR(status.st_mode) else status.st_ctime_ns)
