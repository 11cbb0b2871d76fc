"""A request as fast paths see it: its words, its particulars, when it was asked, and the form that it has.

The form is the canonical one with the quality of each particular, `what do <name.pdf> say`: what may lead to another
plan makes another form, and so does a place that is not there. Rules: pure, but for asking ``there``; what is kept has
what was there then. Give the particulars with places as they are to be understood on this machine.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from metnos.fastpath.canonical import canonical
from metnos.fastpath.readings import PLACES, is_over, quality
from metnos.fastpath.slots_records import Kind, Slot

_SELDOM = re.compile(r"(?<=[a-z])\.?-[a-z-]+>")


@dataclass(frozen=True, slots=True)
class Heard:
    """One request; made by `of`."""

    text: str
    slots: tuple[Slot, ...]
    now: datetime
    form: str
    gone: tuple[bool, ...] = ()  # for each particular, whether it is a place that is not there

    @classmethod
    def of(cls, text: str, slots: Sequence[Slot], now: datetime, there: Callable[[str], bool] | None = None) -> "Heard":
        """``there`` says whether a place is on this machine; without it all are taken to be."""
        ordered = sorted(slots, key=lambda slot: slot.start)
        gone = [there is not None and slot.kind in PLACES and not there(str(slot.value)) for slot in ordered]
        return cls._of(text, ordered, now, gone)

    @classmethod
    def _of(cls, text: str, slots: Sequence[Slot], now: datetime, gone: Sequence[bool]) -> "Heard":
        qualities = [quality(slot, now) + ("-gone" if away else "") for slot, away in zip(slots, gone, strict=True)]
        if any(slot.kind is Kind.DATE and said.startswith("now") for slot, said in zip(slots, qualities, strict=True)):
            qualities = ["-over" if is_over(slot, now) else said for slot, said in zip(slots, qualities, strict=True)]
        found = iter(qualities)
        words = canonical(text, slots).split()
        form = " ".join(_qualified(word, next(found, "")) if word[0] == "<" else word for word in words)
        return cls(text, tuple(slots), now, form, tuple(gone))

    def data(self) -> list[dict[str, Any]]:
        """Its particulars as they are kept."""
        return [
            {**asdict(slot), "kind": str(slot.kind), "gone": away}
            for slot, away in zip(self.slots, self.gone, strict=True)
        ]

    @classmethod
    def from_data(cls, text: str, slots: Sequence[Mapping[str, Any]], now: datetime) -> "Heard | None":
        """A request that was kept; nothing if not all of it was."""
        try:
            kept = [_slot(each) for each in slots]
        except (TypeError, KeyError, ValueError):
            return None
        gone = [bool(each.get("gone")) for each in slots]
        whole = all(text[slot.start : slot.end] == slot.text for slot in kept)
        return cls._of(text, kept, now, gone) if whole else None

    def is_circumstance(self, value: str, here: str) -> bool:
        """Whether a value comes from where or when this was asked: no habit, though it may be the same three times."""
        now = self.now
        moment = (f"{now:%Y-%m-%d}", f"{now:%d/%m/%Y}", f"{now:%d.%m.%Y}", f"{now:%H:%M}", f"{now:%B}", f"{now:%A}")
        inside = bool(here) and f"{value.rstrip('/')}/".startswith(f"{here.rstrip('/')}/")
        return inside or any(each.casefold() in value.casefold() for each in moment)

    def says(self, words: str) -> bool:
        """Whether these words stand in the request, spelled so."""
        place = self.text.find(words) if words else -1
        while place >= 0 and not apart(self.text, place, place + len(words)):
            place = self.text.find(words, place + 1)
        return place >= 0


def firm(form: str) -> str:
    """A form without what seldom matters about its particulars."""
    return _SELDOM.sub(">", form)


def apart(text: str, start: int, end: int) -> bool:
    """Whether a place in a text neither begins nor ends inside a word."""
    inside = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
    return not inside and not (end < len(text) and text[end].isalnum() and text[end - 1].isalnum())


def _slot(kept: Mapping[str, Any]) -> Slot:
    own = {name: value for name, value in kept.items() if name != "gone"}
    return Slot(**{**own, "kind": Kind(kept["kind"]), "also": tuple(kept["also"])})


def _qualified(word: str, said: str) -> str:
    return f"{word[:-1]}.{said}>" if said else word
