"""The warm parent: forks children ahead of time, hands their channels out, and reports how each ended.

Runs inside bubblewrap with just the rights to mount and to change its uid. It never runs foreign code and reads nothing
that a child says. Standard input is its line to the outside: one packet is one message. When that line ends, it ends
too, and with it everything in its process namespace.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # the enum around it takes long to import
import _socket
import gc
import marshal
import os
import select
import struct

from metnos.sandbox.inside import child, kernel, walls

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing it would double the time of a cold start
    from typing import Any

_LINE = 0
_OWNERS = child.CHANNEL + 1
_HIGH = 16


class Zygote:
    """The children that live, by number."""

    def __init__(self, config: dict[str, Any], line: _socket.socket) -> None:
        self._config = config
        self._line = line
        self._children: dict[int, tuple[int, int]] = {}  # pid: number, where to report its end
        self._last = 0
        self._owners = None
        if config["map_owners"]:
            # It gets the descriptor behind a child's channel, so that a child knows what to keep.
            owners = walls.owners_map(config["uid"], config["uid"])
            os.dup2(owners, _OWNERS)
            self._owners = _OWNERS
        config["last_descriptor"] = _OWNERS if self._owners else child.CHANNEL

    def run(self) -> None:
        """Serve until the line ends."""
        reader, writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        _signal.signal(_signal.SIGPIPE, _signal.SIG_IGN)
        _signal.signal(_signal.SIGCHLD, lambda *_: None)
        _signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self._line.fileno(), select.POLLIN)
        poll.register(reader, select.POLLIN)
        while True:
            ready = dict(poll.poll())
            if reader in ready:
                os.read(reader, 4096)
                self._reap()
            if self._line.fileno() in ready:
                message = self._line.recv(64)
                if not message:
                    # Or bubblewrap would wait for those that are still at work.
                    for pid in self._children:
                        os.kill(pid, _signal.SIGKILL)
                    return
                if message[:1] == b"F":
                    self._fork()
                elif message[:1] == b"K":
                    self._kill(int(message[1:]))

    def _fork(self) -> None:
        self._last += 1
        ours, theirs = _socketpair()
        status_reader, status_writer = os.pipe2(os.O_CLOEXEC)
        pid = kernel.fork_into(self._config["namespaces"])
        if pid == 0:
            try:
                _signal.set_wakeup_fd(-1)
                _signal.signal(_signal.SIGCHLD, _signal.SIG_DFL)
                child.serve(theirs, self._config, self._owners)
            finally:
                os._exit(1)
        os.close(theirs)
        self._children[pid] = (self._last, status_writer)
        rights = struct.pack("ii", ours, status_reader)
        self._line.sendmsg([b"%d" % self._last], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
        os.close(ours)
        os.close(status_reader)

    def _kill(self, number: int) -> None:
        for pid, (known, _) in self._children.items():
            if known == number:
                os.kill(pid, _signal.SIGKILL)

    def _reap(self) -> None:
        while self._children:
            pid, status, used = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                return
            _, report = self._children.pop(pid, (0, -1))
            if report < 0:
                continue
            cpu_ms = int((used.ru_utime + used.ru_stime) * 1000)
            try:
                os.write(report, struct.pack("!iqq", status, cpu_ms, used.ru_maxrss))
            except OSError:  # nobody waits for it
                pass
            os.close(report)


def _socketpair() -> tuple[int, int]:
    one, other = _socket.socketpair(_socket.AF_UNIX, _socket.SOCK_STREAM)
    return one.detach(), other.detach()


def _high(descriptor: int) -> _socket.socket:
    """The line under a high number: the low ones belong to a child's channel and the id map."""
    copy = os.dup2(descriptor, _HIGH, inheritable=False)
    return _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET, 0, copy)


def main(packed: bytes) -> None:
    """Take the configuration and serve; a failure is told and ends everything."""
    line = _high(_LINE)
    try:
        config = marshal.loads(packed)
        if config["leave_keyring"]:
            kernel.leave_keyring()
        for name in config["preload"]:
            __import__(name)
        zygote = Zygote(config, line)
        walls.furnish(config)
    except BaseException as error:
        line.send(b"E" + f"{type(error).__name__}: {error}"[:500].encode())
        os._exit(1)
    gc.freeze()  # or every child would copy the memory that its first collection touches
    line.send(b"R")
    zygote.run()
    os._exit(0)
