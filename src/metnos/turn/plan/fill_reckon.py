"""What a request wants to have reckoned: an expression, a change of units, a way between days, a time somewhere.

Rules: each reads the whole clause and answers only if all of it is explained; half an expression is none. Words
become signs (*diviso* is ``/``), a decimal comma becomes a point. Nothing is worked out here.
"""

import re
from datetime import datetime
from typing import Any

from metnos.turn.plan.clauses import Clause
from metnos.turn.plan.fill_values import COUNTING
from metnos.turn.plan.lexicon import fold
from metnos.turn.plan.patterns import feasts, pattern, signs
from metnos.turn.plan.patterns import units as known_units

_SPANS = {"d": "days", "w": "weeks", "m": "months", "y": "years", "g": "days", "s": "weeks", "a": "years"}
_KEPT = ("kb", "mb", "gb", "tb", "kib", "mib", "gib", "tib")  # of these the case of letters says something
_LONGEST = 300  # characters of an expression


def expression(text: str) -> str | None:
    """The arithmetic of a request, if it is nothing but that."""
    if len(text) > _LONGEST:
        return None
    said = pattern("reckon.asked").sub("", text.strip().rstrip("?=.! "), count=1).strip()
    for words, sign in signs():
        said = words.sub(sign, said)
    said = " ".join(said.split())
    works = re.search(r"[-+*/^%]|sqrt|log|sin|cos|tan|factorial", said[1:]) or pattern(
        "reckon.starts_with_function"
    ).match(said)
    return (
        said
        if pattern("reckon.expression").fullmatch(said) and re.search(r"\d", said) and works and not _is_date(said)
        else None
    )


def arithmetic(clause: Clause, _: datetime) -> dict[str, Any]:
    found = expression(clause.text)
    return {"expressions": [found]} if found else {}


def conversion(text: str) -> dict[str, Any] | None:
    """What to convert from which unit into which, if the request says so."""
    said = text.strip().rstrip("?.! ")[:_LONGEST]
    for name in ("convert", "how_many", "bare"):
        found = pattern(f"reckon.{name}").search(said)
        if found is None:
            continue
        return {"values": [_number(found["value"])], "from": _unit(found["from"]), "to": _unit(found["to"])}
    return None


def half(text: str) -> dict[str, Any] | None:
    """A change of units that does not say into which."""
    found = pattern("reckon.into_what").search(text.strip().rstrip("?.! ")[:_LONGEST])
    return {"values": [_number(found["value"])], "from": _unit(found["from"])} if found else None


def units(clause: Clause, _: datetime) -> dict[str, Any]:
    return conversion(clause.text) or half(clause.text) or {}


def dates(clause: Clause, now: datetime) -> dict[str, Any]:
    """Days to begin with, a day to measure to, and what to add."""
    named = [str(slot.value)[:10] for slot in clause.slots if slot.kind == "date"]
    for slot in clause.slots:
        if slot.kind == "range" and clause.said("between"):
            named += [str(slot.value["from"])[:10], str(slot.value["to"])[:10]]
    named += [day for day in (holiday(clause.text, now),) if day and not named]
    found: dict[str, Any] = {}
    for span in pattern("reckon.span").finditer(clause.text):
        unit = _SPANS[fold(span["unit"])[0]]
        unit = "working_days" if span["working"] or span["lavorativi"] else unit
        count = int(span["count"]) if span["count"].isdigit() else COUNTING.get(span["count"].casefold(), 1)
        found[unit] = -count if pattern("reckon.backward").search(clause.text) else count
    if found:
        return found | ({"dates": named[:1]} if named else {})
    if len(named) > 1:
        return {"dates": named[:1], "to": named[1]}
    if named and clause.said("until", "count"):
        return {"to": named[0]}
    return {"dates": named} if named else {}


def clock(clause: Clause, now: datetime) -> dict[str, Any]:
    """Where it is what time, and until when."""
    found: dict[str, Any] = {}
    zones = pattern("reckon.zones").search(clause.text)
    if zones is not None:
        found["zones"] = [
            re.sub(r"^(?:a|in)\s+", "", each).strip() for each in pattern("small.split").split(zones["zones"])
        ]
    if clause.said("until"):
        day = next((str(slot.value)[:10] for slot in clause.slots if slot.kind == "date"), None) or holiday(
            clause.text, now
        )
        hour = next((str(slot.value)[:5] for slot in clause.slots if slot.kind == "time"), None)
        day = day or (f"{now:%Y-%m-%d}" if hour else None)
        if day is not None:
            return {"until": f"{day}T{hour}" if hour else day}
    return found


def holiday(text: str, now: datetime) -> str | None:
    """The next day of a feast with a fixed date."""
    said = fold(text)
    for name, (month, day) in feasts().items():
        if re.search(rf"\b{re.escape(name)}", said):
            year = now.year + ((month, day) < (now.month, now.day))
            return f"{year:04}-{month:02}-{day:02}"
    return None


def _number(said: str) -> float | int:
    value = float(said.replace(",", "."))
    return int(value) if value.is_integer() else value


def _unit(said: str) -> str:
    plain = "_".join(said.casefold().split())
    return said if plain in _KEPT else known_units()[plain]


def _is_date(said: str) -> bool:
    return re.fullmatch(r"\d{4}-\d\d?-\d\d?|\d\d?/\d\d?/\d{2,4}", said) is not None
