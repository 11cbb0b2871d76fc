"""Watches turns that have ended: one line in the log for each, and telemetry where the owner has a collector.

Rules: it reads what turns left in the store, in a thread of its own, so that no turn waits for it and nothing that goes
wrong here reaches one. Only turns that end while it runs are told, each once, whoever ran them; of more than a few
dozen between two looks the oldest are passed over, and it says so. Nothing of the telemetry is loaded while no endpoint
is set.
"""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from metnos.app import observing_rules as rules
from metnos.core.errors import MetnosError
from metnos.core.log import Log
from metnos.core.sections_outward import OtelSettings
from metnos.grimoire.trace import Trace
from metnos.models import keys

if TYPE_CHECKING:
    from metnos.app.house import App
    from metnos.app.otel import Collector

_MOST = 64  # turns at a look
_LOOK_S = 5.0  # between two looks: one that finds nothing costs next to nothing


class Home(Protocol):
    """An open workspace, as the daemon leases it."""

    @property
    def app(self) -> "App": ...


Lease = Callable[[], AbstractContextManager[Home]]


class Observer:
    """Tells of turns. Looks every few seconds; ``wake`` has it look at once."""

    def __init__(self, lease: Lease, log: Log) -> None:
        self._lease = lease
        self._log = log
        self._known: set[str] = set()  # the newest turns, as it last saw them
        self._last = -1  # the number of the newest; -1: it never looked
        self._collector: tuple[OtelSettings, Collector] | None = None
        self._trouble = ""
        self._bell = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._go_on, name="observer", daemon=True)

    def start(self) -> None:
        """From here on turns are told; those that ended before are not."""
        self._guarded(self._begin)
        self._thread.start()

    def wake(self) -> None:
        self._bell.set()

    def stop(self, patience_s: float = 2.0) -> None:
        """Look a last time, and end. A collector that does not answer is left behind."""
        self._over.set()
        self._bell.set()
        if self._thread.is_alive():
            self._thread.join(patience_s)
        if self._thread.is_alive():
            self._log("the collector was not waited for")

    @property
    def told(self) -> dict[str, Any]:
        """For the daemon's status: nothing, unless something is wrong."""
        return {"telemetry": self._trouble} if self._trouble else {}

    def look(self) -> int:
        """Tell of the turns that ended since the last look; how many."""
        with self._lease() as home:
            app = home.app
            fresh = self._fresh(app)
            if not fresh:
                return 0
            traces = [app.medium.load(turn) for turn in fresh]
            settings, provider, folder = app.settings.otel, app.settings.models.main.provider, app.workspace.keys
        for trace in traces:
            self._log("turn ended", **rules.line(trace))
        if settings.endpoint:
            self._send(settings, traces, provider, lambda: keys.find(settings.key, folder))
        return len(traces)

    # -- inside

    def _begin(self) -> None:
        with self._lease() as home:
            self._fresh(home.app)

    def _fresh(self, app: "App") -> list[str]:
        """The turns that were not there at the last look, the oldest first; at the first look none is new."""
        row = app.medium.db.first("SELECT max(seq) FROM turns")
        last, first = int(row[0] or 0) if row else 0, self._last < 0
        if last == self._last:
            return []
        newest = [each.id for each in app.medium.newest(_MOST)]
        fresh = [] if first else [turn for turn in newest if turn not in self._known]
        if len(fresh) == _MOST:
            self._log("more turns ended than were looked at", most=_MOST)
        self._known, self._last = set(newest), last
        return fresh[::-1]

    def _send(self, settings: OtelSettings, traces: list[Trace], provider: str, key: Callable[[], str]) -> None:
        if self._collector is None or self._collector[0] != settings:
            from metnos.app.otel import Collector  # nothing of it is loaded while no endpoint is set

            if self._collector is not None:
                self._collector[1].close()
            self._collector = (settings, Collector(settings.endpoint, settings.timeout_s, key()))
        turns = [(trace.id, rules.spans(trace, provider), list(rules.points(trace, provider))) for trace in traces]
        taken = self._collector[1].send(turns)
        self._say("" if taken else "the collector takes no telemetry")

    def _say(self, trouble: str) -> None:
        """Log trouble when it begins, and when it ends."""
        if trouble != self._trouble:
            self._log(trouble or "the collector takes telemetry again")
            self._trouble = trouble

    def _go_on(self) -> None:
        over = False
        while not over:
            over = self._over.is_set()  # and then looks a last time
            self._bell.wait(0 if over else _LOOK_S)
            self._bell.clear()
            self._guarded(self.look)
        if self._collector is not None:
            self._collector[1].close()

    def _guarded(self, work: Callable[[], object]) -> None:
        """A border: what goes wrong here is logged, once, and goes no further."""
        try:
            work()
        except MetnosError as error:
            self._say(f"turns are not told: {error.what}")
        except Exception as error:  # noqa: BLE001 -- telemetry must never be what breaks
            self._say(f"turns are not told: a mistake in Metnos: {type(error).__name__}")
