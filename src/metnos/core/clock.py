"""The one clock. Everything that asks for the time takes a ``Clock``, so that tests can move it.

Rules: times are aware and in UTC; text is ISO 8601 with milliseconds and ``Z``, so that it sorts as it reads.
Does not guarantee that time never goes back: the owner may set the clock, and whoever stores times must cope.
"""

from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    def now(self) -> datetime: ...


class SystemClock:
    """The machine's own time."""

    __slots__ = ()

    def now(self) -> datetime:
        return datetime.now(UTC)


class MovableClock:
    """A clock that stands still until it is moved, in either direction."""

    __slots__ = ("_now",)

    def __init__(self, start: datetime) -> None:
        if start.tzinfo is None:
            raise ValueError("a clock needs a time zone")
        self._now = start.astimezone(UTC)

    def now(self) -> datetime:
        return self._now

    def move(self, by: timedelta) -> None:
        self._now += by


def to_text(moment: datetime) -> str:
    """``2026-04-21T22:14:00.000Z``: fixed width, so that text order is time order."""
    if moment.tzinfo is None:
        raise ValueError("a time without a zone cannot be stored")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def from_text(text: str) -> datetime:
    """The inverse of `to_text`. Raises ``ValueError`` on anything that is no time with a zone."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no time zone")
    return moment.astimezone(UTC)
