"""How often a call is tried again, and how long one waits before that.

Rules: each wait is up to twice the last, drawn at random so that many who failed together do not come back together,
and at least what the server asked for. Sleep and chance are given from outside, so that tests need neither.
"""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

_FIRST_S = 0.5
_LONGEST_S = 20.0


@dataclass(frozen=True, slots=True)
class Patience:
    """How much is tried again."""

    retries: int = 2
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random

    def pause(self, failures: int, asked_s: float | None = None) -> float:
        """How long to wait after that many failures in a row."""
        longest: float = min(_LONGEST_S, _FIRST_S * 2 ** min(failures - 1, 10))
        return max(longest * (0.5 + 0.5 * self.chance()), asked_s or 0.0)
