"""Servers that are spoken to over HTTP, made with the official library."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from mcp.server import MCPServer

from metnos.core.errors import ExecutorFailed
from metnos.executors.capabilities import Tool
from metnos.executors.mcp import asking
from metnos.executors.mcp.asking import Dial
from metnos.executors.mcp.servers import Server

SECONDS = 60.0


class House:
    """A server on a port of its own, and what its clients sent along."""

    def __init__(self) -> None:
        self.secrets: set[bytes] = set()
        server = MCPServer("house", log_level="CRITICAL")

        @server.tool()
        def say_weather(place: str) -> str:
            """Say what the weather is."""
            return f"rain in {place}"

        @server.tool()
        def say_much() -> str:
            """Say much."""
            return "x" * 5_000_000

        inner = server.streamable_http_app()

        async def listening(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http":
                self.secrets.add(dict(scope["headers"]).get(b"authorization", b""))
            await inner(scope, receive, send)

        self._listener = socket.create_server(("127.0.0.1", 0))
        self._server = uvicorn.Server(uvicorn.Config(listening, log_level="critical"))
        self._thread = threading.Thread(target=self._server.run, args=([self._listener],), daemon=True)
        self._thread.start()

    @property
    def server(self) -> Server:
        return Server("house", url=f"http://127.0.0.1:{self._listener.getsockname()[1]}/mcp")

    def close(self) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._thread.join()


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    made = House()
    yield made
    made.close()


def agreed(to: Dial, name: str) -> Tool:
    (found,) = (each for each in asking.offers(to, SECONDS) if each.name == name)
    return Tool(server="house", tool=name, starts=to.server.digest, pin=found.pin(to.server))


@pytest.mark.slow
def test_a_tool_is_called_with_the_secret_and_nothing_else(house: House, tmp_path: Path) -> None:
    to = Dial(house.server, tmp_path, bearer="a-secret")
    answer = asking.ask(to, agreed(to, "say_weather"), {"place": "Rome"}, SECONDS)
    assert answer["entries"][0] == {"kind": "text", "text": "rain in Rome"}
    assert house.secrets == {b"Bearer a-secret"}


@pytest.mark.slow
def test_who_says_too_much_is_cut_off(house: House, tmp_path: Path) -> None:
    to = Dial(house.server, tmp_path, most=1 << 20)
    tool = agreed(to, "say_much")
    with pytest.raises(ExecutorFailed):
        asking.ask(to, tool, {}, 20.0)


def test_nobody_there(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ExecutorFailed) as failed:
        asking.offers(Dial(Server("house", url=f"http://127.0.0.1:{port}/mcp"), tmp_path), SECONDS)
    assert failed.value.kind == "unavailable"


def test_a_name_that_leads_to_where_nothing_may_speak_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 0, "", ("169.254.169.254", 0))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_named: found)
    with pytest.raises(ExecutorFailed) as refused:
        asking.offers(Dial(Server("house", url="http://friendly.example.org/mcp"), tmp_path), SECONDS)
    assert refused.value.kind == "not_permitted"
