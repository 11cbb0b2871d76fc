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
_SHARED = (
    "metnos.sandbox.inside.zygote",
    "chromium --type=",
    "headless-shell --type=",
    "multiprocessing.resource_tracker",
)
_RESET = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM, signal.SIGPIPE, signal.SIGCHLD)


@dataclass(frozen=True, slots=True)
class Child:
    """A child of this process. Its start time tells it from a later one of the same number."""

    pid: int
    started: str
    state: str

    @property
    def command(self) -> str:
        try:
            return Path(f"/proc/{self.pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            return ""

    @property
    def age_s(self) -> float:
        """For how long it has been running."""
        uptime = float(Path("/proc/uptime").read_text(encoding="ascii").split()[0])
        return uptime - int(self.started) / os.sysconf("SC_CLK_TCK")

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


def children() -> dict[int, Child]:
    """Every child of this process, by its number.

    Grandchildren need no look: they end with their parent, or become children when it is gone.
    """
    found: dict[int, Child] = {}
    for thread in os.listdir("/proc/self/task"):  # noqa: PTH208 -- it is read twice for each test
        try:
            with open(f"/proc/self/task/{thread}/children", "rb") as file:
                pids = file.read().split()
        except OSError:  # the thread ended
            continue
        for pid in map(int, pids):
            if child := _look(pid):
                found[pid] = child
    return found


def _look(pid: int) -> Child | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return Child(pid, fields[19].decode(), fields[0].decode())


def end_new(before: dict[int, Child], *, shared: bool = False) -> list[str]:
    """Wait for every process that was not there before, then kill it; the commands of those that had to be killed.

    Those that several tests share are left alone, or ended with the others if ``shared`` is given.
    """
    deadline = time.monotonic() + _GRACE_S
    while (left := _new(before, shared)) and time.monotonic() < deadline:
        time.sleep(0.01)
    commands = [f"{each.pid}: {each.command[:200]} (for {each.age_s:.0f} s)" for each in left]
    kill_new(before, shared=shared)
    return commands


def kill_new(before: dict[int, Child], *, shared: bool = False) -> None:
    """Kill every process that was not there before, and see it gone."""
    while left := _new(before, shared):
        for each in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(each.pid, signal.SIGKILL)
        time.sleep(0.01)


def _new(before: dict[int, Child], shared: bool) -> list[Child]:
    """What runs and did not run before. What ended is taken off the list of processes, whoever started it."""
    found = []
    for each in children().values():
        if each.pid in before and before[each.pid].started == each.started:
            continue
        if each.state not in "ZX":
            found.append(each)
        else:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(each.pid, os.WNOHANG)
    return [each for each in found if shared or not each.is_shared]
