"""The wire protocol of uvicorn with an end to its patience.

Rules: the head of a request arrives whole within seconds, else the connection is closed: whoever sends one byte a
minute holds nothing for long. All that is kept of a request besides its body (its head, the names of its chunks, what
follows the last of them) is counted, also while an earlier request is still being answered; beyond what a head may be
the connection is closed. Who sends requests ahead may send a few. So many connections at once, and no more (`face`).
Whose connection may not come in (`peer`) gets a no, whatever is sent over it, and nothing of that is read.
Does not guarantee it to the byte: what one read brought is counted when all of it was parsed.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_S = 10.0
HEAD_BYTES = 64 << 10
AHEAD = 16  # requests that wait for the answer to an earlier one on the same connection


Knows = Callable[[object, object], bool]  # whether a connection with these two ends may come in
_NO = b'{"error":{"type":"Refused","what":"this account may not use this page","fix":"See web.accounts."}}'
_STRANGER = (
    b"HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nConnection: close\r\nCache-Control: no-store\r\n"
    b"Content-Length: %d\r\n\r\n%s" % (len(_NO), _NO)
)


class Patient(HttpToolsProtocol):
    """One connection."""

    _timer: asyncio.TimerHandle | None = None
    _loose = 0  # bytes of a request that is not whole yet, without its body
    _known = False

    def __init__(self, *given: Any, knows: Knows, **more: Any) -> None:
        super().__init__(*given, **more)
        self._knows = knows

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn itself has it
        super().connection_made(transport)
        self._begin()
        self._known = self._knows(transport.get_extra_info("peername"), transport.get_extra_info("sockname"))

    def connection_lost(self, exc: Exception | None) -> None:
        self._done()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._known:
            self._turn_away()
            return
        cycle = getattr(self, "cycle", None)  # none before the first request, whatever its type says
        if self._timer is None and (cycle is None or cycle.response_complete):
            self._begin()
        self._loose += len(data)
        super().data_received(data)
        self._loose = max(0, self._loose)  # a body may have begun in the same read as the end of the request before it
        if self._loose > HEAD_BYTES or len(self.pipeline) > AHEAD:
            self._give_up()

    def on_headers_complete(self) -> None:
        self._done()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._loose -= len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._loose = 0
        super().on_message_complete()

    def _turn_away(self) -> None:
        self._done()
        if not self.transport.is_closing():
            self.transport.write(_STRANGER)
            self.transport.close()

    def _begin(self) -> None:
        self._timer = self.loop.call_later(HEAD_S, self._give_up)

    def _done(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _give_up(self) -> None:
        self._done()
        if not self.transport.is_closing():
            self.transport.abort()


def options(knows: Knows) -> dict[str, Any]:
    """How uvicorn is set up besides: no web sockets, no word about itself, nothing logged that was asked for."""
    return {
        "http": partial(Patient, knows=knows),
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
