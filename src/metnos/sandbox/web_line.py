"""The one line to a web server: connects only to addresses that were checked, within one deadline, head bounded.

Rules: a line is opened for one host and port, only to addresses that the resolver gave for this request and that fit
the need the policy allowed; nothing is looked up again. Every wait, from the first packet to the last, counts against
the same deadline, so that no slow drip outlives it.
"""

import contextlib
import socket
import ssl
import time
from collections.abc import Iterable, Sequence
from typing import Any

import httpcore

from metnos.core.errors import ExecutorFailed
from metnos.law.need import Need, fits

MOST_HEAD = 64 * 1024  # bytes of status line and headers, hints before them included

_HEAD_PIECE = 16 * 1024  # below httpcore's own limit, so that ours is the one that speaks
_CONNECT_S = 6.0  # for one of several addresses: a dead one must not use up the time of the others


class Meter:
    """What one exchange may still use."""

    def __init__(self, host: str, deadline: float) -> None:
        self.host = host
        self.in_body = False
        self._deadline = deadline
        self._head = 0

    def left(self) -> float:
        """Seconds until the deadline; raises when there are none."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise self.overdue()
        return left

    def piece(self, wanted: int) -> int:
        """How much may be read at once; raises when the head has grown too large."""
        if self.in_body:
            return wanted
        if self._head >= MOST_HEAD:
            raise ExecutorFailed(f"{self.host} sent headers that are too large", kind="too_large")
        return min(wanted, _HEAD_PIECE)

    def count(self, size: int) -> None:
        if not self.in_body:
            self._head += size

    def overdue(self) -> ExecutorFailed:
        return ExecutorFailed(f"{self.host} took too long to answer", kind="unavailable", fix="Try again later.")


class Line(httpcore.NetworkStream):
    """A socket whose every wait ends at the meter's deadline."""

    def __init__(self, sock: socket.socket, meter: Meter) -> None:
        self._socket = sock
        self._meter = meter

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002 -- the meter's time counts
        piece = self._meter.piece(max_bytes)
        self._socket.settimeout(self._meter.left())
        try:
            data = self._socket.recv(piece)
        except TimeoutError as error:
            raise self._meter.overdue() from error
        except OSError as error:
            raise _broken(self._meter.host) from error
        self._meter.count(len(data))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        view = memoryview(buffer)
        while view:
            self._socket.settimeout(self._meter.left())
            try:
                view = view[self._socket.send(view) :]
            except TimeoutError as error:
                raise self._meter.overdue() from error
            except OSError as error:
                # httpcore's own: a server may refuse a body, close, and still have an answer to be read.
                raise httpcore.WriteError(str(error)) from error

    def close(self) -> None:
        self._socket.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> "Line":
        host = self._meter.host
        try:
            if server_hostname != host:  # what is verified must be what was asked for
                raise ExecutorFailed(f"the certificate would not be checked for {host}", kind="not_permitted")
            self._socket.settimeout(self._meter.left())
            return Line(ssl_context.wrap_socket(self._socket, server_hostname=host), self._meter)
        except BaseException as error:
            self.close()
            raise _tls_words(error, self._meter) from error

    def get_extra_info(self, info: str) -> Any:
        if info == "ssl_object" and isinstance(self._socket, ssl.SSLSocket):
            return self._socket
        return None


class Lines(httpcore.NetworkBackend):
    """Opens lines to one host: ``addresses`` are its own, looked up once, and ``need`` is what was allowed."""

    def __init__(self, need: Need, port: int, addresses: Sequence[str], meter: Meter) -> None:
        self._need = need
        self._port = port
        self._addresses = addresses
        self._meter = meter

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,  # noqa: ARG002
    ) -> Line:
        fitting = [address for address in self._addresses if "%" not in address and fits(self._need, address)]
        if not fitting or (host, port) != (self._meter.host, self._port):
            raise ExecutorFailed(f"{self._meter.host} leads elsewhere than was allowed", kind="not_permitted")
        failure: OSError | None = None
        for address in fitting:
            try:
                return Line(self._connect(address), self._meter)
            except OSError as error:
                failure = error
        self._meter.left()
        why = "it took too long" if isinstance(failure, TimeoutError) else getattr(failure, "strerror", None) or failure
        raise ExecutorFailed(f"{host} cannot be reached on port {port}: {why}", kind="unavailable") from failure

    def _connect(self, address: str) -> socket.socket:
        # `place` read it as a number, so it is one, and nothing is looked up here.
        sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        try:
            sock.settimeout(min(self._meter.left(), _CONNECT_S))
            sock.connect((address, self._port))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except BaseException:
            with contextlib.suppress(OSError):
                sock.close()
            raise
        return sock


def _tls_words(error: BaseException, meter: Meter) -> BaseException:
    if isinstance(error, ssl.SSLCertVerificationError):
        return ExecutorFailed(
            f"the certificate of {meter.host} does not hold: {error.verify_message}",
            fix="Nothing was sent. Do not go on unless the server's owner mends it.",
        )
    if isinstance(error, TimeoutError):
        return meter.overdue()
    if isinstance(error, OSError | ValueError):
        return ExecutorFailed(f"no encrypted connection to {meter.host} could be made", kind="unavailable")
    return error


def _broken(host: str) -> ExecutorFailed:
    return ExecutorFailed(f"the connection to {host} broke off", kind="unavailable", fix="Try again later.")
