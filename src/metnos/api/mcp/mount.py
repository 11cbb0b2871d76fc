"""The server over streamable HTTP: an ASGI app that stands behind the guard.

Rules: the guard has checked the host, the rate and the secret, and says who asks in the scope (`metnos.who`); without
that nobody gets further. A session belongs to whoever began it: the same session with another secret is not found. The
number of sessions, also of one client, and the size of a request are bounded; a session that nobody uses ends.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from metnos.api.mcp.desk import WHO, Desk
from metnos.api.mcp.server import build
from metnos.app import App
from metnos.core.settings import home_folder
from metnos.law.principal import Principal

_SESSIONS = 64
_OF_ONE = 8  # sessions of one client: more than it has windows, and so few that it keeps nobody out
_SESSION = "mcp-session-id"
_IDLE_S = 1800.0
_LARGEST = 1 << 20  # bytes of a request


class Mounted:
    """The ASGI app. It starts itself with its first request; `close` ends all sessions."""

    def __init__(self, desk: Desk) -> None:
        server = build(desk)
        server.streamable_http_app(
            max_request_body_size=_LARGEST,
            session_idle_timeout=_IDLE_S,
            max_sessions=_SESSIONS,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the guard's work
        )
        self._manager = server.session_manager
        self._inner = AuthContextMiddleware(self._manager.handle_request)
        self._sessions = Sessions()
        self._task: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._over = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        who = scope.get(WHO)
        if scope["type"] != "http" or not isinstance(who, Principal) or not who.known:
            await _refusal(403, "Forbidden", "nobody is signed in", "")(scope, receive, send)
            return
        client, session = str(who), Headers(scope=scope).get(_SESSION, "")
        if not session and self._sessions.of(client) >= _OF_ONE:
            what = f"{client} has {_OF_ONE} sessions already"
            await _refusal(429, "TooMany", what, "End one of them, or wait until it ends.")(scope, receive, send)
            return
        await self._started()
        # The library ties sessions and sealed states to whom it takes for signed in; there is no token in it.
        user = AuthenticatedUser(AccessToken(token="-", client_id=str(who), scopes=[]))  # noqa: S106
        await self._inner({**scope, "user": user}, receive, self._sessions.watching(client, session, scope, send))

    async def close(self) -> None:
        """End every session."""
        self._over.set()
        if self._task is not None:
            await self._task

    async def _started(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        await self._ready.wait()

    async def _run(self) -> None:
        async with self._manager.run():
            self._ready.set()
            await self._over.wait()

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self.close()
                await send({"type": "lifespan.shutdown.complete"})
                return


class Sessions:
    """Which sessions each client has, as its requests and their answers tell."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._used: dict[str, dict[str, float]] = {}

    def of(self, client: str) -> int:
        """How many are there that somebody may still use."""
        used = self._used.get(client, {})
        for session in [key for key, when in used.items() if self._now() - when > _IDLE_S]:
            del used[session]
        return len(used)

    def watching(self, client: str, session: str, scope: Scope, send: Send) -> Send:
        """``send``, with an eye on the session that a request goes on with, begins or ends."""

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note(client, session, scope["method"], message)
            await send(message)

        return sent

    def _note(self, client: str, session: str, method: str, message: Message) -> None:
        fine, used = message["status"] < 300, self._used.setdefault(client, {})
        begun = Headers(raw=message.get("headers", [])).get(_SESSION, "")
        if session and (message["status"] == 404 or (fine and method == "DELETE")):
            used.pop(session, None)
        elif fine and (session or begun):
            used[session or begun] = self._now()


def _refusal(status: int, kind: str, what: str, fix: str) -> JSONResponse:
    return JSONResponse({"error": {"type": kind, "what": what, "fix": fix}}, status)


def mount(lease: Callable[[], AbstractContextManager[App]], cwd: Path | None = None) -> Mounted:
    """The server over workspaces that are leased for each request. Relative paths begin in the home folder."""
    return Mounted(Desk(lease, cwd or home_folder()))


async def stdio(lease: Callable[[], AbstractContextManager[App]], cwd: Path) -> None:
    """Serve one client on standard input and output until it goes."""
    await build(Desk(lease, cwd)).run_stdio_async()
