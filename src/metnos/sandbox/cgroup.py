"""Have the kernel hold all processes of one call together to its memory, by a cgroup of the call's own.

Rules: this is possible in a service to which systemd delegated its cgroup (version 2), as `metnos service install`
makes it, and for root where the memory controller is of version 1. Everywhere else `hold` gives nothing, and
`memory.MemoryWatch` alone counts. A cgroup is removed when its call is over; those that a killed process left are
removed by the next call. Does not guarantee that a cgroup can be had: whatever fails on the way is a no.
"""

import contextlib
import itertools
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PREFIX, _MAIN = "metnos-call-", "metnos-main"
_NUMBERS = itertools.count(1)
_EMPTY_S = 2.0  # how long processes that were killed may take to leave
_DELEGATED = ("user.delegate", "trusted.delegate")  # where systemd notes that a cgroup is given away


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Where cgroups of calls can be made, and what their files are called."""

    base: Path
    limits: tuple[str, ...]
    with_swap: tuple[str, ...]
    together: str  # the file that has all of a cgroup ended, if one of it is
    events: str


@dataclass(frozen=True, slots=True)
class MemoryGroup:
    """The cgroup of one call."""

    folder: Path
    events: str

    @property
    def exceeded(self) -> bool:
        """Whether the kernel ended a process because all of them together had too much."""
        with contextlib.suppress(OSError, ValueError):
            lines = (self.folder / self.events).read_text(encoding="ascii").split("\n")
            return any(
                name == "oom_kill" and int(count) > 0 for name, _, count in (line.partition(" ") for line in lines)
            )
        return False

    def close(self) -> None:
        """Remove it, once its processes are gone."""
        deadline = time.monotonic() + _EMPTY_S
        while not _removed(self.folder) and time.monotonic() < deadline:
            time.sleep(0.01)


def hold(pids: Iterable[int], most: int) -> MemoryGroup | None:
    """Put processes, and all that they start from now on, into a cgroup of at most so many bytes, where we may."""
    places = find_hierarchy()
    if places is None:
        return None
    _remove_left(places.base)
    group = MemoryGroup(places.base / f"{_PREFIX}{os.getpid()}-{next(_NUMBERS)}", places.events)
    try:
        group.folder.mkdir()
        for name in places.limits:
            (group.folder / name).write_text(str(most), encoding="ascii")
        for name in places.with_swap:
            with contextlib.suppress(FileNotFoundError):  # of a kernel that does not count swap
                (group.folder / name).write_text("0" if name.endswith(".max") else str(most), encoding="ascii")
        if places.together:
            (group.folder / places.together).write_text("1", encoding="ascii")
        for pid in pids:
            (group.folder / "cgroup.procs").write_text(str(pid), encoding="ascii")
    except OSError:
        _removed(group.folder)
        return None
    return group


def read_places(mounts: str, own: str) -> tuple[Path | None, Path | None]:
    """The folders of this process's cgroup in version 2, and of its memory controller in version 1, if there are such.

    ``mounts`` is what /proc/self/mountinfo holds, ``own`` what /proc/self/cgroup does.
    """
    paths = {}
    for line in own.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" and not controllers:
            paths["cgroup2"] = path
        elif "memory" in controllers.split(","):
            paths["cgroup"] = path
    found: dict[str, Path] = {}
    for line in mounts.splitlines():
        head, _, tail = line.partition(" - ")
        words, kinds = head.split(" "), tail.split(" ")
        if len(words) < 5 or len(kinds) < 3 or kinds[0] not in paths:
            continue
        if kinds[0] == "cgroup" and "memory" not in kinds[2].split(","):
            continue
        path, root = paths[kinds[0]], words[3].rstrip("/")
        if path == root or path.startswith(f"{root}/"):
            found.setdefault(kinds[0], Path(words[4], path[len(root) :].strip("/")))
    return found.get("cgroup2"), found.get("cgroup")


@cache
def find_hierarchy() -> Hierarchy | None:
    """Where cgroups of calls can be made; nothing where they cannot."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
        own = Path("/proc/self/cgroup").read_text(encoding="utf-8", errors="surrogateescape")
        unified, memory = read_places(mounts, own)
        if unified is not None and (base := divide(unified)) is not None:
            return Hierarchy(base, ("memory.max",), ("memory.swap.max",), "memory.oom.group", "memory.events")
        if memory is not None and os.access(memory, os.W_OK):
            limits, with_swap = ("memory.limit_in_bytes",), ("memory.memsw.limit_in_bytes",)
            return Hierarchy(memory, limits, with_swap, "", "memory.oom_control")
    except OSError:
        pass  # then it is not possible
    return None


def divide(folder: Path) -> Path | None:
    """Make a cgroup of version 2 that was given to us ready for others below it; nothing if it was not given.

    A cgroup that has others below it may have no process of its own: those it has go into one beside the calls.
    """
    if folder.name == _MAIN:
        folder = folder.parent
    if not _is_delegated(folder) or "memory" not in (folder / "cgroup.controllers").read_text(encoding="ascii").split():
        return None
    main = folder / _MAIN
    main.mkdir(exist_ok=True)
    for pid in (folder / "cgroup.procs").read_text(encoding="ascii").split():
        with contextlib.suppress(ProcessLookupError):
            (main / "cgroup.procs").write_text(pid, encoding="ascii")
    (folder / "cgroup.subtree_control").write_text("+memory", encoding="ascii")
    return folder


def _is_delegated(folder: Path) -> bool:
    for name in _DELEGATED:
        with contextlib.suppress(OSError):
            if os.getxattr(folder, name) == b"1":
                return True
    return False


def _remove_left(base: Path) -> None:
    """Remove the cgroups of processes that were killed. One that still has processes stays."""
    for folder in base.glob(f"{_PREFIX}*"):
        owner = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            _removed(folder)


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
