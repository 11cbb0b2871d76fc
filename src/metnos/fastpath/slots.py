"""The particulars of a request: which paths, numbers, dates and words it names, and what the words around them say.

English and Italian, mixed as people mix them. Rules: pure, no look at the disk, the same for the same request; each
slot says where it stands and never overlaps another; what is more certain is found first (quotes, then paths and
addresses, folders, dates and times, kinds of files, sizes, counts, and at last plain numbers). Work grows with the
length of the request only. Whatever stands in the request, nothing raises.

Does not guarantee that a path exists, that a day is the one that was meant, or that nothing was overlooked: a router
asks when it lacks something, and an executor checks what it gets.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path

from metnos.fastpath import (
    slots_amounts,
    slots_dates,
    slots_files,
    slots_folders,
    slots_numbers,
    slots_paths,
    slots_quotes,
    slots_roles,
    slots_times,
)
from metnos.fastpath.language import language
from metnos.fastpath.slots_records import Kind, Slot
from metnos.fastpath.slots_source import Source

__all__ = ["Kind", "Slot", "amount", "extract", "without"]

_AMOUNT = re.compile(r"(-?\d[\d.,]*)\s?([^\W\d_]+|%)?")


@lru_cache(maxsize=32)  # the turn and its planner read the same request
def extract(text: str, *, now: datetime, home: Path, cwd: Path) -> tuple[Slot, ...]:
    """Every particular of a request, in order; none overlaps another."""
    source = Source(text, now, home, cwd)
    source.claim(slots_quotes.slots(source))
    source.claim(slots_paths.slots(source))
    source.claim(slots_folders.slots(source))
    source.language = language(source.low)
    source.claim((*slots_dates.written(source), *slots_times.written(source)))
    source.mark_numbers(slots_numbers.numbers(source))
    source.claim((*slots_dates.slots(source), *slots_times.times(source), *slots_times.lengths(source)))
    slots_dates.join(source)
    source.claim(slots_folders.targets(source))
    source.claim(slots_files.slots(source))
    source.claim(slots_amounts.sizes(source))
    source.claim(slots_amounts.orders(source))
    source.claim(slots_amounts.counts(source))
    source.claim(slots_numbers.slots(source))
    return tuple(slots_roles.assign(source))


def without(text: str, slots: Sequence[Slot]) -> str:
    """The request with its particulars cut out, and single spaces."""
    parts: list[str] = []
    at = 0
    for slot in sorted(slots, key=lambda one: one.start):
        parts.append(text[at : slot.start])
        at = max(at, slot.end)
    return " ".join(" ".join((*parts, text[at:])).split())


def amount(slot: Slot) -> tuple[int | float, str] | None:
    """The figures of a size, a length of time or a number, and the unit as it was said: 90 and `minutes`."""
    match = _AMOUNT.search(slot.text)
    if match is None:
        return None
    figures = match[1].rstrip(".,")
    value = slots_numbers.value_of(figures.lstrip("-"), "en" if "." in figures else "it")
    if value is None:
        return None
    return (-value if figures.startswith("-") else value), (match[2] or "")
