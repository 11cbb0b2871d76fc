"""The wire protocol of uvicorn with an end to its patience.

Rules: the head of a request arrives whole within seconds and is not larger than a head is, else the connection is
closed: whoever sends one byte a minute holds nothing for long. So many connections at once, and no more (`face`).
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_S = 10.0
HEAD_BYTES = 64 << 10


class Patient(HttpToolsProtocol):
    """One connection."""

    _timer: asyncio.TimerHandle | None = None
    _read = 0  # bytes of a head that is not whole yet

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn itself has it
        super().connection_made(transport)
        self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        self._done()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        cycle = getattr(self, "cycle", None)  # none before the first request, whatever its type says
        if self._timer is None and (cycle is None or cycle.response_complete):
            self._begin()
        if self._timer is not None:
            self._read += len(data)
            if self._read > HEAD_BYTES and b"\r\n\r\n" not in data:
                self._give_up()
                return
        super().data_received(data)

    def on_headers_complete(self) -> None:
        self._done()
        super().on_headers_complete()

    def _begin(self) -> None:
        self._read = 0
        self._timer = self.loop.call_later(HEAD_S, self._give_up)

    def _done(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._done()
        if not self.transport.is_closing():
            self.transport.abort()


def options() -> dict[str, Any]:
    """How uvicorn is set up besides: no web sockets, no word about itself, nothing logged that was asked for."""
    return {
        "http": Patient,
        "ws": "none",
        "lifespan": "off",
        "access_log": False,
        "log_config": None,
        "server_header": False,
        "date_header": False,
        "limit_concurrency": 600,
        "backlog": 256,
        "timeout_keep_alive": 20,
    }
