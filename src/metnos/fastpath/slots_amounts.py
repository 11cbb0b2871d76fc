"""Sizes of files, how many are wanted, and which come first.

Rules: a size is written the way executors read it, `1.5 GB`. In `between 10 and 20 MB` both are sizes. A count is a
number that says how many of an ordered list (`first ten`, `the 5 largest`, `ultimi 3`). A comparison (`più grandi di
10 MB`) is no order.
"""

import re
from collections.abc import Iterator

from metnos.fastpath.slots_records import Kind, Slot
from metnos.fastpath.slots_source import FILL, MARKS, NUMBER_MARK, N, Source

_UNITS = {
    "b": "B", "byte": "B", "bytes": "B", "kb": "KB", "kilobyte": "KB", "kilobytes": "KB", "mb": "MB", "mega": "MB",
    "meg": "MB", "megs": "MB", "megabyte": "MB", "megabytes": "MB", "gb": "GB", "giga": "GB", "gig": "GB", "gigs": "GB",
    "gigabyte": "GB", "gigabytes": "GB", "tb": "TB", "tera": "TB", "terabyte": "TB", "terabytes": "TB", "kib": "KiB",
    "mib": "MiB", "gib": "GiB", "tib": "TiB", "kibibyte": "KiB", "mebibyte": "MiB", "gibibyte": "GiB", "kbyte": "KB",
    "mbyte": "MB", "gbyte": "GB",
}  # fmt: skip
_UNIT = "(?:" + "|".join(sorted(_UNITS, key=len, reverse=True)) + ")"
_SIZE = re.compile(
    rf"(?:(?P<lower>{N}) ?(?:and|to|e|a|-|ed) ?(?:i )?)?(?:(?P<n>{N})(?: di)? ?(?P<u>{_UNIT}|k(?!m)|[mgt](?![a-z]))"
    rf"|\b(?:an?|un) (?P<v>{_UNIT}))\b"
)
_SHORT = frozenset("kmgtb")
_ORDERS = {
    "largest": r"largest|biggest|heaviest|(?:piu|maggiormente) (?:grand|gross|pesant|voluminos|ingombrant)[ieao]",
    "smallest": r"smallest|tiniest|lightest|piu (?:piccol|legger)[ieao]",
    "newest": r"newest|latest|(?:most )?recent|most recently(?: \w+)?|(?:piu )?recent[ei]|piu nuov[ieao]|piu di recente"
    r"|(?:recently|last) (?:changed|modified|added|created|downloaded|edited|updated)"
    r"|(?:modificat|scaricat|cambiat)[ieao] di recente",
    "oldest": r"oldest|least recent(?:ly \w+)?|piu (?:vecch(?:i[ao]?|ie)|antich[ie]|datat[ieao])|meno recent[ei]",
}  # fmt: skip
_COMPARED = (
    rf"(?! (?:di|del|della|dell'|than|a|da|che) ?(?:il |l'|un |una |un')?"
    rf"[{NUMBER_MARK}{MARKS[Kind.SIZE]}{MARKS[Kind.DURATION]}{MARKS[Kind.DATE]}{MARKS[Kind.RANGE]}])(?! than\b)"
)
_NAMED_ORDERS = "|".join(f"(?P<{name}>{words})" for name, words in _ORDERS.items())
_ORDER = re.compile(rf"(?<!\brendi )(?<!\brendil[ei] )\b(?:{_NAMED_ORDERS})\b{_COMPARED}")
_LATEST = re.compile(
    r"\b(?:ultim[oaie]|last) (?=(?:files?|document|foto|appunt|not[aei]|modific|scaric|download|reminder"
    rf"|{MARKS[Kind.FILES]}))"
)
_FIRST = re.compile(rf"\b(?P<word>first|top|prim[ie]|last|latest|final|ultim[ie]|bottom) (?P<n>{N})(?!-)")
_FIRST_WORDS = frozenset({"first", "top", "primi", "prime"})
_MOST = re.compile(
    rf"(?P<n>{N})(?: (?:[a-z]+|[{MARKS[Kind.FILES]}{MARKS[Kind.FOLDER]}]{FILL}*+)){{0,3}}?"
    rf" (?:(?:most|least) [a-z]|(?:piu|meno) (?!di\b|of\b)[a-z]++{_COMPARED}|cheapest|longest|shortest|highest|lowest"
    rf"|best|worst|migliori|peggiori|maggiori|minori|{MARKS[Kind.ORDER]})"
)
_ORDER_FIRST = re.compile(rf"{MARKS[Kind.ORDER]}{FILL}*+ (?P<n>{N})")


def sizes(source: Source) -> Iterator[Slot]:
    """Sizes of files."""
    for match in _SIZE.finditer(source.low):
        if match["v"]:
            start, value, unit = match.start() if not match["lower"] else match.start("v"), 1.0, _UNITS[match["v"]]
            yield source.slot(Kind.SIZE, start, match.end(), f"1 {unit}")
            continue
        unit_text = match["u"]
        if unit_text in _SHORT and not _attached(source, match):
            continue
        unit = _UNITS.get(unit_text) or unit_text.upper() + "B"
        for part in ("lower", "n"):
            if not match[part]:
                continue
            number = source.number(match.start(part))
            value = number.value
            if part == "lower" and (number.weak or value > source.number(match.start("n")).value):
                continue
            if value >= 0 and not number.percent and (written := _written(value)):
                end = match.end() if part == "n" else number.end
                yield source.slot(Kind.SIZE, match.start(part), end, f"{written} {unit}")


def orders(source: Source) -> Iterator[Slot]:
    """Which come first."""
    for match in _ORDER.finditer(source.low):
        yield source.slot(Kind.ORDER, match.start(), match.end(), match.lastgroup)
    for match in _LATEST.finditer(source.low):
        yield source.slot(Kind.ORDER, match.start(), match.end() - 1, "newest")


def counts(source: Source) -> Iterator[Slot]:
    """How many are wanted; to be looked for after orders."""
    for match in _FIRST.finditer(source.low):
        if (count := source.number(match.start("n")).whole(1, 10**9)) is not None:
            role = "first" if match["word"] in _FIRST_WORDS else "last"
            yield source.slot(Kind.COUNT, match.start(), match.end(), count, role)
    for pattern in (_MOST, _ORDER_FIRST):
        for match in pattern.finditer(source.low):
            number = source.number(match.start("n"))
            if (count := number.whole(1, 10**9)) is not None and not number.ordinal:
                yield source.slot(Kind.COUNT, match.start("n"), match.end("n"), count, "first")


def _attached(source: Source, match: re.Match[str]) -> bool:
    """A unit of one letter counts only right behind its figures, but for bytes; a small m, g or t is none."""
    place = match.start("u")
    return source.text[place] == "B" or (place == match.end("n") and source.text[place] in "kKMGT")


def _written(value: float) -> str:
    """A number with at most 15 figures before the point and 6 behind it, or nothing."""
    if value >= 10**15:
        return ""
    return str(int(value)) if float(value).is_integer() else f"{value:.6f}".rstrip("0")
