"""The clock by which everything ends that the owner gave for a time: grants, questions, devices, codes, permits.

Rules: it never tells an earlier time than it told before, in any process, so that setting the machine's clock back
brings nothing back that had ended. While the machine's clock stands behind what was seen, this one goes on from there
at the same pace, and it is the machine's clock again as soon as that has caught up. A clock that jumped ahead by
mistake ends things early, and its owner sets this one right by a typed word. Corrections of a few minutes are waited
out. Does not see a clock that is set back again and again by less than that, or for as long as nothing runs.
"""

import contextlib
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from metnos.core.clock import Clock, from_text, to_text
from metnos.core.fixed_file import FixedFile

CORRECTION = timedelta(minutes=5)
_EVERY = timedelta(minutes=1)  # how exactly the file knows the latest time
_MILLI = timedelta(milliseconds=1)
_SIZE = 64
_RECORD = re.compile(rb"(\d{1,9}) (\S{24}) (\d{1,18}) *\n")


@dataclass(frozen=True, slots=True, order=True)
class LatestTime:
    """The latest time that was told, and how far that runs ahead of the machine's clock. Each setting right begins a
    new count, and what was seen before it is worth nothing."""

    count: int
    told: datetime
    ahead: timedelta = timedelta(0)

    def encode(self) -> bytes:
        millis = self.ahead // _MILLI
        return f"{self.count} {to_text(self.told)} {millis}".encode().ljust(_SIZE - 1) + b"\n"


def advance(latest: LatestTime, now: datetime) -> LatestTime:
    """What is told when the machine's clock says ``now``."""
    if now >= latest.told:
        return LatestTime(latest.count, now)
    told = now + latest.ahead
    if told >= latest.told:
        return replace(latest, told=told)
    if latest.told - told <= CORRECTION:
        return latest
    return replace(latest, ahead=-((now - latest.told) // _MILLI) * _MILLI)


class SteadyClock:
    """The steady clock of one workspace. Threads and processes may share it."""

    def __init__(self, path: Path, clock: Clock, recorded: Callable[[], datetime | None]) -> None:
        """``recorded`` is the latest time that is known elsewhere; asked where the file does not tell any."""
        self._file = FixedFile(path)
        self._clock = clock
        self._recorded = recorded
        self._lock = threading.Lock()
        self._latest: LatestTime | None = None

    def now(self) -> datetime:
        with self._lock:
            now = self._clock.now()
            stored = self._read()
            known = [each for each in (stored, self._latest) if each is not None]
            latest = max(known) if known else LatestTime(0, self._recorded() or now)
            self._latest = advance(latest, now)
            if stored is None or self._differs(stored):
                self._write(self._latest)
            return self._latest.told

    def ahead(self) -> timedelta:
        """How far this clock runs ahead of the machine's."""
        return self.now() - self._clock.now()

    def set_right(self) -> None:
        """Take the machine's clock for right, whatever was seen. Only the owner may."""
        self.now()
        with self._lock:
            assert self._latest is not None  # noqa: S101 -- `now` has just set it
            self._latest = LatestTime(self._latest.count + 1, self._clock.now())
            self._write(self._latest)

    # -- the file

    def _differs(self, stored: LatestTime) -> bool:
        mine = self._latest
        return mine is not None and (
            (mine.count, mine.ahead) != (stored.count, stored.ahead) or mine.told - stored.told >= _EVERY
        )

    def _read(self) -> LatestTime | None:
        try:
            return parse(self._file.read(_SIZE + 1))
        except OSError:
            return None

    def _write(self, latest: LatestTime) -> None:
        """Keep it where nothing later is kept. What cannot be kept is known to this process alone."""
        with contextlib.suppress(OSError):
            if self._file.create(latest.encode()):
                return
            with self._file.held() as held:
                stored = parse(held.read(_SIZE + 1))
                if stored is None or stored < latest or stored.ahead != latest.ahead:
                    held.overwrite(max(latest, stored or latest).encode())


def parse(raw: bytes) -> LatestTime | None:
    """The record that these bytes are; nothing if they are none."""
    found = _RECORD.fullmatch(raw)
    if found is None:
        return None
    try:
        told = from_text(found[2].decode("ascii"))
        return LatestTime(int(found[1]), told.astimezone(UTC), timedelta(milliseconds=int(found[3])))
    except (ValueError, OverflowError):
        return None
