"""What goes on for senders: one errand for each at a time, each in a thread of its own.

Rules: an errand ends at its next event when its sender says so, when they are not let in any more, or when the daemon
hurries. Everything that goes wrong in one is told to its sender and ends there.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from metnos.law.principal import Principal


@dataclass(eq=False)
class Errand:
    """One thing that a sender wants."""

    chat: int
    principal: Principal
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def sender(self) -> str:
        return self.principal.sender


class Errands:
    """All that go on. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._going: dict[str, tuple[Errand, threading.Thread]] = {}

    def begin(self, errand: Errand, work: Callable[[Errand], None]) -> bool:
        """Do ``work`` in a thread; not if this sender has something going on already."""

        def run() -> None:
            try:
                work(errand)
            finally:
                with self._lock:
                    del self._going[errand.sender]

        with self._lock:
            if errand.sender in self._going:
                return False
            thread = threading.Thread(target=run, name=f"telegram {errand.sender}", daemon=True)
            self._going[errand.sender] = (errand, thread)
            thread.start()
        return True

    def of(self, sender: str) -> Errand | None:
        with self._lock:
            found = self._going.get(sender)
        return found[0] if found else None

    def hurry(self) -> None:
        """End all of them at their next event."""
        with self._lock:
            going = list(self._going.values())
        for errand, _ in going:
            errand.stop.set()

    def ended(self, patience_s: float) -> bool:
        """Whether all of them end in time."""
        deadline = time.monotonic() + patience_s
        while True:
            with self._lock:
                threads = [thread for _, thread in self._going.values()]
            left = deadline - time.monotonic()
            if not threads or left <= 0:
                return not threads
            threads[0].join(left)
