"""How often somebody may ask: a bucket for each, that fills at a steady rate. Pure but for the clock it is given.

Rules: whoever asks too often is told when to come again; what is remembered is bounded, and the oldest goes.
"""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

_MOST = 4096  # who is remembered


@dataclass(frozen=True, slots=True)
class Rate:
    """So many a second, and so many at once."""

    per_s: float
    burst: float


class Buckets:
    """Counts for each key by itself."""

    def __init__(self, rate: Rate, now: Callable[[], float]) -> None:
        self._rate = rate
        self._now = now
        self._held: OrderedDict[str, tuple[float, float]] = OrderedDict()  # what is left, and when that was so

    def take(self, key: str) -> float:
        """0 if it may be; else after how many seconds."""
        now, rate = self._now(), self._rate
        left, then = self._held.pop(key, (rate.burst, now))
        left = min(rate.burst, left + max(0.0, now - then) * rate.per_s)
        wait = 0.0 if left >= 1 else (1 - left) / rate.per_s
        self._held[key] = (left - 1 if not wait else left, now)
        if len(self._held) > _MOST:
            self._held.popitem(last=False)
        return wait
