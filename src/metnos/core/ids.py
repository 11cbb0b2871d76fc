"""ULIDs: 128-bit ids that sort by the time they were made.

Rules: 26 characters of Crockford's base 32; the first 48 bits are milliseconds since 1970, the rest is random. Two ids
made in one process within one millisecond, or while the clock goes back, still come out in order, because the later
one is the earlier one plus one. Does not guarantee order between processes within one millisecond.
"""

import os
import secrets
import threading
from datetime import UTC, datetime

from metnos.core.clock import Clock, SystemClock

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_VALUES = {char: value for value, char in enumerate(_ALPHABET)}
_RANDOM_BITS = 80
_MAX = (1 << 128) - 1
LENGTH = 26


class UlidMaker:
    """Makes strictly increasing ULIDs; safe to share between threads and across a fork."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._last = 0
        # A forked child would otherwise count on from its parent's last id, and so would its siblings.
        self._pid = os.getpid()

    def __call__(self) -> str:
        millis = int(self._clock.now().timestamp() * 1000)
        fresh = (millis << _RANDOM_BITS) | secrets.randbits(_RANDOM_BITS)
        with self._lock:
            if self._pid != os.getpid():
                self._pid, self._last = os.getpid(), 0
            self._last = fresh if fresh > self._last else self._last + 1
            if self._last > _MAX:
                raise OverflowError("the clock is beyond the year 10889: no ULID can be made")
            return _encode(self._last)


def made_at(ulid: str) -> datetime:
    """When a ULID was made. Raises ``ValueError`` if it is none."""
    if len(ulid) != LENGTH or any(char not in _VALUES for char in ulid) or ulid[0] > "7":
        raise ValueError(f"{ulid!r} is not a ULID")
    number = 0
    for char in ulid:
        number = number << 5 | _VALUES[char]
    return datetime.fromtimestamp((number >> _RANDOM_BITS) / 1000, UTC)


def _encode(number: int) -> str:
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(5 * (LENGTH - 1), -1, -5))
