"""Which conversation a sender is in: a new one after a long silence, so that *it* means nothing of yesterday."""

import threading
from datetime import datetime

from metnos.api.telegram.rules import NUMBERS
from metnos.core.clock import Clock
from metnos.core.ids import UlidMaker


class Talks:
    """The conversation of each sender. Threads may share it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._ids = UlidMaker(clock)
        self._lock = threading.Lock()
        self._now: dict[str, tuple[str, datetime]] = {}

    def current(self, sender: str) -> str:
        """The conversation that goes on, or a new one."""
        now = self._clock.now()
        with self._lock:
            known = self._now.get(sender)
            talk = known[0] if known and abs(now - known[1]) < NUMBERS.talk else f"telegram-{self._ids()}"
            self._now[sender] = (talk, now)
            return talk
