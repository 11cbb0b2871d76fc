"""Holds all processes of one call together to its memory, where each of them alone has a limit of the kernel's.

Rules: only a call that may start programs has more than one process, so only such a call is looked at, from outside and
about 25 times a second; what cannot be looked at any more ends the call. Counts what each process has in memory or in
swap, pages that several share once, and what lies in the call's /tmp. Where the call has a cgroup, the kernel holds it
to the limit at every moment, and what it ended for that ends the call. Without one, more can be had between two looks.
"""

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType

from metnos.sandbox.cgroup import MemoryGroup

_EVERY_S = 0.04
_AGAIN_S = 0.005  # a program that is just being started shares its memory with the one that starts it, and counts twice
_OWN = 2  # levels of processes that are ours: bubblewrap's first one, and the zygote


class MemoryWatch:
    """Looks at the processes of one sandbox for as long as a call lasts."""

    def __init__(self, root: int, most: int, stop_call: Callable[[], None], group: MemoryGroup | None = None) -> None:
        self._root = root
        self._most = most
        self._stop_call = stop_call
        self._group = group
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="metnos-memory", daemon=True)
        self.exceeded = False

    def __enter__(self) -> "MemoryWatch":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()
        self.exceeded = self.exceeded or self._kernel_said_so()

    def _watch(self) -> None:
        try:
            while not self._over.wait(_EVERY_S):
                again = self._is_too_much() and not self._over.wait(_AGAIN_S) and self._is_too_much()
                if again or self._kernel_said_so():
                    self.exceeded = True  # whatever the call says meanwhile
                    return
        finally:
            self.exceeded = self.exceeded or not self._over.is_set()
            if self.exceeded:
                self._stop_call()

    def _kernel_said_so(self) -> bool:
        return self._group is not None and self._group.exceeded

    def _is_too_much(self) -> bool:
        pids = list(find_processes(self._root, _OWN))
        files = _files_of(pids[0]) if pids else 0
        # What is resident counts shared pages in each process: if that is little, the costlier count is not needed.
        if files + sum(map(_resident, pids)) <= self._most:
            return False
        return files + sum(map(measure_memory, pids)) > self._most


def find_processes(root: int, below: int) -> Iterator[int]:
    """The processes that descend from ``root``, from ``below`` generations after it on; parents come first."""
    generation, depth = [root], 0
    while generation:
        if depth >= below:
            yield from generation
        generation = [child for pid in generation for child in _children(pid)]
        depth += 1


def measure_memory(pid: int) -> int:
    """Bytes that a process has for itself, with its share of what it has with others; 0 if it is gone."""
    try:
        return _sum(Path(f"/proc/{pid}/smaps_rollup"), b"Pss:", b"SwapPss:")
    except PermissionError:
        return _resident(pid)
    except OSError:
        return 0


def _children(pid: int) -> list[int]:
    """What each of its threads started: the kernel lists children by the thread that forked them."""
    found = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):  # a thread that ended: its children belong to another by now
                found += [int(word) for word in (thread / "children").read_bytes().split()]
    return found


def _resident(pid: int) -> int:
    with contextlib.suppress(OSError):
        return _sum(Path(f"/proc/{pid}/status"), b"VmRSS:", b"VmSwap:")
    return 0


def _sum(path: Path, *names: bytes) -> int:
    """The lines with these names, which the kernel gives in KB."""
    lines = (line.split() for line in path.read_bytes().splitlines())
    return sum(int(words[1]) << 10 for words in lines if words and words[0] in names)


def _files_of(pid: int) -> int:
    """What lies in a call's /tmp, which is memory too; it has a bound of its own where it cannot be looked at."""
    with contextlib.suppress(OSError):
        found = os.statvfs(f"/proc/{pid}/root/tmp")
        return (found.f_blocks - found.f_bfree) * found.f_frsize
    return 0
