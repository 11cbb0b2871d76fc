"""The line to a model server: HTTP as we want it, below the client library.

Rules: headers are ours alone, so that nothing of the environment or the machine travels with them (no keys of other
programs, no description of this computer); no proxy, no redirect, no cookie; certificates are verified; compressed
answers are refused, because their size cannot be told; an answer ends at its limit. What was seen on the way is kept in
a `Course`, from which `faults` tells what went wrong. Heavy: imported only where a call is made.
"""

import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx2

_OURS = ("accept", "content-type", "anthropic-version", "anthropic-beta")
_AGENT = "metnos"
_MOST_ERROR = 64 << 10


@dataclass(slots=True)
class Course:
    """What one call met on its way. ``fault`` is one of connect, connect_timeout, gone, garbage, flood, or empty."""

    status: int = 0
    retry_after: str = ""
    fault: str = ""
    spoken: bool = False


class Flood(Exception):
    """The answer is longer than any that was asked for."""


class Line(httpx2.AsyncBaseTransport):
    """Carries the requests of one call."""

    def __init__(self, course: Course, auth: dict[str, str], tls: ssl.SSLContext | None, most: int) -> None:
        self._course = course
        self._auth = auth
        self._most = most
        # A context that trusts nobody where none is given: for plain HTTP, which never looks at it.
        verify = tls or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._wire = httpx2.AsyncHTTPTransport(verify=verify, trust_env=False)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        kept = {name: request.headers[name] for name in _OURS if name in request.headers}
        length = {"Content-Length": request.headers["content-length"]} if "content-length" in request.headers else {}
        sent = httpx2.Request(
            request.method,
            request.url,
            headers={
                "Host": request.headers["host"],
                "User-Agent": _AGENT,
                "Accept-Encoding": "identity",
                "Connection": "close",
                **kept,
                **length,
                **self._auth,
            },
            stream=request.stream,
            extensions=request.extensions,
        )
        try:
            answer = await self._wire.handle_async_request(sent)
        except httpx2.HTTPError as error:
            self._course.fault = _fault(error)
            raise
        self._course.status = answer.status_code
        self._course.retry_after = answer.headers.get("retry-after", "")
        if answer.headers.get("content-encoding", "identity").lower() != "identity":
            self._course.fault = "garbage"
            await answer.aclose()
            raise httpx2.RemoteProtocolError("a compressed answer, which was not asked for")
        most = self._most if answer.status_code < 300 else _MOST_ERROR
        assert isinstance(answer.stream, httpx2.AsyncByteStream)  # noqa: S101 -- for the type checker
        return httpx2.Response(
            answer.status_code,
            headers=answer.headers,
            stream=_Counted(answer.stream, self._course, most),
            extensions=answer.extensions,
        )

    async def aclose(self) -> None:
        await self._wire.aclose()


class _Counted(httpx2.AsyncByteStream):
    """A body that ends, with an error, where it becomes longer than it may be."""

    def __init__(self, inner: httpx2.AsyncByteStream, course: Course, most: int) -> None:
        self._inner = inner
        self._course = course
        self._left = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._inner:
                self._left -= len(chunk)
                if self._left < 0:
                    self._course.fault = "flood"
                    raise Flood
                yield chunk
        except httpx2.HTTPError as error:
            self._course.fault = _fault(error)
            raise

    async def aclose(self) -> None:
        await self._inner.aclose()


def _fault(error: httpx2.HTTPError) -> str:
    if isinstance(error, httpx2.ConnectTimeout):
        return "connect_timeout"
    if isinstance(error, httpx2.ConnectError | httpx2.UnsupportedProtocol):
        return "connect"
    if (
        isinstance(error, httpx2.RemoteProtocolError)
        and "disconnected" not in str(error)
        and "closed" not in str(error)
    ):
        return "garbage"
    return "gone"
