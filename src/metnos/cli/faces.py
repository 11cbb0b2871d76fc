"""What the daemon serves beside its socket, put together: the pages over the API, both behind the guard; Telegram; and
what watches over it.

This is the one place that knows the web page and the API, which do not know each other.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from metnos.api.daemon import Face, Household
from metnos.api.http.face import HttpFace
from metnos.api.http.guard import App as Asgi
from metnos.api.http.guard import Guard, Limits, Receive, Scope, Send
from metnos.api.http.inside import Desk
from metnos.api.http.port import FILE as PORT
from metnos.api.http.rate import Rate
from metnos.api.http.runs import Runs
from metnos.api.serving import Counter
from metnos.api.telegram import build as telegram
from metnos.api.wire import Message
from metnos.app import App
from metnos.app.observing import Observer
from metnos.core.clock import Clock
from metnos.core.log import Log
from metnos.core.sections_outward import WebSettings
from metnos.core.workspace import Workspace
from metnos.law import founding
from metnos.law.pairing import Pairing
from metnos.store.freshness import Freshness

_API, _MCP = ("/api/", "/v1/"), ("/mcp", "/mcp/")
Lease = Callable[[], contextlib.AbstractContextManager[Household]]


def faces(counter: Counter, workspace: Workspace, clock: Clock, log: Log) -> Sequence[Face]:
    """Every face that the owner wants."""
    with _lease(counter)() as household:
        settings = household.app.settings
    found: list[Face] = []
    if settings.web.enabled:
        found.append(WebFace(counter, workspace, settings.web, clock, log))
    bot = telegram.channel(counter, _lease(counter), settings.telegram, workspace, clock)
    if bot is not None:
        found.append(bot)
    found.append(Observer(_lease(counter), log))
    return found


class WebFace:
    """The web page and the HTTP API."""

    def __init__(self, counter: Counter, workspace: Workspace, settings: WebSettings, clock: Clock, log: Log) -> None:
        self._counter = counter
        self._workspace = workspace
        self._settings = settings
        self._clock = clock
        self._log = log
        self._http: HttpFace | None = None
        self._runs = Runs(counter, _lease(counter))
        self._closing = contextlib.ExitStack()

    @property
    def told(self) -> Message:
        return {"page": self._http.address} if self._http else {}

    def start(self) -> None:
        http = HttpFace(self._settings, self._log, self._workspace.run / PORT)
        http.listen()
        try:
            http.start(self._application(http))
        except BaseException:
            http.stop()
            raise
        self._http = http
        self._log(f"the page is at {http.address}; to open it: metnos open")

    def stop(self) -> None:
        if self._http is not None and not self._http.stop():
            self._log("the web page did not end in time")
        if not self._runs.stop(5.0, grace_s=3.0):
            self._log("a request of the page did not end in time; it will be found as interrupted")
        self._closing.close()

    def _application(self, http: HttpFace) -> Asgi:
        from metnos.api.http import build  # heavy, and only a daemon with a page needs them
        from metnos.api.http.cache import Cache
        from metnos.web import site

        with _lease(self._counter)() as household:
            opened = household.app.settings
        seat = founding.take_seat(self._workspace, opened, self._clock)
        self._closing.callback(seat.db.close)
        self._closing.callback(seat.audit.close)
        pairing = Pairing(seat.db, seat.signer, founding.steady_clock(self._workspace, seat, self._clock), seat.audit)
        desk = Desk(_lease(self._counter), self._runs, self._counter.status, self._log)
        fresh = Freshness(_databases(self._workspace), (self._workspace.settings, self._workspace.soul))
        self._closing.callback(fresh.close)
        api = build.build(desk, lambda: http.place)
        kept = Cache(api, (route for router in build.ROUTERS for route in router.routes), fresh.look)
        pages = site.build(kept, self._clock)
        limits = Limits(
            Rate(self._settings.reads_per_s, 2 * self._settings.reads_per_s),
            Rate(self._settings.writes_per_s, 4 * self._settings.writes_per_s),
            Rate(20, 100),
            Rate(0.2, 10),
        )
        return Guard(_Sorted(kept, pages, _lease(self._counter)), lambda: pairing, lambda: http.place, limits)


class _Sorted:
    """What is for programs goes to the API or to MCP, all else to the pages."""

    def __init__(self, api: Asgi, pages: Asgi, lease: Lease) -> None:
        self._api = api
        self._pages = pages
        self._lease = lease

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope["path"])
        face = self._mcp if path in _MCP else self._api if path.startswith(_API) else self._pages
        await face(scope, receive, send)

    @cached_property
    def _mcp(self) -> Asgi:
        from metnos.api.mcp.mount import mount  # a second of CPU, which only whoever uses it pays

        return mount(self._app)

    @contextlib.contextmanager
    def _app(self) -> Iterator[App]:
        with self._lease() as household:
            yield household.app


def _databases(workspace: Workspace) -> tuple[Path, ...]:
    """All that answers are made from."""
    return (
        workspace.law_db,
        workspace.undo_db,
        workspace.mnest_db,
        workspace.multi_tool_db,
        workspace.medium_db,
        workspace.grimoire_db,
        workspace.night_db,
        workspace.synt_db,
    )


def _lease(counter: Counter) -> Lease:
    @contextlib.contextmanager
    def lease() -> Iterator[Household]:
        with counter.lease() as house:
            if not isinstance(house, Household):
                raise TypeError("the daemon serves a household")
            yield house

    return lease
