"""The server over HTTP: nobody comes in unknown, and a session is its owner's."""

from collections.abc import Callable
from unittest.mock import AsyncMock

import httpx2
import pytest
from mcp import Client

from api.mcp.visiting import listening, text, wait
from metnos.api.mcp.mount import Mounted, Sessions
from metnos.app import App
from metnos.law.principal import Autonomy, Channel, Principal

ONE = Principal(Channel.API, "one", Autonomy.SUPERVISED)
TWO = Principal(Channel.API, "two", Autonomy.SUPERVISED)
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}  # fmt: skip
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}


def by_header(headers: dict[bytes, bytes]) -> Principal | None:
    return {b"one": ONE, b"two": TWO}.get(headers.get(b"x-who", b""))


def test_a_session_is_not_found_by_anybody_else(app: App, mounted: Callable[[App], Mounted]) -> None:
    async def run() -> list[int]:
        async with listening(mounted(app), by_header) as url, httpx2.AsyncClient() as web:
            begun = await web.post(url, json=HELLO, headers=HEADERS | {"x-who": "one"})
            session = {"mcp-session-id": begun.headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
            codes = [begun.status_code]
            for who in ("one", "two", "nobody"):
                answer = await web.post(url, json=LIST, headers=HEADERS | session | {"x-who": who})
                codes.append(answer.status_code)
            return codes

    assert wait(run()) == [200, 200, 404, 403]


@pytest.mark.parametrize("body", [b"", b"nonsense", b"[]", b'{"jsonrpc": "2.0"}', b"\xff\xfe", b"1" * 3_000_000])
def test_nonsense_is_refused_with_words(app: App, mounted: Callable[[App], Mounted], body: bytes) -> None:
    async def run() -> int:
        async with listening(mounted(app), lambda _: ONE) as url, httpx2.AsyncClient() as web:
            return (await web.post(url, content=body, headers=HEADERS)).status_code

    assert 400 <= wait(run()) < 500


def test_each_client_has_its_own_name(app: App, mounted: Callable[[App], Mounted]) -> None:
    async def run() -> str:
        async with listening(mounted(app), lambda _: TWO) as url, Client(url, cache=None) as client:
            await client.call_tool("remember", {"text": "The fence is green."})
            return text(await client.call_tool("recall", {"question": "What colour is the fence?"}))

    assert "mcp:api.two" in wait(run())


def test_one_client_takes_no_place_from_others(app: App, mounted: Callable[[App], Mounted]) -> None:
    async def run() -> tuple[list[int], int, int]:
        async with listening(mounted(app), by_header) as url, httpx2.AsyncClient() as web:
            greedy = HEADERS | {"x-who": "one"}
            begun = [await web.post(url, json=HELLO, headers=greedy) for _ in range(9)]
            other = await web.post(url, json=HELLO, headers=HEADERS | {"x-who": "two"})
            session = {"mcp-session-id": begun[0].headers["mcp-session-id"], "mcp-protocol-version": "2025-06-18"}
            await web.delete(url, headers=greedy | session)
            again = await web.post(url, json=HELLO, headers=greedy)
            return [each.status_code for each in begun], other.status_code, again.status_code

    assert wait(run()) == ([200] * 8 + [429], 200, 200)


def test_a_session_that_nobody_uses_counts_no_more() -> None:
    now = [0.0]
    sessions = Sessions(lambda: now[0])
    start = {"type": "http.response.start", "status": 200, "headers": [(b"mcp-session-id", b"abc")]}
    wait(sessions.watching("one", "", {"method": "POST"}, AsyncMock())(start))
    assert sessions.of("one") == 1
    now[0] = 4000.0
    assert sessions.of("one") == 0
