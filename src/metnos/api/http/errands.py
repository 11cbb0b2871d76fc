"""Work that takes longer than a request should: each in a thread of its own, looked after by asking again.

Rules: of one name one runs at a time; it holds the workspace open while it runs; what came of it is kept until the next
one of its name. Names come from us and never from a request, so there are only so many. A thread that is still at it
when the daemon ends is asked to stop, and then left: whatever it does must be safe to be killed at any point.
"""

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Request

from metnos.api.daemon import Household
from metnos.api.http.inside import Desk
from metnos.core.errors import InboxError, MetnosError

_LOOK_S = 0.02


class Changed(InboxError):
    """It is not as it was when it was shown, or is being done already."""


@dataclass(eq=False)
class Errand:
    """One piece of work."""

    name: str
    began: float = field(default_factory=time.monotonic)
    ended: float = 0.0
    progress: tuple[str, int, int] = ("", 0, 0)  # what is being done, how much of it is done, and of how much
    result: Any = None
    error: MetnosError | None = None
    over: threading.Event = field(default_factory=threading.Event)
    stopping: threading.Event = field(default_factory=threading.Event)

    @property
    def running(self) -> bool:
        return not self.over.is_set()

    @property
    def seconds(self) -> float:
        return (self.ended or time.monotonic()) - self.began

    def tell(self, what: str, done: int, of: int) -> None:
        self.progress = (what, done, of)

    def wait(self, seconds: float) -> Any:
        """What came of it, or nothing if it is not over by then. Raises what it raised."""
        self.over.wait(seconds)
        if self.error is not None:
            raise self.error
        return self.result

    async def arrival(self, seconds: float) -> Any:
        """The same, without keeping one of the few threads that answer requests."""
        deadline = time.monotonic() + seconds
        while self.running and time.monotonic() < deadline:
            await asyncio.sleep(_LOOK_S)
        return self.wait(0)


Work = Callable[[Household, Errand], Any]


class Errands:
    """All errands of one daemon."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._lock = threading.Lock()
        self._last: dict[str, Errand] = {}
        self._threads: set[threading.Thread] = set()

    def find(self, name: str) -> Errand | None:
        """The one that runs, or the last that did."""
        with self._lock:
            return self._last.get(name)

    def begin(self, name: str, work: Work) -> Errand:
        """Begin one; refused while one of its name runs."""
        with self._lock:
            last = self._last.get(name)
            if last is not None and last.running:
                raise Changed(f"{name} is being done already", fix="Wait until it has ended.")
            return self._begin(name, work)

    def join(self, name: str, work: Work) -> Errand:
        """The one that runs, else a new one."""
        with self._lock:
            last = self._last.get(name)
            return last if last is not None and last.running else self._begin(name, work)

    def stop(self, patience_s: float) -> bool:
        """Ask everything to stop; whether all of it did in time."""
        with self._lock:
            threads = list(self._threads)
            for errand in self._last.values():
                errand.stopping.set()
        deadline = time.monotonic() + patience_s
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in threads)

    def _begin(self, name: str, work: Work) -> Errand:
        errand = self._last[name] = Errand(name)
        thread = threading.Thread(target=self._thread, args=(errand, work), name="errand", daemon=True)
        self._threads.add(thread)
        thread.start()
        return errand

    def _thread(self, errand: Errand, work: Work) -> None:
        try:
            with self._desk.lease() as household:
                errand.result = work(household, errand)
        except MetnosError as error:
            errand.error = error
        except Exception as error:  # noqa: BLE001 -- the border of an errand: it is told, and stays its own
            self._desk.log(f"a mistake in Metnos: {type(error).__name__} in {errand.name}")
            errand.error = MetnosError(f"a mistake in Metnos: {type(error).__name__}", fix="Please report it.")
        finally:
            errand.ended = time.monotonic()
            with self._lock:
                self._threads.discard(threading.current_thread())
            errand.over.set()


def _errands(request: Request) -> Errands:
    errands: Errands = request.app.state.errands
    return errands


TheErrands = Annotated[Errands, Depends(_errands)]
