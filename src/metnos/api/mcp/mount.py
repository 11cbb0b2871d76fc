"""The server over streamable HTTP: an ASGI app that stands behind the guard.

Rules: the guard has checked the host, the rate and the secret, and says who asks in the scope (`metnos.who`); without
that nobody gets further. A session belongs to whoever began it: the same session with another secret is not found. The
number of sessions and the size of a request are bounded; a session that nobody uses ends.
"""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from metnos.api.mcp.desk import WHO, Desk
from metnos.api.mcp.server import build
from metnos.app import App
from metnos.core.settings import home_folder
from metnos.law.principal import Principal

_SESSIONS = 64
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
        self._task: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self._over = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        who = scope.get(WHO)
        if scope["type"] != "http" or not isinstance(who, Principal) or not who.known:
            await JSONResponse({"error": {"type": "Forbidden", "what": "nobody is signed in", "fix": ""}}, 403)(
                scope, receive, send
            )
            return
        await self._started()
        # The library ties sessions and sealed states to whom it takes for signed in; there is no token in it.
        user = AuthenticatedUser(AccessToken(token="-", client_id=str(who), scopes=[]))  # noqa: S106
        await self._inner({**scope, "user": user}, receive, send)

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


def mount(lease: Callable[[], AbstractContextManager[App]], cwd: Path | None = None) -> Mounted:
    """The server over workspaces that are leased for each request. Relative paths begin in the home folder."""
    return Mounted(Desk(lease, cwd or home_folder()))


async def stdio(lease: Callable[[], AbstractContextManager[App]], cwd: Path) -> None:
    """Serve one client on standard input and output until it goes."""
    await build(Desk(lease, cwd)).run_stdio_async()
