"""The clock of the house: a thread that sleeps until something is due, and then does it.

Rules: all deciding is in what it calls; it never sleeps so long that a clock that was set goes unnoticed, and can be
woken. A border: whatever goes wrong is logged, and the house's clock goes on.
"""

import threading
import time
from collections.abc import Callable

from metnos.core.errors import MetnosError
from metnos.night.schedule import LONGEST_SLEEP

Tick = Callable[[Callable[[], bool]], float]


class Watch:
    """Calls ``tick`` again and again; it is given a way to ask whether to stop, and returns how long to sleep."""

    def __init__(self, tick: Tick, log: Callable[[str], None]) -> None:
        self._tick = tick
        self._log = log
        self._bell = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._go_on, name="clock of the house", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """Look at once: something may have come up, or the clock was moved."""
        self._bell.set()

    def stop(self, patience_s: float) -> bool:
        """End after the job that runs; says whether it ended in time. One that did not is found as interrupted."""
        self._over.set()
        self._bell.set()
        if self._thread.is_alive():
            self._thread.join(patience_s)
        return not self._thread.is_alive()

    def _go_on(self) -> None:
        while not self._over.is_set():
            self._bell.clear()
            time.tzset()  # whoever travels sets another zone, and a running process would not see it
            try:
                nap = self._tick(self._over.is_set)
            except MetnosError as error:
                self._log(f"the clock of the house: {error.what}")
                nap = LONGEST_SLEEP.total_seconds()
            except Exception as error:  # noqa: BLE001 -- a border: reminders must come even after a mistake elsewhere
                self._log(f"the clock of the house: a mistake in Metnos: {type(error).__name__}")
                nap = LONGEST_SLEEP.total_seconds()
            self._bell.wait(nap)
