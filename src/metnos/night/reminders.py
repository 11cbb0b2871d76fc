"""Reminders that are due: reads the owner's file, and tells each reminder once.

The built-in executors keep the file (`metnos.sandbox.kit.reminders`); it may be written by hand too, and is believed no
more than any file. Rules: nothing here writes it. What is marked as done, or is no reminder, is passed over. A reminder
is known by its number, its time and its words together: numbers come back when setting one is undone. Those that came
due while nothing ran are told late, and say so. Does not guarantee the second: see `metnos.night.schedule`.
"""

import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.clock import to_text
from metnos.core.errors import StoreError
from metnos.night.notices import LONGEST, News, shortened
from metnos.sandbox.kit import reminders as kit

KIND = "reminder"
FILE = "reminders.jsonl"
_LATE = timedelta(minutes=2)  # later than this is said
_UNITS = ((timedelta(days=1), "day"), (timedelta(hours=1), "hour"), (timedelta(minutes=1), "minute"))


@dataclass(frozen=True, slots=True)
class Reminder:
    """One reminder that is not done."""

    number: int
    text: str
    due: datetime

    @property
    def once(self) -> str:
        """What it is known by."""
        return f"reminder {sha256_hex(canonical_json([self.number, to_text(self.due), self.text]))}"


class File:
    """The file of reminders. Looked at often, read only when it has changed."""

    def __init__(self, notes: Path, zone: tzinfo | None = None) -> None:
        self._path = notes / FILE
        self._zone = zone
        self._seen: tuple[int, ...] = ()
        self._held: tuple[Reminder, ...] = ()

    def reminders(self) -> tuple[Reminder, ...]:
        """Every reminder that is not done, by its time. Raises `StoreError` if the file cannot be read."""
        try:
            return self._look()
        except FileNotFoundError:
            self._seen = ()
            return ()
        except OSError as error:
            raise StoreError(f"the reminders cannot be read: {error.strerror}: {self._path}") from error

    def _look(self) -> tuple[Reminder, ...]:
        # A pipe or a link in its place must neither hold the clock of the house up nor lead it elsewhere.
        descriptor = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise StoreError(f"{self._path} is no plain file", fix="Move it away.")
            seen = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            if seen != self._seen:
                content = file.read(kit.MOST_BYTES + 1)
                if len(content) > kit.MOST_BYTES:
                    raise StoreError(f"{self._path} is too large to be reminders", fix="Delete old ones.")
                self._held, self._seen = parse(content, self._zone), seen
        return self._held


def parse(content: bytes, zone: tzinfo | None = None) -> tuple[Reminder, ...]:
    """The reminders in a file that are not done, by their time."""
    found = (_reminder(line, zone) for line in content.split(b"\n"))
    return tuple(sorted((each for each in found if each), key=lambda each: (each.due, each.number)))


def news(due: Iterable[Reminder], now: datetime) -> list[News]:
    """What to tell about reminders that are due."""
    return [News(KIND, _words(each, now), each.once) for each in due]


def ago(span: timedelta) -> str:
    """``3 hours``: the largest whole unit."""
    for unit, name in _UNITS:
        count = span // unit
        if count:
            return f"{count} {name}{'' if count == 1 else 's'}"
    return "a moment"


def _words(reminder: Reminder, now: datetime) -> str:
    late = now - reminder.due
    said = f" (was due {ago(late)} ago)" if late > _LATE else ""
    return shortened(reminder.text, LONGEST - len(said)) + said


def _reminder(line: bytes, zone: tzinfo | None) -> Reminder | None:
    raw = kit.understood(line)
    if raw is None or not 0 < raw["id"] < kit.MOST_NUMBER or raw.get("done", False) is not False:
        return None
    text, due = raw.get("text"), raw.get("due")
    if not (kit.is_text(text) and isinstance(text, str) and text.strip() and isinstance(due, str)):
        return None
    try:
        moment = datetime.fromisoformat(due)
        # Without a zone it was written by hand, in the owner's time.
        moment = moment if moment.tzinfo else moment.replace(tzinfo=zone)
        return Reminder(raw["id"], text, moment.astimezone(UTC))
    except (ValueError, OverflowError):
        return None
