"""What a request wants to have reckoned: an expression, a change of units, a way between days, a time somewhere.

Rules: each reads the whole clause and answers only if all of it is explained; half an expression is none. Words become
signs (*diviso* is ``/``), a decimal comma becomes a point. Nothing is worked out here.
"""

import re
from datetime import datetime
from typing import Any

from metnos.turn.plan.clauses import Clause
from metnos.turn.plan.fill_values import COUNTING
from metnos.turn.plan.lexicon import fold

_ASKED = re.compile(
    r"^\s*(?:(?:please|can you|could you|puoi|per favore|dimmi|tell me|give me|mi dici)[ ,]+)*(?:what(?:['’]s| is| are)|how much (?:is|are)|calculate|"
    r"compute|work out|evaluate|solve|quanto (?:fa|fanno|è|e|viene)|quant['’]è|calcola(?:mi|re)?|qual è|quale è|il risultato di|the result of)?\s*:?\s*",
    re.IGNORECASE,
)
_SAID = (
    (r"(\d),(\d{3})(?=\D|$)(?!\d)", r"\1\2"), (r"(?<=\d),(?=\d)", "."),
    (r"\b(?:the )?square root of\s+(\d[\d.]*)", r"sqrt(\1)"), (r"\b(?:la )?radice(?: quadrata)? di\s+(\d[\d.]*)", r"sqrt(\1)"),
    (r"\b(?:times|multiplied by|moltiplicato(?: per)?|per)\b", "*"), (r"(?<=[\d)])\s*[x×]\s*(?=[\d(])", " * "),
    (r"\b(?:plus|più|piu|sommato a)\b", "+"), (r"\b(?:minus|meno)\b", "-"),
    (r"\b(?:divided by|over|diviso(?: per)?|fratto)\b", "/"), (r"÷|:(?=\s*\d)", "/"),
    (r"\b(?:to the power of|raised to|elevato (?:a|alla))\b", "^"), (r"\b(?:squared|al quadrato)\b", "^2"),
    (r"\b(?:cubed|al cubo)\b", "^3"), (r"\s*\b(?:percent|per cento)\b", "%"), (r"%\s*(?:di|del|dell['’])\s*", "% of "),
    (r"\b(?:il|lo|la|the|un|una|of the)\s+(?=\d)", ""),
)  # fmt: skip
_FUNCTION = r"(?:sqrt|sin|cos|tan|log2|log|ln|exp|abs|round|min|max|floor|ceil|factorial|pi|tau)"
_EXPRESSION = re.compile(rf"(?:\d[\d.]*|[-+*/^%(),\s]|{_FUNCTION}|of\b)+", re.IGNORECASE)
_UNITS = (
    "m metre metres meter meters metro metri km kilometre kilometres kilometer kilometers chilometro chilometri cm centimetre "
    "centimetres centimeter centimeters centimetro centimetri mm millimetre millimetres millimeters millimetri in inch inches "
    "pollice pollici ft foot feet piede piedi yd yard yards iarde mi mile miles miglio miglia kg kilogram kilograms kilo kilos "
    "chilo chili chilogrammo chilogrammi g gram grams grammo grammi mg milligrams milligrammi etti t tonne tonnes tonnellate "
    "tonnellata lb lbs pound pounds libbra libbre oz ounce ounces oncia once stone k kelvin c f celsius fahrenheit centigradi "
    "°c °f byte bytes bit bits kb kilobyte kilobytes mb megabyte megabytes gb gigabyte gigabytes giga tb terabyte terabytes "
    "kib mib gib tib m/s km/h kmh kph mph knots nodi s sec second seconds secondi secondo min minute minutes minuti minuto h "
    "hour hours ora ore day days giorno giorni week weeks settimana settimane month months mese mesi year years anno anni m2 "
    "mq sqm km2 ha hectare hectares ettaro ettari acre acres acri sqft l litre litres liter liters litro litri ml millilitri "
    "millilitres cl dl hl m3 gallon gallons gallone galloni quart quarts pint pints pinte cup cups tazza tazze tbsp tsp "
    "tablespoons teaspoons barrel barrels barili joule joules kj kcal calorie calories calorie kwh wh btu pa hpa kpa bar atm psi "
    "mmhg degrees degree gradi radians radianti nmi "
    "degrees_celsius degrees_fahrenheit gradi_celsius gradi_fahrenheit gradi_centigradi square_metres square_meters "
    "metri_quadrati square_feet piedi_quadrati cubic_metres cubic_meters metri_cubi nautical_miles miglia_nautiche fluid_ounces "
    "light_years anni_luce chilometri_orari miles_per_hour"
).split()
_TEMPERATURES = {"gradi_celsius": "celsius", "gradi_centigradi": "celsius", "degrees_celsius": "celsius", "centigradi": "celsius",
                 "gradi_fahrenheit": "fahrenheit", "degrees_fahrenheit": "fahrenheit", "°c": "celsius", "°f": "fahrenheit",
                 "c": "celsius", "f": "fahrenheit"}  # fmt: skip
_UNIT = "|".join(sorted((re.escape(each).replace("_", r"\s+") for each in _UNITS), key=len, reverse=True))
_AMOUNT = r"(?P<value>-?\d+(?:[.,]\d+)?)"
_CONVERSIONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"^.*?\b(?:convert\w*|turn|express|trasform\w+|change)\b[^\d-]*{_AMOUNT}\s*(?P<from>{_UNIT})\s+(?:to|in|into|as|a|verso)\s+(?P<to>{_UNIT})\b",
        rf"^.*?(?:how many|how much|quant[ie]|what is|a quant[ie])\s+(?P<to>{_UNIT})\s+(?:are there in|are in|is|are|in|make|sono|ci sono in|fanno|corrispondono a|equivalgono a|corrispondono)\s*(?:in\s+)?{_AMOUNT}\s*(?P<from>{_UNIT})\b",
        rf"^(?:what(?:['’]s| is| are)|how much (?:is|are)|quanto (?:fanno|fa|sono)|quanti sono|quant['’]è)?\s*{_AMOUNT}\s*(?P<from>{_UNIT})\s+(?:to|in|into|as|quant[ie]\s+(?P<to2>{_UNIT})\s+sono)(?:\s+(?P<to>{_UNIT}))?\s*\??$",
    )
)
_SPAN = re.compile(
    rf"(?P<count>\d+|{'|'.join(COUNTING)}|an?|un[oa']?)\s+(?P<working>working\s+|business\s+)?(?P<unit>days?|weeks?|months?|years?|giorni?o?|settiman[ae]|mes[ei]|ann[oi])(?P<lavorativi>\s+lavorativi)?\b",
    re.IGNORECASE,
)
_SPANS = {"d": "days", "w": "weeks", "m": "months", "y": "years", "g": "days", "s": "weeks", "a": "years"}
_BACKWARD = re.compile(r"\b(?:ago|before|earlier|fa|prima|minus|meno)\b", re.IGNORECASE)
_ZONES = re.compile(r"\b(?:in|at|a|ad|di)\s+(?P<zones>[A-Z][\w'/-]*(?:\s+[A-Z][\w']*)*(?:\s*(?:,|and|e|ed)\s+(?:a\s+|in\s+)?[A-Z][\w'/-]*(?:\s+[A-Z][\w']*)*)*)")
_HOLIDAYS = {
    "christmas": (12, 25), "natale": (12, 25), "christmas eve": (12, 24), "vigilia": (12, 24), "new year": (1, 1),
    "capodanno": (1, 1), "new year's eve": (12, 31), "san silvestro": (12, 31), "halloween": (10, 31), "ferragosto": (8, 15),
    "epiphany": (1, 6), "epifania": (1, 6), "befana": (1, 6), "valentine": (2, 14), "san valentino": (2, 14),
}  # fmt: skip


def expression(text: str) -> str | None:
    """The arithmetic of a request, if it is nothing but that."""
    said = _ASKED.sub("", text.strip().rstrip("?=.! "), count=1).strip()
    for pattern, sign in _SAID:
        said = re.sub(pattern, sign, said, flags=re.IGNORECASE)
    said = " ".join(said.split())
    works = re.search(r"[-+*/^%]|sqrt|log|sin|cos|tan|factorial", said[1:]) or re.match(_FUNCTION, said)
    return said if _EXPRESSION.fullmatch(said) and re.search(r"\d", said) and works and not _is_date(said) else None


def arithmetic(clause: Clause, now: datetime) -> dict[str, Any]:
    found = expression(clause.text)
    return {"expressions": [found]} if found else {}


def conversion(text: str) -> dict[str, Any] | None:
    """What to convert from which unit into which, if the request says so."""
    said = text.strip().rstrip("?.! ")
    for pattern in _CONVERSIONS:
        found = pattern.search(said)
        if found is None:
            continue
        parts = found.groupdict()
        to = parts["to"] or parts.get("to2")
        if to is None:
            continue
        value = float(parts["value"].replace(",", "."))
        return {"values": [int(value) if value.is_integer() else value], "from": _unit(parts["from"]), "to": _unit(to)}
    return None


def units(clause: Clause, now: datetime) -> dict[str, Any]:
    return conversion(clause.text) or {}


def dates(clause: Clause, now: datetime) -> dict[str, Any]:
    """Days to begin with, a day to measure to, and what to add."""
    named = [str(slot.value)[:10] for slot in clause.slots if slot.kind == "date"]
    for slot in clause.slots:
        if slot.kind == "range" and clause.said("between"):
            named += [str(slot.value["from"])[:10], str(slot.value["to"])[:10]]
    named += [day for day in (holiday(clause.text, now),) if day and not named]
    found: dict[str, Any] = {}
    for span in _SPAN.finditer(clause.text):
        unit = _SPANS[fold(span["unit"])[0]]
        unit = "working_days" if span["working"] or span["lavorativi"] else unit
        count = int(span["count"]) if span["count"].isdigit() else COUNTING.get(span["count"].casefold(), 1)
        found[unit] = -count if _BACKWARD.search(clause.text) else count
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
    zones = _ZONES.search(clause.text)
    if zones is not None:
        found["zones"] = [re.sub(r"^(?:a|in)\s+", "", each).strip() for each in re.split(r"\s*(?:,|\band\b|\be\b|\bed\b)\s*", zones["zones"])]
    if clause.said("until"):
        day = next((str(slot.value)[:10] for slot in clause.slots if slot.kind == "date"), None) or holiday(clause.text, now)
        hour = next((str(slot.value)[:5] for slot in clause.slots if slot.kind == "time"), None)
        day = day or (f"{now:%Y-%m-%d}" if hour else None)
        if day is not None:
            return {"until": f"{day}T{hour}" if hour else day}
    return found


def holiday(text: str, now: datetime) -> str | None:
    """The next day of a feast with a fixed date."""
    said = fold(text)
    for name in sorted(_HOLIDAYS, key=len, reverse=True):
        if re.search(rf"\b{re.escape(name)}", said):
            month, day = _HOLIDAYS[name]
            year = now.year + ((month, day) < (now.month, now.day))
            return f"{year:04}-{month:02}-{day:02}"
    return None


def _unit(said: str) -> str:
    plain = "_".join(said.casefold().split())
    kept = "_".join(said.split())
    return _TEMPERATURES.get(plain, kept if plain in ("mb", "gb", "kb", "tb", "mib", "gib", "kib", "tib") else plain)


def _is_date(said: str) -> bool:
    return re.fullmatch(r"\d{4}-\d\d?-\d\d?|\d\d?/\d\d?/\d{2,4}|[-+\d\s]+", said) is not None and not re.search(r"\d\s*[+*]|\s-\s|\d-\d+$", said)
