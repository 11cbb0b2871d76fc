"""The outside's end of a child's channel: frames in both directions, read with a deadline and a limit.

Rules: what comes in is JSON of bounded size with at most one descriptor, and is untrusted; what goes out is marshalled.
A message takes no more memory than twice the greatest one that may come, whatever it is made of: how much room it needs
is judged before it is decoded, since eight megabytes of empty lists become hundreds.
"""

import array
import contextlib
import marshal
import os
import socket
import struct
import time
from typing import Any

from metnos.core.descriptors import has_input
from metnos.core.errors import SandboxError
from metnos.sandbox import message_json

_HEADER = struct.Struct("!I")
_STATUS = struct.Struct("!iqq")


class Closed(Exception):
    """The child is gone."""


class Overdue(Exception):
    """The child did not answer in time."""


class TooMuch(Exception):
    """The child says more than it may, or what is no message."""


class Channel:
    """One child's channel, and the pipe on which the zygote reports its end."""

    def __init__(self, descriptor: int, status: int, number: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._status = status
        self.number = number

    def send(self, message: Any, deadline: float) -> None:
        """Say something. A child that does not listen must not hold us up either."""
        body = marshal.dumps(message)
        try:
            self._socket.settimeout(max(0.001, deadline - time.monotonic()))
            self._socket.sendall(_HEADER.pack(len(body)) + body)
        except TimeoutError as error:
            raise Overdue from error
        except OSError as error:
            raise Closed from error

    def receive(self, deadline: float, most: int) -> tuple[dict[str, Any], int | None]:
        """The next message and the descriptor that came with it, which the caller must close."""
        head, descriptor = self._read(_HEADER.size, deadline)
        try:
            (length,) = _HEADER.unpack(head)
            if length > most:
                raise TooMuch(f"{length} bytes")
            body, other = self._read(length, deadline)
            if descriptor is None:
                descriptor = other
            elif other is not None:
                os.close(other)
            message = _parse(body, 2 * most)
        except BaseException:
            if descriptor is not None:
                os.close(descriptor)
            raise
        return message, descriptor

    def ending(self, timeout_s: float) -> tuple[int, int, int] | None:
        """How the child ended, if it did: wait status, CPU milliseconds, greatest memory in KB."""
        if not has_input(self._status, timeout_s):
            return None
        packed = os.read(self._status, _STATUS.size)
        return _STATUS.unpack(packed) if len(packed) == _STATUS.size else None

    def close(self) -> None:
        self._socket.close()
        with contextlib.suppress(OSError):
            os.close(self._status)

    def _read(self, length: int, deadline: float) -> tuple[bytearray, int | None]:
        body = bytearray(length)
        descriptor: int | None = None
        try:
            at = 0
            while at < length:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    raise Overdue
                self._socket.settimeout(remaining)
                with memoryview(body)[at : at + (1 << 20)] as room:
                    got, controls, _, _ = self._socket.recvmsg_into(
                        [room], socket.CMSG_SPACE(4), socket.MSG_CMSG_CLOEXEC
                    )
                descriptor = _take(controls, descriptor)
                if not got:
                    raise Closed
                at += got
        except BaseException as error:
            if descriptor is not None:
                os.close(descriptor)
            if isinstance(error, TimeoutError):
                raise Overdue from error
            if isinstance(error, OSError):
                raise Closed from error
            raise
        return body, descriptor


def _parse(body: bytearray, room: int) -> dict[str, Any]:
    try:
        message = message_json.decode(body, room)
    except (ValueError, RecursionError) as error:
        raise TooMuch("no message, or one that takes too much room") from error
    if not isinstance(message, dict) or not isinstance(message.get("op"), str):
        raise TooMuch("no message")
    return message


def take_child(line: socket.socket) -> Channel:
    """The next child that a zygote announces on its line."""
    words, controls, _, _ = line.recvmsg(600, socket.CMSG_SPACE(8), socket.MSG_CMSG_CLOEXEC)
    if not words:
        raise Closed
    for _, _, data in controls:
        descriptors = array.array("i", data[: len(data) // 4 * 4])
        if len(descriptors) == 2:
            return Channel(descriptors[0], descriptors[1], int(words))
    raise SandboxError(f"the sandbox's warm parent said something strange: {words[:80]!r}")


def _take(controls: list[tuple[int, int, bytes]], held: int | None) -> int | None:
    """At most one descriptor is kept; what else was sent is closed."""
    for _, _, data in controls:
        for descriptor in array.array("i", data[: len(data) // 4 * 4]):
            if held is None:
                held = descriptor
            else:
                os.close(descriptor)
    return held
