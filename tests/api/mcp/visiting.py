"""A client of the official library, and a person before it who answers as the test says."""

import asyncio
import contextlib
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import uvicorn
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult, ElicitResult

from metnos.api.mcp.mount import Mounted
from metnos.law.principal import Principal
from support import PROGRAM

Got = TypeVar("Got")


@dataclass
class Person:
    """Sits before the client. Whatever is asked beyond ``answers`` is dismissed."""

    answers: Sequence[ElicitResult] = ()
    asked: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    async def answer(self, _context: Any, params: Any) -> ElicitResult:
        self.asked.append(params.message)
        number = len(self.asked) - 1
        return self.answers[number] if number < len(self.answers) else ElicitResult(action="cancel")

    async def progress(self, _done: float, _of: float | None, message: str | None) -> None:
        self.told.append(message or "")


def yes() -> ElicitResult:
    return ElicitResult(action="accept", content={"approve": True})


def no() -> ElicitResult:
    return ElicitResult(action="decline")


@contextlib.asynccontextmanager
async def over_stdio(person: Person | None, mode: str = "auto") -> AsyncIterator[Client]:
    """The real program in a process of its own, with the test's home."""
    names = ("HOME", "PATH", "COVERAGE_PROCESS_START")
    parameters = StdioServerParameters(
        command=str(PROGRAM), args=["mcp"], env={name: os.environ[name] for name in names if name in os.environ},
        cwd=Path.home(),
    )  # fmt: skip
    async with _client(parameters, person, mode) as client:
        yield client


@contextlib.asynccontextmanager
async def over_http(
    mounted: Mounted, who: Principal, person: Person | None, mode: str = "auto"
) -> AsyncIterator[Client]:
    """The server in this process, behind a guard that lets everybody in as ``who``."""
    async with listening(mounted, lambda _headers: who) as address, _client(address, person, mode) as client:
        yield client


@contextlib.asynccontextmanager
async def listening(mounted: Mounted, guard: Callable[[dict[bytes, bytes]], Principal | None]) -> AsyncIterator[str]:
    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            scope = {**scope, "metnos.who": guard(dict(scope["headers"]))}
        await mounted(scope, receive, send)

    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(guarded, log_level="critical", lifespan="on"))
    task = asyncio.create_task(server.serve([listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
    finally:
        server.should_exit = server.force_exit = True
        await task


@contextlib.asynccontextmanager
async def _client(to: Any, person: Person | None, mode: str) -> AsyncIterator[Client]:
    callback = person.answer if person else None
    async with Client(to, mode=mode, elicitation_callback=callback, cache=None) as client:  # type: ignore[arg-type]
        yield client


def text(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if block.type == "text")


def wait(work: Awaitable[Got]) -> Got:
    """Whatever takes longer than a minute has hung."""

    async def bounded() -> Got:
        async with asyncio.timeout(120):
            return await work

    return asyncio.run(bounded())
