"""A server's process: started for one call, spoken to over its standard streams, and gone afterwards.

The process runs with the owner's rights and **outside the sandbox**: it is a program of the owner's choice. Rules: it
gets the environment that it is given and nothing of ours; it has a session of its own, and the whole of that is ended
with the call, also when the call is cancelled; one line, and all lines together, are bounded; what it writes to
standard error is thrown away. Does not guarantee that nothing survives: who leaves the session on purpose is not found.
"""

import contextlib
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

if TYPE_CHECKING:
    from anyio.abc import Process

_GRACE_S, _LOOK_S = 0.5, 0.01  # how long it may take to end by itself, and how often we look
_PART = 64 * 1024
_LINES = 8  # how many times the longest line all of them together may be


@dataclass(slots=True)
class Pipe:
    """How a server is started. ``problem`` is why it was cut off, if it was."""

    command: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    most: int  # bytes of one line
    started: Callable[[int], None] = lambda _pid: None
    ended: Callable[[int], None] = lambda _pid: None
    problem: str = field(default="", init=False)


@contextlib.asynccontextmanager
async def opened(pipe: Pipe) -> AsyncIterator[tuple[Any, Any]]:
    """The two streams that a client of the protocol reads and writes. Raises `OSError` if it cannot be started."""
    from mcp.shared.message import SessionMessage

    process = await anyio.open_process(
        pipe.command, env=dict(pipe.env), cwd=pipe.cwd, stderr=subprocess.DEVNULL, start_new_session=True
    )
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        pipe.started(process.pid)
        async with anyio.create_task_group() as group:
            group.start_soon(_read, pipe, process, incoming)
            group.start_soon(_write, process, outgoing, incoming)
            try:
                yield read, write
            finally:
                group.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await _end(process)
            pipe.ended(process.pid)
        for stream in (incoming, read, write, outgoing):
            stream.close()


async def _read(pipe: Pipe, process: "Process", incoming: Any) -> None:
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    assert process.stdout is not None  # noqa: S101 -- opened with pipes
    buffer, total = bytearray(), 0
    with contextlib.suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        while True:
            part = await process.stdout.receive(_PART)
            total += len(part)
            buffer += part
            *lines, rest = bytes(buffer).split(b"\n") if b"\n" in part else (bytes(buffer),)
            buffer = bytearray(rest)
            if max(map(len, (rest, *lines))) > pipe.most or total > _LINES * pipe.most:
                pipe.problem = f"it said more than {pipe.most >> 20} MB at once"
                break
            for line in filter(None, map(bytes.strip, lines)):
                try:
                    message: SessionMessage | Exception = SessionMessage(jsonrpc_message_adapter.validate_json(line))
                except ValueError as error:
                    message = error
                await incoming.send(message)
    incoming.close()  # whoever waits for an answer hears that there will be none


async def _write(process: "Process", outgoing: Any, incoming: Any) -> None:
    assert process.stdin is not None  # noqa: S101 -- opened with pipes
    try:
        async for message in outgoing:
            line = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            await process.stdin.send(line.encode() + b"\n")
    except (anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        incoming.close()


async def _end(process: "Process") -> None:
    """Let it end by itself for a moment, then end it and everything that it started."""
    with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        if process.stdin is not None:
            await process.stdin.aclose()
    with anyio.move_on_after(_GRACE_S):
        while process.returncode is None:
            await anyio.sleep(_LOOK_S)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with anyio.move_on_after(_GRACE_S):
        while process.returncode is None:
            await anyio.sleep(_LOOK_S)
    with contextlib.suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        if process.stdout is not None:
            await process.stdout.aclose()
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    if transport is not None:  # or it stays open as long as somebody who got away holds the pipe
        with contextlib.suppress(PermissionError):
            transport.close()
