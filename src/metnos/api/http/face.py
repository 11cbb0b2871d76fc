"""The HTTP face of a daemon: where it listens, and the thread in which it does.

Rules: it listens on this machine only, unless the owner chose an address and the way to it is encrypted: by a
certificate, or by a proxy that they vouch for. From this machine only accounts come in that may (`peer`), and the port
stays the same (`port`). At the end nobody else comes in, what streams is cut off, and the thread is gone.
"""

import asyncio
import contextlib
import ipaddress
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from metnos.api.http.guard import App as Asgi
from metnos.api.http.guard_rules import Place, has_port
from metnos.api.http.peer import Peers
from metnos.api.http.port import bind
from metnos.core.errors import DaemonError, SettingsError
from metnos.core.log import Bounded, hear_libraries
from metnos.core.sections_outward import WebSettings

if TYPE_CHECKING:
    from uvicorn import Server

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 -- what it is told by, not where we listen
_READY_S = 20.0


class HttpFace:
    """Serves one application."""

    def __init__(self, settings: WebSettings, log: Callable[[str], None], kept: Path | None = None) -> None:
        refuse_bare(settings)
        self._settings = settings
        self._log = log
        self._kept = kept  # where the port is remembered
        self._place = self._placed(settings.port)
        self._door: socket.socket | None = None
        self._thread: threading.Thread | None = None
        self._stop: Callable[[], None] = lambda: None

    @property
    def place(self) -> Place:
        """The names under which we are reached."""
        return self._place

    def _placed(self, port: int) -> Place:
        own = () if is_loopback(self._settings.host) else (_written(self._settings.host),)
        return Place(port, (*_LOOPBACK, *own, *self._settings.hosts), self.secure)

    @property
    def secure(self) -> bool:
        return bool(self._settings.tls_certificate) or self._settings.behind_proxy

    @property
    def address(self) -> str:
        """Where the page is, for somebody who sits at this machine: by the name that its certificate is for."""
        port = self.place.port
        if self.secure and self._settings.hosts:
            name = self._settings.hosts[0]
            own_port = self._settings.behind_proxy or has_port(name)  # a proxy listens where the name says, else at 443
            return f"https://{name}" if own_port else f"https://{name}:{port}"
        scheme = "https" if self._settings.tls_certificate else "http"
        host = self._settings.host
        here = is_loopback(host) or host in _EVERYWHERE
        return f"{scheme}://{'127.0.0.1' if here else _written(host)}:{port}"

    def listen(self) -> socket.socket:
        """Take the port."""
        self._door = door = bind(self._settings, self._kept, self._log)
        self._place = self._placed(door.getsockname()[1])
        return door

    def start(self, app: Asgi) -> None:
        """Serve in a thread of its own; returns when it is ready."""
        import uvicorn  # heavy, and only the daemon needs it

        from metnos.api.http.patience import options

        door = self._door or self.listen()
        hear_libraries(("uvicorn", "asyncio"), Bounded(self._log))  # they say what strangers sent
        config = uvicorn.Config(
            app,
            **options(Peers(self._settings.accounts, self._log).knows),
            proxy_headers=False,
            timeout_graceful_shutdown=2,
            ssl_certfile=self._settings.tls_certificate or None,
            ssl_keyfile=self._settings.tls_key or None,
        )
        server = uvicorn.Server(config)
        ready = threading.Event()

        def work() -> None:
            with asyncio.Runner() as runner:
                runner.run(_serve(server, door, ready))

        def stop() -> None:
            server.should_exit = True

        self._stop = stop
        self._thread = threading.Thread(target=work, name="http", daemon=True)
        self._thread.start()
        if not ready.wait(_READY_S):
            raise DaemonError("the web page did not come up", fix="See what the daemon logged.")

    def stop(self, patience_s: float = 5.0) -> bool:
        """End; whether it did in time."""
        self._stop()
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(patience_s)
        if self._door is not None:
            self._door.close()
            self._door = None
        return thread is None or not thread.is_alive()


async def _serve(server: "Server", door: socket.socket, ready: threading.Event) -> None:
    async def tell() -> None:
        while not server.started:
            await asyncio.sleep(0.01)
        ready.set()

    telling = asyncio.create_task(tell())
    with contextlib.suppress(asyncio.CancelledError):
        await server.serve(sockets=[door])
    telling.cancel()


def refuse_bare(settings: WebSettings) -> None:
    """Raise if others could listen in on the way."""
    if bool(settings.tls_certificate) != bool(settings.tls_key):
        raise SettingsError("web.tls_certificate and web.tls_key go together", fix="Set both, or none.")
    if is_loopback(settings.host) or settings.tls_certificate:
        return
    if settings.behind_proxy:
        raise SettingsError(
            f"web.host is {settings.host}, where others get past the proxy and could listen in",
            fix="Set web.host to 127.0.0.1, where the proxy finds it, or set web.tls_certificate and web.tls_key too.",
        )
    raise SettingsError(
        f"web.host is {settings.host}, where others could listen in",
        fix="Set web.tls_certificate and web.tls_key, or set web.host to 127.0.0.1 and put a proxy with TLS before it.",
    )


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _written(host: str) -> str:
    return f"[{host}]" if ":" in host else host
