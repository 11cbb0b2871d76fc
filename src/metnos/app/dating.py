"""The times that a question to the memory speaks of, as requests are read: days, ranges, feasts, the last two weeks."""

import contextlib
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from metnos.fastpath.slots import Kind, extract
from metnos.grimoire.question import Span

_NOWHERE = Path("/")  # times do not depend on where one is
_DAY = timedelta(days=1)


def dates(text: str, now: datetime) -> Iterator[tuple[str, Span]]:
    """Each time with the words that say it."""
    for slot in extract(text, now=now, home=_NOWHERE, cwd=_NOWHERE):
        if slot.kind in (Kind.DATE, Kind.RANGE):
            first, last = (_midnight(day, now) for day in _days(slot.value))
            with contextlib.suppress(OverflowError):  # the last day of all, after which there is none
                yield slot.text, _span(first, last + _DAY, slot.role)


def _days(value: Any) -> tuple[str, str]:
    return (value["from"], value["to"]) if isinstance(value, dict) else (value, value)


def _span(since: datetime, until: datetime, role: str) -> Span:
    """As the question means it: *after May* has no end, *before May* no beginning."""
    return Span(since, None) if role == "after" else Span(None, since) if role == "before" else Span(since, until)


def _midnight(day: str, now: datetime) -> datetime:
    return datetime.combine(date.fromisoformat(day), datetime.min.time(), now.tzinfo)
