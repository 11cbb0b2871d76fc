"""Runs one call in the sandbox, in a child that waits ready-made (warm) or in a sandbox of its own (cold).

Rules: a child serves one call and is never used again; one that dies before it began is replaced, and once it began
its call is over. The caller's thread talks with the child until the reply, the deadline or the end; questions of the
child go to ``broker``, whose exceptions end the call. The time that the broker takes is not the child's, up to a
bound. Nothing the child says is believed. Threads may share a pool; a pool does not cross a fork.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from metnos.core.errors import SandboxError
from metnos.sandbox import cgroup
from metnos.sandbox.cgroup import MemoryGroup
from metnos.sandbox.channel import Channel, Closed, Overdue, TooMuch
from metnos.sandbox.interpreter import Python, this_python
from metnos.sandbox.memory import MemoryWatch, find_processes
from metnos.sandbox.packages import find_packages
from metnos.sandbox.profile import KIT, LIBRARIES, NOTHING, Walls
from metnos.sandbox.zygote import Zygote

_SIGSYS = 31
_TRIES = 3
_MOST_MESSAGES = 1_000_000
_LONGEST_ANSWERS_S = 1800.0  # that the broker of one call may take in all, beside the time of the child
_BEGIN_S, _END_S = 30.0, 20.0  # how long a busy machine may take to build walls, and to tell how a child ended
_MOST_REACHED, _LONGEST = 16, 1000  # paths that a child says it reached for, and characters of one
_MOST_CPU_MS = 86_400_000
_SEEN = ("/usr/", "/lib", "/bin", "/sbin", "/etc/", "/tmp/", "/dev/", "/metnos/", "/nonexistent")  # noqa: S108

Broker = Callable[[dict[str, Any], int | None], Any]


@dataclass(frozen=True, slots=True)
class Job:
    """What a child is asked to do: compiled code, arguments, what ``ctx`` knows, the walls around it, libraries."""

    code: bytes
    args: Mapping[str, Any]
    context: Mapping[str, Any]
    walls: Walls
    libraries: tuple[str, ...] = ()  # that the code may import, of `packages.PACKAGES`


@dataclass(slots=True)
class Ended:
    """How a call ended. ``message`` is the child's last word, if it had one."""

    message: dict[str, Any] | None = None
    timed_out: bool = False
    too_much: bool = False
    too_much_memory: bool = False
    signal: int = 0
    exit_code: int = 0
    cpu_ms: float = 0.0
    reached: list[str] = field(default_factory=list)

    @property
    def hostile(self) -> bool:
        """The kernel ended it for a call that no honest program makes."""
        return self.signal == _SIGSYS


class Pool:
    """Sandboxes for one process."""

    def __init__(
        self, bwrap: str = "", *, warm: int = 2, timeout_s: float = 20.0, without: frozenset[str] = NOTHING
    ) -> None:
        self._bwrap = bwrap
        self._warm = warm
        self._timeout_s = timeout_s
        self._without = without
        self._lock = threading.Lock()
        self._zygote: Zygote | None = None
        self._ordered = 0
        self._collecting: list[threading.Thread] = []
        self._pid = os.getpid()
        self.on_start: Callable[[int], None] = lambda _: None
        self.on_stop: Callable[[int], None] = lambda _: None

    def run(self, job: Job, broker: Broker, *, cold: bool = False) -> Ended:
        """Run ``job`` to its end."""
        packed = _pack(job, self._without)
        # Programs share no warm parent, so that all processes below one are those of the call.
        cold = cold or not self._warm or bool(job.walls.programs)
        for _ in range(_TRIES):
            with (
                self._child(cold, job.walls) as (zygote, channel, group),
                self._watch(zygote, channel, job.walls, group) as watch,
            ):
                ended = _converse(zygote, channel, packed, job.walls, broker)
            if ended is not None and watch is not None and watch.exceeded:
                ended.message, ended.too_much_memory = None, True
            if ended is not None:
                return ended
            with self._lock:
                self._drop()  # whatever kills its children before they begin may have got all of them
        raise SandboxError("the sandbox's children die before they begin", fix="Free some memory, then try again.")

    def close(self) -> None:
        with self._lock:
            self._drop()
            for collecting in self._collecting:
                collecting.join()
            self._collecting = []

    # -- children

    @contextlib.contextmanager
    def _child(self, cold: bool, walls: Walls) -> Iterator[tuple[Zygote, Channel, MemoryGroup | None]]:
        if cold:
            zygote, group = self._start(warm=False), None
            try:
                if self._counts_together(walls):
                    group = cgroup.hold(find_processes(zygote.pid, 0), walls.ram_mb << 20)
                zygote.fork()
                channel = zygote.take()
                try:
                    yield zygote, channel, group
                finally:
                    channel.close()
            finally:
                self._put_away(zygote, group)
            return
        zygote, channel = self._take()
        try:
            yield zygote, channel, None
        finally:
            zygote.kill(channel.number)  # whatever it still does, its call is over
            channel.close()
            with self._lock, contextlib.suppress(SandboxError):
                # Only now: making the next one would have taken time from this one.
                if zygote is self._zygote:
                    self._order(zygote, self._warm - self._ordered)

    def _counts_together(self, walls: Walls) -> bool:
        """Whether a call can have several processes, so that the limit of each is not one of the call."""
        return bool(walls.programs) and "limit memory" not in self._without

    def _watch(
        self, zygote: Zygote, channel: Channel, walls: Walls, group: MemoryGroup | None
    ) -> contextlib.AbstractContextManager[MemoryWatch | None]:
        if not self._counts_together(walls):
            return contextlib.nullcontext()
        return MemoryWatch(zygote.pid, walls.ram_mb << 20, lambda: zygote.kill(channel.number), group)

    def _put_away(self, zygote: Zygote, group: MemoryGroup | None) -> None:
        """End a cold sandbox at once, and collect what is left of it beside: its caller has waited enough."""
        zygote.end()
        self.on_stop(zygote.pid)
        collecting = threading.Thread(target=_collect, args=(zygote, group), daemon=True)
        collecting.start()
        with self._lock:
            self._collecting = [each for each in self._collecting if each.is_alive()]
            self._collecting.append(collecting)

    def _start(self, *, warm: bool) -> Zygote:
        return self._announce(Zygote(self._bwrap, warm=warm, timeout_s=self._timeout_s, without=self._without))

    def _announce(self, zygote: Zygote) -> Zygote:
        """Tell `on_start` of a new sandbox; if that raises, end the sandbox."""
        try:
            self.on_start(zygote.pid)
        except BaseException:
            zygote.close()
            raise
        return zygote

    def _take(self) -> tuple[Zygote, Channel]:
        with self._lock:
            for _ in range(_TRIES):
                try:
                    zygote = self._parent()
                    self._order(zygote, max(1, self._warm) if self._ordered < 1 else 0)
                    channel = zygote.take()
                    self._ordered -= 1
                    return zygote, channel
                except SandboxError:
                    lost = self._zygote is not None
                    self._drop()
                    if not lost:
                        raise
        raise SandboxError("the sandbox's warm parent dies again and again", fix="metnos doctor")

    def _order(self, zygote: Zygote, count: int) -> None:
        for _ in range(count):
            zygote.fork()
            self._ordered += 1

    def _parent(self) -> Zygote:
        if self._pid != os.getpid():
            # A fork brought this pool along: the zygote belongs to the process that started it.
            self._zygote, self._ordered, self._collecting, self._pid = None, 0, [], os.getpid()
        if self._zygote is None or not self._zygote.alive():
            self._drop()
            self._zygote = self._start(warm=True)
        return self._zygote

    def _drop(self) -> None:
        if self._zygote is not None and self._pid == os.getpid():
            self._zygote.close()
            self.on_stop(self._zygote.pid)
        self._zygote, self._ordered = None, 0


def _collect(zygote: Zygote, group: MemoryGroup | None) -> None:
    zygote.close()
    if group is not None:
        group.close()


def _pack(job: Job, without: frozenset[str]) -> dict[str, Any]:
    python = this_python()
    walls = job.walls.as_job(without)
    walls["beside"] += [(source, f"{LIBRARIES}/{name}") for source, name in find_packages(job.libraries)]
    return {
        "walls": walls,
        "code": job.code,
        "args": job.args,
        "context": job.context,
        "libraries": [LIBRARIES, KIT] if job.libraries else [],
        "python": str(python.prefix),
        "seen": _seen_by_all(python),
        "shown": [f"{path.rstrip('/')}/" for path in job.walls.binds],
    }


@cache
def _seen_by_all(python: Python) -> tuple[str, ...]:
    """Where every executor may look."""
    return (*_SEEN, *(f"{path}/" for path in python.searched))


def _converse(zygote: Zygote, channel: Channel, packed: dict[str, Any], walls: Walls, broker: Broker) -> Ended | None:
    """Talk with a child until its end; nothing if it died before it began."""
    ended = Ended()
    deadline = time.monotonic() + max(walls.wall_s, _BEGIN_S)
    begun, left = False, _LONGEST_ANSWERS_S
    try:
        channel.send(packed, deadline)
        for _ in range(_MOST_MESSAGES):
            message, descriptor = channel.receive(deadline, walls.output_bytes)
            try:
                if not begun:
                    begun = _began(message)
                    deadline = time.monotonic() + walls.wall_s  # its own time: no foreign code ran before
                elif _heard(message, ended):
                    return ended
                if message["op"] not in ("begun", "reached"):
                    asked = time.monotonic()
                    answer = broker(message, descriptor)
                    took = min(time.monotonic() - asked, left)
                    left, deadline = left - took, deadline + took
                    channel.send(answer, deadline)
            finally:
                if descriptor is not None:
                    os.close(descriptor)
        ended.too_much = True
    except Overdue:
        ended.timed_out = True
    except TooMuch:
        ended.too_much = True
    except Closed:
        pass
    zygote.kill(channel.number)
    _read_ending(channel, ended)
    return ended if begun else None


def _began(message: dict[str, Any]) -> bool:
    """The first word of a child, before any foreign code runs: the walls stand, or why they do not."""
    if message["op"] != "begun":
        raise SandboxError(f"the walls could not be built: {message.get('message')}", fix="metnos doctor")
    return True


def _heard(message: dict[str, Any], ended: Ended) -> bool:
    """Whether this was the child's last word."""
    op = message["op"]
    if op == "reached" and len(ended.reached) < _MOST_REACHED:
        ended.reached.append(str(message.get("path"))[:_LONGEST])
    if op in ("result", "failed", "crashed"):
        ended.message = message
        cpu = message.get("cpu_ms")
        honest = isinstance(cpu, int | float) and 0 <= cpu < _MOST_CPU_MS
        ended.cpu_ms = float(cpu) if honest and cpu is not None else 0.0
        return True
    return False


def _read_ending(channel: Channel, ended: Ended) -> None:
    found = channel.ending(_END_S)
    if found is None:
        return
    status, cpu_ms, _ = found
    ended.cpu_ms = float(cpu_ms)
    if os.WIFSIGNALED(status):
        ended.signal = os.WTERMSIG(status)
    else:
        ended.exit_code = os.WEXITSTATUS(status)
