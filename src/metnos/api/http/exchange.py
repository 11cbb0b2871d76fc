"""One request of somebody who was let in, and its answer: what may arrive, and for how long anything is delivered.

Rules: a body arrives in time and is not longer than may be, else it is refused whatever the application made of it, and
the connection is closed. A device holds so many streams of events open and no more, so that one of them cannot take all
connections. Whoever is not let in any more gets nothing more: each part of a stream asks again, and so does an answer
that took a while. An application whose stream was ended here is told that its client has gone.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from metnos.api.http import guard_rules as rules
from metnos.api.http.guard_rules import No
from metnos.law.pairing import Device
from metnos.law.principal import Channel

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

BODY_S = 10.0  # for all of a request to arrive
# Open at once, of one device. A program follows what changes and the runs that it began, of which it may have eight. A
# browser has one for each tab and one for each chat that works: without a proxy it opens six connections by itself, and
# with one as many as it likes.
LISTENING = {Channel.API: 8, Channel.WEB: 16}
ANSWERING = 32  # streams that are the answer to something: MCP answers each call with one, and calls come in bundles
_MOMENT_S = 1.0  # who was let in that long ago is looked at again before the answer
_SLOW = No(408, "the request did not arrive in time", "Send it again, all at once.")
_LONG = No(413, f"the request is longer than {rules.LONGEST_BODY:,} bytes", "Send less at once.")
_MANY = No(429, "this device follows too many things at once", "Close a tab, or end a stream, and try again.")
_ENDED = No(401, "this device is not let in any more", "Pair it again: metnos device pair")


class Broken(Exception):
    """A request did not arrive in time, or was longer than may be."""


class Streams:
    """What is open, by device. Used in the one thread of the event loop."""

    def __init__(self) -> None:
        self._open: Counter[tuple[str, bool]] = Counter()

    def open(self, device: Device, listening: bool) -> bool:
        """Count one more, if it may be."""
        most = LISTENING.get(device.channel, 0) if listening else ANSWERING
        key = (device.id, listening)
        if self._open[key] >= most:
            return False
        self._open[key] += 1
        return True

    def close(self, device: Device, listening: bool) -> None:
        key = (device.id, listening)
        self._open[key] -= 1
        if not self._open[key]:
            del self._open[key]


class Exchange:
    """The `receive` and the `send` that an application gets. ``device``: none for a stranger."""

    def __init__(
        self, receive: Receive, send: Send, streams: Streams, device: Device | None, still_in: Callable[[], bool]
    ) -> None:
        self._receive, self._send, self._streams = receive, send, streams
        self._device, self._still_in = device, still_in
        self._began = time.monotonic()
        self._size = 0
        self._whole = False  # the body is here
        self._started = self._streaming = False
        self._counted: bool | None = None  # whether its stream listens or answers; none: it is not counted
        self._no: No | None = None  # why the request was refused after all
        self._is_cut = False  # the application has nobody to speak to any more
        self._cutting: asyncio.Event | None = None  # for whoever waits for that: most requests are over before

    async def run(self, app: App, scope: Scope) -> No | None:
        """Let the application answer; returns what has to be said instead, if it has not said anything yet."""
        listening = scope["method"] in rules.SAFE

        async def send(message: Message) -> None:
            await self._deliver(message, listening)

        try:
            await app(scope, self._arrive, send)
        except Broken:
            pass  # an application may also have swallowed it: what counts is what is noted here
        finally:
            if self._counted is not None and self._device is not None:
                self._streams.close(self._device, self._counted)
        return None if self._started else self._no

    async def _arrive(self) -> Message:
        if self._is_cut:
            return {"type": "http.disconnect"}
        if self._whole:
            return await self._gone()
        left = self._began + BODY_S - time.monotonic()
        try:
            message = await asyncio.wait_for(self._receive(), max(0.01, left))
        except TimeoutError as error:
            self._refuse(_SLOW)
            raise Broken from error
        self._size += len(message.get("body", b""))
        self._whole = not message.get("more_body", False)
        if self._size > rules.LONGEST_BODY:
            self._refuse(_LONG)
            raise Broken
        return message

    async def _gone(self) -> Message:
        """Wait until the client goes, or is let go."""
        self._cutting = self._cutting or asyncio.Event()
        waiting = [asyncio.ensure_future(self._receive()), asyncio.ensure_future(self._cutting.wait())]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            first = waiting[0]
            if self._is_cut or not first.done():
                return {"type": "http.disconnect"}
            message = first.result()
            return message if isinstance(message, MutableMapping) else {"type": "http.disconnect"}
        finally:
            for each in waiting:
                each.cancel()

    async def _deliver(self, message: Message, listening: bool) -> None:
        if self._is_cut:
            return
        if message["type"] == "http.response.start":
            self._begin(message, listening)
            if self._no is not None:
                return
            self._started = True
        elif self._streaming and not self._still_in():
            self._cut()
            message = {"type": "http.response.body", "body": b"", "more_body": False}
        await self._send(message)

    def _begin(self, message: Message, listening: bool) -> None:
        self._streaming = any(
            name.lower() == b"content-type" and value.startswith(b"text/event-stream")
            for name, value in message.get("headers", ())
        )
        if self._device is None:
            return
        if time.monotonic() - self._began > _MOMENT_S and not self._still_in():
            self._refuse(_ENDED)
        elif self._streaming:
            if self._streams.open(self._device, listening):
                self._counted = listening
            else:
                self._refuse(_MANY)

    def _refuse(self, no: No) -> None:
        self._no = no
        self._cut()

    def _cut(self) -> None:
        self._is_cut = True
        if self._cutting is not None:
            self._cutting.set()
