"""What one particular can mean for an argument: its value, its words, and the few things that are reckoned from them.

A *reading* has a name and says how a value is got from a slot: a day also reads as how many days ago it began, a name
as its ending or as what stands before it. A shape remembers which reading an argument was, never what it gave.

A *quality* is what about a particular may lead to another plan although its kind is the same: which kind of file it is,
whether a day is over, whether a quoted text is more than a word. What follows a dash in it, as how a number is written,
matters to some planner and seldom: it tells one form from another, and never whether two mean the same (see `firm`).

Rules: pure; the same slot and the same moment give the same readings, the plainest first. Days and moments are reckoned
as planners reckon them, since a reading is believed only where it gave what a planner gave. Does not look at the disk.
"""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

from metnos.fastpath.slots_paths import WELL_KNOWN, is_text
from metnos.fastpath.slots_records import Kind, Slot
from metnos.fastpath.slots_source import listed

PLACES = frozenset({Kind.PATH, Kind.FOLDER, Kind.NAME})
TEMPORAL = frozenset({Kind.DATE, Kind.RANGE, Kind.TIME, Kind.DURATION})
ALONE = ("next", "ahead")  # readings of a time that hold only where the request has no other
_PATTERNS = frozenset({Kind.GLOB, Kind.FILES})
_DAY = 86_400.0
# Files that are worked on with the same tools. What is in none of them is a file like any other.
_FAMILIES = {
    ending: family
    for family, endings in {
        "text": "txt md log rst text tex ini cfg conf py js sh c h rs go java",
        "pdf": "pdf",
        "office": "docx doc odt pptx ppt odp rtf",
        "table": "csv tsv xlsx xls ods db sqlite sqlite3",
        "data": "json jsonl toml yaml yml xml",
        "page": "html htm xhtml",
        "image": "jpg jpeg png gif webp heic bmp tif tiff svg",
        "archive": "zip tar tgz gz bz2 xz 7z rar zst",
    }.items()
    for ending in listed(endings)
}
_NUMBERS = {
    "percent": re.compile(r"%$"),
    "-digit": re.compile(r"^\d$"),
    "": re.compile(r"^\d+$"),
    "-grouped": re.compile(r"^\d{1,3}(?:[.,]\d{3})+$"),
    "-point": re.compile(r"^\d+\.\d+$"),
    "-comma": re.compile(r"^\d+,\d+$"),
    "-words": re.compile(r"[^\W\d_]"),
}
_ORDERS = {
    "-plain": re.compile("^piu "),
    "-many": re.compile(r"^pi\w .*(?:i|cch?ie|cole|nuove)$"),
    "-one": re.compile(r"^pi\w .*[aeo]$"),
}  # Italian
_UNITS = re.compile(r"\b(?:days|weeks|months|years|hours|giorni|settimane|mesi|anni|ore)\b")
_CALLED = re.compile("folder|cartell|director")
_LONGER = re.compile(r"week|settiman|month|mes[ei]\b|year|ann[oi]\b")
_SUFFIX = re.compile(r"\.([A-Za-z0-9]{1,5})$")


def readings(slot: Slot, now: datetime) -> dict[str, Any]:
    """Every reading of a slot by its name, the plainest first."""
    found: dict[str, Any] = {}
    for name, value in _all(slot, now):
        if value is not None and value != "":
            found.setdefault(name, value)
    return found


def quality(slot: Slot, now: datetime) -> str:
    """What tells this particular from others of its kind, in a word; nothing for most."""
    if slot.kind in PLACES or slot.kind in _PATTERNS:
        return _filed(slot)
    if slot.kind is Kind.QUOTED:
        return "phrase" if " " in str(slot.value).strip() else ""
    if slot.kind in (Kind.NUMBER, Kind.COUNT):
        return _written(slot.text.strip())
    if slot.kind in (Kind.DATE, Kind.RANGE):
        return _when(slot, f"{now:%Y-%m-%d}") + ("-length" if _UNITS.search(slot.text.lower()) else "")
    if slot.kind is Kind.DURATION:
        return _long(slot)
    if slot.kind is Kind.ORDER:
        return next((said for said, shape in _ORDERS.items() if shape.search(slot.text.lower())), "")
    return ""


def _filed(slot: Slot) -> str:
    """The family of a file, and what else tells planners one place or kind of files from another."""
    value, text = str(slot.value), slot.text.lower()
    ending = _SUFFIX.search(value.partition("|")[0])
    tells = {
        "capitals": ending is not None and ending[1] != ending[1].lower(),
        "shelf": slot.kind is Kind.PATH and PurePosixPath(value).name in WELL_KNOWN,  # never a file
        "stick": value.startswith(("/media", "/mnt", "/run")),  # where no folder is made unasked
        "elsewhere": slot.kind is Kind.NAME and "/" in value and "/" not in text,  # than it was said
        "here": slot.kind is Kind.FOLDER and "/" not in value and value != "~",
        "named": slot.kind is Kind.FOLDER and _CALLED.search(text) is not None,
        "bare": slot.kind is Kind.FOLDER and " " not in text,
        "ending": slot.kind is Kind.FILES and f"*.{text}" in value.split("|"),  # said alone
    }
    return "-".join((_family(slot), *(name for name, holds in tells.items() if holds)))


def _family(slot: Slot) -> str:
    """Which kind of files it is, or may be; nothing for folders."""
    endings = [_SUFFIX.search(each) for each in str(slot.value).split("|")]
    families = {_FAMILIES.get(ending[1].lower(), "file") for ending in endings if ending}
    if not families and slot.kind in (Kind.PATH, Kind.NAME) and is_text(PurePosixPath(str(slot.value)).name):
        return "text"
    return "mixed" if len(families) > 1 else next(iter(families), "")


def is_over(slot: Slot, now: datetime) -> bool:
    """True for a time of day that is already past today."""
    return slot.kind is Kind.TIME and str(slot.value)[:5] <= f"{now:%H:%M}"


def _long(slot: Slot) -> str:
    """Whether a length of time is so many days: hours are less, and weeks and months are reckoned by themselves."""
    if _LONGER.search(slot.text.lower()):
        return "-units"
    whole = isinstance(slot.value, int | float) and slot.value >= 1 and slot.value == int(slot.value)
    return "" if whole else "-part"


def _written(text: str) -> str:
    """How a number is written: planners that look for figures see no word, and 1.250 is not to all of them the same."""
    return next((said for said, shape in _NUMBERS.items() if shape.search(text)), "-other")


def _when(slot: Slot, today: str) -> str:
    span = slot.value if isinstance(slot.value, dict) else {"from": slot.value, "to": slot.value}
    first, last = str(span.get("from") or "")[:10], str(span.get("to") or "9999")[:10]
    return "coming" if first > today else "past" if last < today else "now"


def _all(slot: Slot, now: datetime) -> Iterator[tuple[str, Any]]:
    if not isinstance(slot.value, dict):
        yield "value", slot.value
    yield from ((f"also{place}", other) for place, other in enumerate(slot.also))
    yield "figures", _figures(slot)
    yield "text", slot.text
    if slot.kind in PLACES:
        yield from _place(str(slot.value))
    elif slot.kind in _PATTERNS:
        yield from _pattern(str(slot.value))
    elif slot.kind in TEMPORAL:
        yield from _moment(slot, now)
    elif isinstance(slot.value, int | float) and not isinstance(slot.value, bool):
        yield "string", str(slot.value)
        if isinstance(slot.value, float) and slot.value.is_integer():
            yield "whole", int(slot.value)


def _figures(slot: Slot) -> str | None:
    """A number as it was written, with the point that reckoners want."""
    written = slot.text.replace(",", ".")
    try:
        return written if slot.kind is Kind.NUMBER and float(written) == slot.value else None
    except ValueError:
        return None


def _place(value: str) -> Iterator[tuple[str, Any]]:
    name = PurePosixPath(value).name
    suffix = PurePosixPath(name).suffix
    head, slash, _ = value.rstrip("/").rpartition("/")
    yield "name", name
    yield "stem", value.removesuffix(suffix) if suffix else None
    yield "parent", head or (slash or None)


def _pattern(value: str) -> Iterator[tuple[str, Any]]:
    """*.csv|*.tsv* as its first ending, with and without the dot."""
    first = value.partition("|")[0]
    if first.startswith("*.") and "*" not in first[1:]:
        yield "ending", first[1:]
        yield "suffix", first[2:]


def _moment(slot: Slot, now: datetime) -> Iterator[tuple[str, Any]]:
    if slot.kind is Kind.DATE:
        yield from _day("", str(slot.value), now)
    elif slot.kind is Kind.RANGE and isinstance(slot.value, dict):
        yield from ((name, slot.value.get(name)) for name in ("from", "to", "days"))
        yield from _day("from.", str(slot.value.get("from") or ""), now)
        yield from _day("to.", str(slot.value.get("to") or ""), now)
    elif slot.kind is Kind.DURATION and isinstance(slot.value, int | float):
        yield from _ahead(float(slot.value), now)
    elif slot.kind is Kind.TIME:
        clock = str(slot.value)[:5]
        day = now + timedelta(days=1) if is_over(slot, now) else now
        yield "next", f"{day:%Y-%m-%d} {clock}"


def _day(prefix: str, day: str, now: datetime) -> Iterator[tuple[str, Any]]:
    """How many days ago a day began, and how many ago it was over."""
    try:
        began = datetime.fromisoformat(day)
    except ValueError:
        return
    began = began if began.tzinfo else began.replace(tzinfo=now.tzinfo)
    ago = max(0.0, round((now - began).total_seconds() / _DAY, 2))
    yield f"{prefix}ago", ago
    yield f"{prefix}over", round(ago - 1, 2)


def _ahead(days: float, now: datetime) -> Iterator[tuple[str, Any]]:
    try:
        # Days are rounded: half a minute more and it is the minute that was meant.
        yield "ahead", f"{now + timedelta(days=days, seconds=30):%Y-%m-%d %H:%M}"
        yield "day", f"{now + timedelta(days=days):%Y-%m-%d}"
    except OverflowError:
        return
