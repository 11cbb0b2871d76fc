"""The request while it is being read: its text, a folded copy of the same length, and what was found so far.

Rules: ``low`` has a character for each character of ``text``, so a place in one is the same place in the other. What is
found is masked in it: the first character says what was found, the others are filler. So later rules neither see into
what earlier ones found nor find a beginning there, and a rule can ask what kind of thing stands next to it.

Does not guarantee to see letters that are written with combining accents: those stay two characters.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

from metnos.fastpath.slots_records import Kind, Slot

MARKS = {kind: chr(0xE000 + place) for place, kind in enumerate(Kind)}
FILL = "\ue0ff"
NUMBER_MARK = "\ue0fe"
NUMBER_FILL = "\ue0fd"
N = f"{NUMBER_MARK}{NUMBER_FILL}*+"  # in a pattern: one number
_TAKEN = re.compile(f"[{MARKS[Kind.PATH]}-\ue0f0{FILL}]")
_INVISIBLE = [*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x206A), 0xFEFF, 0xAD, *range(0x20)]
_SPACES = [0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000]
_FOLD: dict[int, str] = {
    **dict.fromkeys([*_INVISIBLE, *_SPACES], " "),
    **dict.fromkeys(range(0xE000, 0xE100), "\ufffd"),  # nobody but us marks anything
    **dict.fromkeys(map(ord, "àáâä"), "a"),
    **dict.fromkeys(map(ord, "èéêë"), "e"),
    **dict.fromkeys(map(ord, "ìíîï"), "i"),
    **dict.fromkeys(map(ord, "òóôö"), "o"),
    **dict.fromkeys(map(ord, "ùúûü"), "u"),
    **dict.fromkeys([0x60, 0xB4, 0x2BC, 0x2018, 0x2019], "'"),
    **dict.fromkeys([*range(0x2010, 0x2014), 0x2212], "-"),
}  # fmt: skip
_COMING = re.compile(
    r"\b(?:remind\w*|ricord\w+|promemoria|alarm|sveglia\w*|avvis\w+|appointments?|appuntament[oi]|schedule|until|till|"
    r"due|deadline|scadenza|manca|mancano|entro|next|prossim[oaie]|coming|will)\b"
)


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it stands in the request. A weak one may be an ordinary word, so it counts only before a unit."""

    start: int
    end: int
    value: int | float
    weak: bool = False
    ordinal: bool = False
    percent: bool = False

    def whole(self, least: int, most: int) -> int | None:
        """The value, if it is a whole number within these bounds."""
        fits = isinstance(self.value, int) and not self.percent and least <= self.value <= most
        return int(self.value) if fits else None


@dataclass(slots=True)
class Source:
    """A request under the eyes of its rules."""

    text: str
    now: datetime
    home: Path
    cwd: Path
    low: str = ""
    language: str = "en"
    coming: bool = False  # looks ahead, so that a day without a year is the next one
    slots: list[Slot] = field(default_factory=list)
    numbers: dict[int, Number] = field(default_factory=dict)
    yearless: set[int] = field(default_factory=set)  # where dates begin whose year nobody said

    def __post_init__(self) -> None:
        self.low = fold(self.text)
        self.coming = _COMING.search(self.low) is not None

    @property
    def today(self) -> date:
        return self.now.date()

    def slot(self, kind: Kind, start: int, end: int, value: Any, role: str = "", also: tuple[str, ...] = ()) -> Slot:
        return Slot(kind, start, end, self.text[start:end], value, role, also)

    def number(self, place: int) -> Number:
        return self.numbers[place]

    def claim(self, found: Iterable[Slot]) -> None:
        """Take what was found, the longer before the shorter, unless something stands there already."""
        taken = [slot for slot in resolve(found) if not _TAKEN.search(self.low, slot.start, slot.end)]
        self.low = mask(self.low, [(slot.start, slot.end, MARKS[slot.kind], FILL) for slot in taken])
        self.slots += taken

    def reclaim(self, wider: Iterable[Slot]) -> None:
        """Take slots, in order and apart from one another, in the place of those that they cover."""
        wide = list(wider)
        covered = {place for slot in wide for place in range(slot.start, slot.end)}
        self.slots = [*(slot for slot in self.slots if slot.start not in covered), *wide]
        self.low = mask(self.low, [(slot.start, slot.end, MARKS[slot.kind], FILL) for slot in wide])

    def open_text(self) -> str:
        """The text as it was written, with a line's end in the place of all that was found."""
        return mask(self.text, [(slot.start, slot.end, "\n", "\n") for slot in sorted(self.slots, key=_start)])

    def mark_numbers(self, numbers: Iterable[Number]) -> None:
        ordered = sorted(numbers, key=lambda number: number.start)
        self.numbers = {number.start: number for number in ordered}
        self.low = mask(self.low, [(number.start, number.end, NUMBER_MARK, NUMBER_FILL) for number in ordered])


def listed(text: str) -> list[str]:
    """The words of a list that is written as one line of text."""
    return text.split()


def fold(text: str) -> str:
    """Small letters without accents, plain spaces and apostrophes; as long as what it is made of."""
    low = text.lower()
    if len(low) != len(text):  # a few letters have a longer small form
        low = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return low.translate(_FOLD)


def mask(text: str, spans: Iterable[tuple[int, int, str, str]]) -> str:
    """``text`` with each span, in order, put behind its mark and filler."""
    parts: list[str] = []
    at = 0
    for start, end, first, fill in spans:
        parts += (text[at:start], first, fill * (end - start - 1))
        at = end
    return "".join((*parts, text[at:]))


def resolve(found: Iterable[Slot]) -> list[Slot]:
    """Of what overlaps the longest, and of equals the first; in the order of the text."""
    kept: list[Slot] = []
    end = 0
    for slot in sorted(found, key=lambda one: (one.start, -one.end)):
        if slot.start >= end:
            kept.append(slot)
            end = slot.end
        elif slot.end - slot.start > kept[-1].end - kept[-1].start:
            kept[-1] = slot
            end = slot.end
    return kept


def with_role(slot: Slot, role: str) -> Slot:
    return slot if slot.role == role else replace(slot, role=role)


def _start(slot: Slot) -> int:
    return slot.start
