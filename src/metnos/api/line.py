"""A socket of lines: bounded, never waiting for ever, and interruptible by a bell.

Rules: a line that is too long ends the conversation, because where the next one begins cannot be known; a peer that
does not read for a while counts as gone. Does not know what the lines mean: see `metnos.api.wire`.
"""

import os
import select
import socket
import struct
import time
from collections.abc import Mapping
from typing import Any

from metnos.api.wire import LONGEST_EVENT, LONGEST_REQUEST, Message, pack, unpack
from metnos.core.errors import DaemonError

_CHUNK = 1 << 16
_SEND_S = 60.0


class Gone(Exception):
    """The other side is not there any more."""


class Overdue(Exception):
    """Nothing came in time."""


class Rung(Exception):
    """The bell rang while there was nothing to read."""


class Bell:
    """Can be rung once, by any thread or a signal; whoever waits for a line hears it."""

    def __init__(self) -> None:
        self._descriptor = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self.rung = False

    def ring(self) -> None:
        self.rung = True
        os.eventfd_write(self._descriptor, 1)

    def fileno(self) -> int:
        return self._descriptor

    def __del__(self) -> None:
        os.close(self._descriptor)  # not earlier: the number would be another's while somebody still listens to it


class Line:
    """One side of a connection."""

    def __init__(self, connection: socket.socket, *, longest: int) -> None:
        self._socket = connection
        self._longest = longest
        self._held = b""
        connection.settimeout(_SEND_S)

    @classmethod
    def of_client(cls, connection: socket.socket) -> "Line":
        """The daemon's side."""
        return cls(connection, longest=LONGEST_REQUEST)

    @classmethod
    def of_daemon(cls, connection: socket.socket) -> "Line":
        """A client's side."""
        return cls(connection, longest=LONGEST_EVENT)

    def send(self, message: Mapping[str, Any]) -> None:
        line = pack(message)
        try:
            self._socket.sendall(line)
        except OSError as error:
            raise Gone from error

    def receive(self, patience_s: float | None = None, bell: Bell | None = None) -> Message:
        """The next message. Raises `Gone`, `Overdue`, `Rung`, or `DaemonError` for what is none."""
        deadline = None if patience_s is None else time.monotonic() + patience_s
        parts: list[bytes] = []
        size, chunk = 0, self._held
        while b"\n" not in chunk:
            parts.append(chunk)
            size += len(chunk)
            if size > self._longest:
                raise TooLong(self._longest)
            try:
                self._wait(deadline, bell)
            except (Overdue, Rung):
                self._held = b"".join(parts)  # half a line: the rest of it may still come
                raise
            chunk = self._receive()
        end, _, self._held = chunk.partition(b"\n")
        if size + len(end) > self._longest:
            raise TooLong(self._longest)
        return unpack(b"".join([*parts, end]))

    def hung_up(self) -> bool:
        """Whether the other side will never send again, even if something it sent is still unread."""
        poll = select.poll()
        poll.register(self._socket, select.POLLRDHUP)
        return bool(poll.poll(0))

    def leave(self, patience_s: float) -> None:
        """Say that nothing more will come, and give the other side a moment to end what it does."""
        try:
            self._socket.shutdown(socket.SHUT_WR)
            deadline = time.monotonic() + patience_s
            while time.monotonic() < deadline:
                self._wait(deadline, None)
                self._receive()
        except (OSError, Gone, Overdue):
            return

    def close(self) -> None:
        self._socket.close()

    def _wait(self, deadline: float | None, bell: Bell | None) -> None:
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        if bell is not None:
            poll.register(bell, select.POLLIN)
        left = None if deadline is None else max(0.0, deadline - time.monotonic()) * 1000
        ready = {descriptor for descriptor, _ in poll.poll(left)}
        if not ready:
            raise Overdue
        if self._socket.fileno() not in ready:
            raise Rung

    def _receive(self) -> bytes:
        try:
            chunk = self._socket.recv(_CHUNK)
        except OSError as error:
            raise Gone from error
        if not chunk:
            raise Gone
        return chunk


class TooLong(DaemonError):
    """A line beyond the limit: nothing behind it can be understood."""

    def __init__(self, longest: int) -> None:
        super().__init__(f"that line is longer than {longest:,} bytes", fix="Ask for less at once.")


def peer_uid(connection: socket.socket) -> int:
    """The account of the process at the other end, by the kernel's word."""
    return _peer(connection)[1]


def peer_pid(connection: socket.socket) -> int:
    """The process at the other end, as it was when it connected; 0 if it cannot be seen from here."""
    return _peer(connection)[0]


def _peer(connection: socket.socket) -> tuple[int, int]:
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid, uid, _ = struct.unpack("3i", raw)
    return int(pid), int(uid)
