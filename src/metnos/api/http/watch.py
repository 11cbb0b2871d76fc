"""Tells whoever listens that something changed: one look for all of them.

Rules: however many listen, one thread looks, a few times a second, and only while somebody does; SQLite itself says
whether anything was committed since (`store.freshness`), so that a look costs next to nothing. What is told are counts,
never content. Whoever comes is told what a look found that was made after that, never what was so before. Whoever is
slow misses what was in between, and gets what is so now. A look that fails, however, is followed by the next: a mistake
of ours is logged once and not each time.
"""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from metnos.api.daemon import Household
from metnos.api.wire import Message
from metnos.core.errors import MetnosError
from metnos.core.workspace import Workspace
from metnos.night.notices import Notices
from metnos.store.freshness import Freshness

LOOK_S = 0.4
BEAT_S = 15.0  # a listener hears something at least that often, so that what stands between does not hang up


@dataclass(eq=False, slots=True)
class _Listener:
    loop: asyncio.AbstractEventLoop
    woken: asyncio.Event

    def wake(self) -> None:
        with contextlib.suppress(RuntimeError):  # its loop is closed: nobody listens any more
            self.loop.call_soon_threadsafe(self.woken.set)


class Watcher:
    """Looks for all listeners of one daemon."""

    def __init__(
        self,
        lease: Callable[[], AbstractContextManager[Household]],
        log: Callable[[str], None],
        look_s: float = LOOK_S,
    ) -> None:
        self._lease = lease
        self._log = log
        self._look_s = look_s
        self._lock = threading.Lock()
        self._listeners: set[_Listener] = set()
        self._thread: threading.Thread | None = None
        self._alone = threading.Event()  # nobody listens
        self._new = False  # somebody came since the last look
        self._told: tuple[int, Message] = (0, {})  # by which look
        self._number = 0  # of the look that was begun last

    @property
    def listeners(self) -> int:
        return len(self._listeners)

    async def follow(self) -> AsyncIterator[tuple[int, Message | None]]:
        """How it is now, and then at each change; ``None`` now and then, as a sign of life."""
        mine = _Listener(asyncio.get_running_loop(), asyncio.Event())
        known = self._come(mine)
        try:
            while True:
                mine.woken.clear()
                number, told = self._told
                if number > known:
                    known = number
                    yield number, told
                try:
                    await asyncio.wait_for(mine.woken.wait(), BEAT_S)
                except TimeoutError:
                    yield known, None
        finally:
            self._go(mine)

    def _come(self, listener: _Listener) -> int:
        """The look that was begun last: what it finds may be older than whoever comes."""
        with self._lock:
            self._listeners.add(listener)
            self._new = True
            if self._thread is None:
                self._alone.clear()
                self._thread = threading.Thread(target=self._watch, name="watch", daemon=True)
                self._thread.start()
            return self._number

    def _go(self, listener: _Listener) -> None:
        with self._lock:
            self._listeners.discard(listener)
            if not self._listeners:
                self._alone.set()

    def _watch(self) -> None:
        fresh: Freshness | None = None
        seen: object = None
        failed = ""
        try:
            while not self._is_over():
                try:
                    fresh = fresh or self._fresh()
                    seen = None if self._begun() else seen
                    look = fresh.look()
                    if look != seen:
                        self._tell()
                        seen = look
                    failed = ""
                except MetnosError:
                    pass  # it cannot be looked at now: the next look tries again
                except Exception as error:  # noqa: BLE001 -- the border of the watch: all who listen depend on it
                    kind = type(error).__name__
                    if kind != failed:
                        self._log(f"a mistake in Metnos: {kind} while looking for changes")
                    _close(fresh)
                    fresh, seen, failed = None, None, kind
                self._alone.wait(self._look_s)
        finally:
            _close(fresh)

    def _begun(self) -> bool:
        """Begin a look; whether somebody came since the last one, who has to be told in any case."""
        with self._lock:
            self._number += 1
            came, self._new = self._new, False
            return came

    def _fresh(self) -> Freshness:
        with self._lease() as household:
            return Freshness(_databases(household.app.workspace))

    def _is_over(self) -> bool:
        with self._lock:
            if not self._listeners:
                self._thread = None
            return self._thread is None

    def _tell(self) -> None:
        with self._lease() as household:
            waiting, unseen = counts(household)
        with self._lock:
            self._told = (self._number, {"event": "changed", "waiting": waiting, "unseen": unseen})
            listeners = tuple(self._listeners)
        for each in listeners:
            each.wake()


def _close(fresh: Freshness | None) -> None:
    """Leave what looked until now: what broke may be its own connection."""
    if fresh is not None:
        with contextlib.suppress(Exception):  # it is left in any case
            fresh.close()


def counts(household: Household) -> tuple[int, int]:
    """How many questions wait, and how many notices nobody has seen."""
    app = household.app
    return len(app.inbox.waiting()), len(Notices(app.night_db, app.clock).unseen())


def _databases(workspace: Workspace) -> tuple[Path, ...]:
    """Where it shows that something happened."""
    return (workspace.law_db, workspace.night_db, workspace.medium_db, workspace.undo_db, workspace.synt_db,
            workspace.mnest_db, workspace.grimoire_db)  # fmt: skip
