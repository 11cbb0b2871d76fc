"""Speaking to an MCP server as a client: what it offers, and one call of one tool.

A border: whatever goes wrong on the other side becomes an `ExecutorFailed` with words of ours. Rules: everything has a
deadline; what comes back is bounded before it is read; a tool is called only if it is still the one that was agreed to;
the server may ask us for nothing (no model, no files, no questions to the owner). Each call is a connection of its own:
nothing is kept between two calls. Does not guarantee that a host's name still leads where it led when it was looked up
a moment before: the address is one that the owner wrote.
"""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from metnos.core.errors import ExecutorFailed, LawError, MetnosError
from metnos.executors.capabilities import Tool
from metnos.executors.mcp import answer, offered
from metnos.executors.mcp.offered import MOST_TOOLS, Offered
from metnos.executors.mcp.pipe import Pipe, opened
from metnos.executors.mcp.servers import Server
from metnos.law.need import http_need, refuse_never

Got = TypeVar("Got")
_PAGES = 16  # of a list of tools
_MESSAGE = 300  # characters of a stranger's error


@dataclass(frozen=True, slots=True)
class Dial:
    """A server with what it takes to reach it: secrets looked up, bounds, and who is told of its process."""

    server: Server
    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict)
    bearer: str = ""
    most: int = 8 << 20  # bytes of one message
    started: Callable[[int], None] = lambda _pid: None
    ended: Callable[[int], None] = lambda _pid: None


def offers(dial: Dial, seconds: float) -> list[Offered]:
    """Every tool that the server offers now."""
    return _within(dial, seconds, _listed)


def ask(dial: Dial, tool: Tool, args: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """Call one tool, if it is still the one that the owner agreed to."""

    async def called(client: Any) -> dict[str, Any]:
        from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult

        offered.require(await _listed(client), tool, dial.server)
        request = CallToolRequest(params=CallToolRequestParams(name=tool.tool, arguments=dict(args)))
        # Not `call_tool`: that holds the answer against a schema of the stranger's, whose patterns may take for ever.
        result = await client.session.send_request(request, CallToolResult)
        return answer.read(result.model_dump(mode="json", by_alias=True, exclude_none=True))

    return _within(dial, seconds, called)


async def _listed(client: Any) -> list[Offered]:
    found: list[Offered] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools = (each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in page.tools)
        found += [offered.read(each) for each in tools]
        cursor = page.next_cursor
        if cursor is None or len(found) > MOST_TOOLS:
            break
    if len(found) > MOST_TOOLS:
        raise ExecutorFailed(f"the server offers more than {MOST_TOOLS} tools", kind="too_large")
    return found


def _within(dial: Dial, seconds: float, work: Callable[[Any], Awaitable[Got]]) -> Got:
    """Do something over a connection of its own; the whole of it may take so long."""
    name = dial.server.name
    pipe = Pipe(dial.server.command, dial.env, dial.cwd, dial.most, dial.started, dial.ended)

    async def connected() -> Got:
        from mcp import Client

        async with asyncio.timeout(seconds):
            transport = opened(pipe) if dial.server.command else _over_http(dial)
            async with Client(transport, cache=None) as client:
                return await work(client)

    try:
        return asyncio.run(connected())
    except Exception as error:  # a border: what another program does must not be our end
        ours = _first(error, MetnosError)
        if ours is not None:
            raise ours from error
        if pipe.problem:
            raise ExecutorFailed(f"the MCP server {name} was cut off: {pipe.problem}", kind="too_large") from error
        if _first(error, TimeoutError) is not None:
            what = f"the MCP server {name} did not answer within {seconds:.0f} s"
            raise ExecutorFailed(what, kind="unavailable") from error
        if isinstance(error, OSError):
            what = f"the MCP server {name} cannot be started: {error.strerror or type(error).__name__}"
            raise ExecutorFailed(what, kind="unavailable", fix="Check its command.") from error
        raise ExecutorFailed(f"the MCP server {name} failed: {_said(error)}", kind="unavailable") from error


def _first(error: BaseException, kind: type[Any]) -> Any:
    """The first error of a kind in one, or in a group of several."""
    if isinstance(error, kind):
        return error
    inner = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    return next((found for each in inner if (found := _first(each, kind)) is not None), None)


def _said(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return offered.plain(f"{type(error).__name__}: {error}", _MESSAGE)


@contextlib.asynccontextmanager
async def _over_http(dial: Dial) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of a server that is spoken to by HTTP: no proxy, no cookies of others, bounded answers."""
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    await asyncio.to_thread(_refuse_never, dial.server.host)
    headers = {"Authorization": f"Bearer {dial.bearer}"} if dial.bearer else {}
    limits = httpx2.Timeout(30, read=300)
    async with (
        httpx2.AsyncClient(headers=headers, transport=_limited(dial.most), trust_env=False, timeout=limits) as web,
        streamable_http_client(dial.server.url, http_client=web, max_sse_event_size=dial.most) as streams,
    ):
        yield streams


def _limited(most: int) -> Any:
    """A transport whose answers end with an error where they become too long."""
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        def __init__(self, inner: Any) -> None:
            self._inner = inner

        async def __aiter__(self) -> AsyncIterator[bytes]:
            total = 0
            async for part in self._inner:
                total += len(part)
                if total > most:
                    raise ExecutorFailed(f"the server said more than {most >> 20} MB at once", kind="too_large")
                yield part

        async def aclose(self) -> None:
            await self._inner.aclose()

    class Limited(httpx2.AsyncHTTPTransport):
        async def handle_async_request(self, request: Any) -> Any:
            response = await super().handle_async_request(request)
            response.stream = Bounded(response.stream)
            return response

    return Limited()


def _refuse_never(host: str) -> None:
    """Raise if a host leads to where nothing may speak to, by its name or by what that is looked up as."""
    try:
        refuse_never(host)
        found = {str(each[4][0]) for each in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)}
        http_need(host, "POST", found)
    except OSError as error:
        raise ExecutorFailed(f"{host} cannot be found", kind="unavailable") from error
    except LawError as error:
        raise ExecutorFailed(error.what, kind="not_permitted", fix=error.fix) from error
