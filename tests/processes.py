"""The processes that tests start: as a terminal would start them, and none of them outlives its test.

A worker adopts whatever its tests leave behind (it is a *subreaper*), so a daemon that lost its parent is found, too.
"""

import contextlib
import ctypes
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

_SET_CHILD_SUBREAPER = 36  # prctl(2)
_GRACE_S = 10.0  # a process that was told to end may need a moment on a busy machine
# Started once and used by several tests: a warm sandbox of a shared workspace, what a browser starts for itself, and a
# helper of Python's own.
_SHARED = ("metnos.sandbox.inside.zygote", "chromium --type=", "multiprocessing.resource_tracker")
_RESET = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD)


@dataclass(frozen=True, slots=True)
class Child:
    """A process below this one. Its start time tells it from a later one of the same number."""

    pid: int
    parent: int
    started: str
    state: str

    @property
    def command(self) -> str:
        try:
            return Path(f"/proc/{self.pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            return ""

    @property
    def is_shared(self) -> bool:
        return any(each in self.command for each in _SHARED)


def adopt() -> None:
    """Become the parent of every descendant that loses its own."""
    ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reset_signals() -> None:
    """Undo what cron, nohup or a shell's `&` make every child inherit: signals that are ignored or blocked."""
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for number in _RESET:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL)
    if signal.getsignal(signal.SIGPIPE) is signal.SIG_DFL:
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)  # as Python itself has it; its children get the default


def descendants() -> dict[int, Child]:
    """Every process below this one, by its number."""
    found: dict[int, Child] = {}
    waiting = [os.getpid()]
    while waiting:
        parent = waiting.pop()
        for pid in _children(parent):
            if pid not in found and (child := _look(pid, parent)):
                found[pid] = child
                waiting.append(pid)
    return found


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):  # it ended
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += map(int, (thread / "children").read_text(encoding="ascii").split())
    return found


def _look(pid: int, parent: int) -> Child | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    fields = stat[stat.rindex(")") + 2 :].split()
    return Child(pid, parent, fields[19], fields[0])


def end_new(before: dict[int, Child], *, shared: bool = False) -> list[str]:
    """Wait for every process that was not there before, then kill it; the commands of those that had to be killed.

    Those that several tests share are left alone, or ended with the others if ``shared`` is given.
    """
    deadline = time.monotonic() + _GRACE_S
    while (left := _new(before, shared)) and time.monotonic() < deadline:
        time.sleep(0.01)
    commands = [f"{each.pid}: {each.command[:200]}" for each in left]
    while left := _new(before, shared):
        for each in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each.pid, signal.SIGKILL)
        time.sleep(0.01)
    return commands


def _new(before: dict[int, Child], shared: bool) -> list[Child]:
    """What runs and did not run before. What ended is taken off the list of processes, whoever started it."""
    found = []
    for each in descendants().values():
        if each.pid in before and before[each.pid].started == each.started:
            continue
        if each.state not in "ZX":
            found.append(each)
        elif each.parent == os.getpid():
            with contextlib.suppress(ChildProcessError):
                os.waitpid(each.pid, os.WNOHANG)
    return [each for each in found if shared or not each.is_shared]
