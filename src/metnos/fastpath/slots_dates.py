"""Days and stretches of days: `1 March 2026`, `venerdì scorso`, `last week`, `nel 2025`, `dal 3 al 7 maggio`.

Rules: a date is an ISO date, a range two of them, both included. 03/04/2026 has the day first, except in an English
request. A day without a year is this year's; the next one if the request looks ahead, the last one if it looks back
(`since`, `dal`). Where two dates stand between `from` and `to`, they are one range, and a year after the second is the
year of both. What is no day of the calendar is nothing.
"""

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from itertools import pairwise

from metnos.fastpath import slots_calendar as calendar
from metnos.fastpath.slots_records import Kind, Slot
from metnos.fastpath.slots_source import NUMBER_MARK, N, Source, listed
from metnos.fastpath.slots_words import words_before


def _any(words: Iterable[str]) -> str:
    return "(?:" + "|".join(map(re.escape, sorted(words, key=len, reverse=True))) + ")"


_MONTH = _any(calendar.MONTHS)
_WEEKDAY = _any(calendar.WEEKDAYS)
_UNITS = {
    "week": "week", "settimana": "week", "month": "month", "mese": "month", "year": "year", "anno": "year",
    "weekend": "weekend", "week-end": "weekend", "fine settimana": "weekend",
}  # fmt: skip
_UNIT = _any(_UNITS)
_YEAR_TAIL = rf"(?:,? (?:of |del |dell'anno )?(?P<y>{N}))?"
_ISO = re.compile(r"(?<![\w.-])(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d|[-/.]\d)")
_FIGURES = re.compile(r"(?<![\w./-])(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?![\w]|[-/.]\d)")
_DAY_MONTH = re.compile(
    rf"(?:\b{_WEEKDAY},? )?(?:\b(?P<first>primo|first)|(?P<d>{N}))(?: of| di)? (?P<m>{_MONTH})\b{_YEAR_TAIL}"
)
_MONTH_DAY = re.compile(
    rf"(?:\b{_WEEKDAY},? )?\b(?P<m>{_any(calendar.ENGLISH_MONTHS)})\b\.? (?:the )?(?P<d>{N})"
    rf"(?: ?(?:-|to) ?(?P<e>{N}))?(?:,? (?P<y>{N}))?"
)
_DAYS_MONTH = re.compile(
    rf"(?P<open>\b(?:between|from|tra|fra|dal|dall'|da|dai) ?(?:the |il |l')?)?(?P<a>{N}) ?"
    r"(?P<join>and|to|-|al|all'|e|through|till|until) ?(?:the |il |l')?"
    rf"(?P<b>{N})(?: of| di)? (?P<m>{_MONTH})\b{_YEAR_TAIL}"
)
_MONTH_ALONE = re.compile(
    r"(?:\b(?P<before>in|of|since|during|last|this|next|until|till|before|after|from|(?:lo )?scorso|prossimo|questo) )?"
    rf"\b(?P<m>{_any(calendar.FULL_MONTHS)})\b(?: (?P<after>scorso|prossimo|passato|last|next))?{_YEAR_TAIL}"
)
_WORDS = re.compile(rf"\b{_any(calendar.DAY_WORDS)}\b")
_FEAST = re.compile(rf"\b(?P<f>{_any([*calendar.FEASTS, *calendar.EASTER])})(?: (?P<y>{N}))?(?![a-z])")
_ON_WEEKDAY = re.compile(
    r"(?:\b(?P<before>last|next|this|every|each|ogni|scors[oa]|prossim[oa]|quest[oa]|past|coming) )?"
    rf"\b(?P<w>{_WEEKDAY})\b(?: (?P<after>scors[oa]|prossim[oa]|passat[oa]))?(?: {_any(calendar.PARTS)}\b)?"
)
_PERIOD = re.compile(
    r"\b(?P<a>(?:(?P<rolling>the )?last|previous|this|current|next|coming|scors[oa]|quest[oa]|quest'|prossim[oa])) ?"
    rf"\b(?P<u>{_UNIT})\b(?! (?:scors|passat))"
    rf"|\b(?P<v>{_UNIT}) (?P<b>scors[oa]|passat[oa]|prossim[oa]|corrente|in corso|ventur[oa])\b"
)
_STEPS = {
    **dict.fromkeys(listed("last previous past scorsa scorso passata passato"), -1),
    **dict.fromkeys(["this", "current", "questa", "questo", "quest'", "corrente", "in corso"], 0),
    **dict.fromkeys(listed("next coming prossima prossimo ventura venturo"), 1),
}
_AGO = re.compile(
    rf"(?:(?P<n>{N})[ -]?|\b(?:an?|una?) |\bun')"
    r"\b(?P<u>days?|weeks?|months?|years?|giorn[oi]|settiman[ae]|mes[ei]|ann[oi]) (?:ago|fa)\b"
)
_YEAR = re.compile(
    r"(?:\b(?P<before>in|of|from|since|during|before|after|until|till|for|year|nel|del|dal|al|il|anno)|\bl'anno) "
    rf"(?P<y>{N})(?: (?P<next>[a-z]+))?"
)
_YEARS = re.compile(
    rf"\b(?:between|from|tra il|fra il|dal|tra|fra) (?P<a>{N}) ?(?:and|to|e il|al|e|until|-) ?"
    rf"(?P<b>{N})(?: (?P<next>[a-z]+))?"
)
_END_OF = re.compile(r"\b(?:(?:the )?end of (?:the |this )?(?P<e>month|year|week)|fine (?P<i>mese|anno))\b")
_QUARTER = re.compile(
    r"\b(?:q(?P<q>[1-4])|(?P<o>primo|secondo|terzo|quarto) trimestre(?: del)?"
    rf"|(?P<p>first|second|third|fourth) quarter(?: of)?) (?P<y>{N})"
)
_ORDINALS = {"primo": 1, "secondo": 2, "terzo": 3, "quarto": 4, "first": 1, "second": 2, "third": 3, "fourth": 4}
_JOIN = re.compile(
    r",? ?(?:and|to|until|till|through|up to|-|e|ed|al|alla|all'|a|fino al|fino a)(?: (?:the|il|la|l'))? ?"
)
_OPEN = frozenset({"between", "from", "tra", "fra", "dal", "dalla", "da", "dall'"})
_ARTICLES = frozenset({"the", "il", "la", "l'", "lo"})
_LOOKING_BACK = frozenset({"since", "after", "dal", "dalla", "dopo"})
_COUNTED = frozenset({"files", "file", "rows", "righe", "euro", "euros", "pixel", "pixels", "words", "parole"})
_COMPARED = ("more than", "less than", "piu di", "meno di", "over", "oltre", "under", "at least", "almeno")
_AFTER_A_YEAR = frozenset(
    listed("and or to in on at with that which than e o con che al il la i le nel nella di da per then please by from")
)


def written(source: Source) -> Iterator[Slot]:
    """Dates in figures only; to be looked for before numbers are."""
    for match in _ISO.finditer(source.low):
        yield from _checked(source, match, int(match[1]), int(match[3]), int(match[4]))
    for match in _FIGURES.finditer(source.low):
        if len(match[4]) == 2 and match[2] != "/":
            continue
        one, two = int(match[1]), int(match[3])
        month_first = source.language == "en" and match[2] == "/" and len(match[4]) == 4
        day, month = (two, one) if (month_first and one <= 12) or two > 12 else (one, two)
        yield from _checked(source, match, int(match[4]) + (2000 if len(match[4]) == 2 else 0), month, day)


def slots(source: Source) -> Iterator[Slot]:
    """Dates and ranges that words tell."""
    for pattern, rule in _RULES:
        for match in pattern.finditer(source.low):
            try:
                slot = rule(source, match)
            except (ValueError, OverflowError):  # the thirtieth of February, or a year that no calendar has
                continue
            if slot is not None:
                yield slot


def join(source: Source) -> None:
    """Make one range of two dates that stand between words such as `from` and `to`."""
    days = [slot for slot in sorted(source.slots, key=lambda one: one.start) if slot.kind in {Kind.DATE, Kind.RANGE}]
    joined: list[Slot] = []
    for one, two in pairwise(days):
        if joined and joined[-1].end > one.start:
            continue
        if two.start - one.end > 12 or not _JOIN.fullmatch(source.low[one.end : two.start].strip()):
            continue
        words = [word for word in words_before(source.low, one.start) if word not in _ARTICLES]
        if words and words[-1] in _OPEN:
            with contextlib.suppress(ValueError, OverflowError):  # a year that no calendar has
                joined.append(_joined(source, one, two))
    if joined:
        source.reclaim(joined)


def _joined(source: Source, one: Slot, two: Slot) -> Slot:
    first = date.fromisoformat(one.value["from"] if one.kind is Kind.RANGE else one.value)
    last = date.fromisoformat(two.value["to"] if two.kind is Kind.RANGE else two.value)
    if one.start in source.yearless and first.year != last.year:
        first = _in_year(first, last.year)
    if first > last and one.start in source.yearless:
        first = _in_year(first, last.year - 1)
    first, last = min(first, last), max(first, last)
    return _range(source, one.start, two.end, (first, last), "in")


def _in_year(day: date, year: int) -> date:
    return calendar.months_away(day, 12 * (year - day.year))


def _checked(source: Source, match: re.Match[str], year: int, month: int, day: int) -> Iterator[Slot]:
    try:
        yield _day(source, match.start(), match.end(), date(year, month, day))
    except ValueError:
        return


def _day(source: Source, start: int, end: int, day: date) -> Slot:
    return source.slot(Kind.DATE, start, end, day.isoformat())


def _range(source: Source, start: int, end: int, days: tuple[date, date], role: str = "") -> Slot:
    return source.slot(Kind.RANGE, start, end, {"from": days[0].isoformat(), "to": days[1].isoformat()}, role)


def _year(source: Source, match: re.Match[str]) -> int | None:
    """The year behind a date, if a number there is one."""
    return source.number(match.start("y")).whole(1000, 2199) if match["y"] else None


def _end(match: re.Match[str], year: int | None, last: str) -> int:
    return match.end("y") if year else match.end(last)


def _meant(source: Source, start: int, month: int, day: int) -> date:
    """The day of a year that nobody named."""
    source.yearless.add(start)
    here = date(source.today.year, month, day)
    if source.coming:
        return here if here >= source.today else date(here.year + 1, month, day)
    words = words_before(source.low, start)
    return _in_year(here, here.year - 1) if here > source.today and _LOOKING_BACK & set(words[-2:]) else here


def _day_month(source: Source, match: re.Match[str]) -> Slot | None:
    day = 1 if match["first"] else source.number(match.start("d")).whole(1, 31)
    if day is None:
        return None
    month, year = calendar.MONTHS[match["m"]], _year(source, match)
    meant = date(year, month, day) if year else _meant(source, match.start(), month, day)
    return _day(source, match.start(), _end(match, year, "m"), meant)


def _month_day(source: Source, match: re.Match[str]) -> Slot | None:
    day = source.number(match.start("d")).whole(1, 31)
    if day is None:
        return None
    month, year = calendar.MONTHS[match["m"]], _year(source, match)
    last = source.number(match.start("e")).whole(day, 31) if match["e"] else None
    meant = date(year, month, day) if year else _meant(source, match.start(), month, day)
    end = _end(match, year, "e" if last else "d")
    return (
        _range(source, match.start(), end, (meant, meant.replace(day=last)))
        if last
        else _day(source, match.start(), end, meant)
    )


def _days_month(source: Source, match: re.Match[str]) -> Slot | None:
    first, last = (source.number(match.start(part)).whole(1, 31) for part in "ab")
    if first is None or last is None or first > last or not (match["open"] or match["join"] == "-"):
        return None
    month, year = calendar.MONTHS[match["m"]], _year(source, match)
    start = match.start("a")
    meant = date(year, month, first) if year else _meant(source, start, month, first)
    return _range(source, start, _end(match, year, "m"), (meant, meant.replace(day=last)), "in")


def _month_alone(source: Source, match: re.Match[str]) -> Slot | None:
    month, year, today = calendar.MONTHS[match["m"]], _year(source, match), source.today
    word = (match["before"] or match["after"] or "").removeprefix("lo ")
    if match["m"] in calendar.SOMETIMES and not (match["before"] or year):
        return None
    start = match.start("m")
    if match["before"] and word in _STEPS:
        start = match.start("before")
    if year is None:
        source.yearless.add(start)
        step = _STEPS.get(word)
        ahead = source.coming if step is None else step > 0
        year = today.year
        if ahead and month < today.month:
            year += 1
        elif not ahead and (month > today.month or (step == -1 and month == today.month)):
            year -= 1
        end = match.end("after") if match["after"] else match.end("m")
    else:
        end = match.end("y")
    return _range(source, start, end, calendar.month_of(year, month))


def _word(source: Source, match: re.Match[str]) -> Slot:
    return _day(source, match.start(), match.end(), source.today + timedelta(days=calendar.DAY_WORDS[match[0]]))


def _feast(source: Source, match: re.Match[str]) -> Slot:
    year = _year(source, match)

    def in_year(which: int) -> date:
        if match["f"] in calendar.EASTER:
            return calendar.easter(which)
        return date(which, *calendar.FEASTS[match["f"]])

    meant = in_year(year or source.today.year)
    if year is None and meant < source.today and source.coming:
        meant = in_year(source.today.year + 1)
    return _day(source, match.start(), _end(match, year, "f"), meant)


def _on_weekday(source: Source, match: re.Match[str]) -> Slot | None:
    word = match["before"] or match["after"] or ""
    if word in {"every", "each", "ogni"}:
        return None
    step = _STEPS.get(word, 1 if source.coming else 0)
    back = (source.today.weekday() - calendar.WEEKDAYS[match["w"]]) % 7
    if step > 0 or (word and step == 0):
        days = 7 - back if back or step > 0 else 0
    else:
        days = -(back or (7 if step < 0 else 0))
    return _day(source, match.start(), match.end(), source.today + timedelta(days=days))


def _period(source: Source, match: re.Match[str]) -> Slot | None:
    unit = _UNITS[match["u"] or match["v"]]
    if match["rolling"] and unit != "weekend":  # `the last week` is a length of time, `last week` is not
        return None
    step = _STEPS[(match["a"] or match["b"]).removeprefix("the ")]
    return _range(source, match.start(), match.end(), calendar.period(unit, step, source.today))


def rolling(source: Source, start: int, end: int, days: float) -> Slot:
    """The last so many days, today included."""
    whole = max(1, round(days))
    first = date.fromordinal(max(1, source.today.toordinal() - whole))
    value = {"from": first.isoformat(), "to": source.today.isoformat(), "days": whole}
    return source.slot(Kind.RANGE, start, end, value)


def _ago(source: Source, match: re.Match[str]) -> Slot | None:
    if " ".join(words_before(source.low, match.start())[-2:]).endswith(_COMPARED):
        return None  # `more than 3 days ago` is an age
    amount = source.number(match.start("n")).value if match["n"] else 1
    day = calendar.away(source.today, calendar.UNITS[match["u"]], -amount)
    return _day(source, match.start(), match.end(), day)


def _one_year(source: Source, match: re.Match[str]) -> Slot | None:
    year = _year(source, match)
    if year is None or (year < 1800 and match["before"] not in {"year", "anno", None}):
        return None
    if match["next"] and match["next"] not in _AFTER_A_YEAR and match["before"] in {"of", "for", "from"}:
        return None
    changed = match["before"] == "in" and words_before(source.low, match.start())[-1:] == [NUMBER_MARK]
    if match["next"] in _COUNTED or changed:  # `change 2025 in 2026` means the figures
        return None
    return _range(source, match.start("y"), match.end("y"), calendar.year_of(year))


def _years(source: Source, match: re.Match[str]) -> Slot | None:
    first, last = (source.number(match.start(part)).whole(1800, 2199) for part in "ab")
    if first is None or last is None or first > last or (match["next"] and match["next"] not in _AFTER_A_YEAR):
        return None
    days = (calendar.year_of(first)[0], calendar.year_of(last)[1])
    return _range(source, match.start("a"), match.end("b"), days, "in")


def _end_of(source: Source, match: re.Match[str]) -> Slot:
    unit = _UNITS[match["e"] or match["i"]]
    return _day(source, match.start(), match.end(), calendar.period(unit, 0, source.today)[1])


def _quarter(source: Source, match: re.Match[str]) -> Slot | None:
    year = _year(source, match)
    quarter = int(match["q"]) if match["q"] else _ORDINALS[match["o"] or match["p"]]
    if year is None:
        return None
    days = (calendar.month_of(year, 3 * quarter - 2)[0], calendar.month_of(year, 3 * quarter)[1])
    return _range(source, match.start(), match.end("y"), days)


_RULES: tuple[tuple[re.Pattern[str], Callable[[Source, re.Match[str]], Slot | None]], ...] = (
    (_DAYS_MONTH, _days_month),
    (_DAY_MONTH, _day_month),
    (_MONTH_DAY, _month_day),
    (_MONTH_ALONE, _month_alone),
    (_WORDS, _word),
    (_FEAST, _feast),
    (_ON_WEEKDAY, _on_weekday),
    (_PERIOD, _period),
    (_AGO, _ago),
    (_YEARS, _years),
    (_YEAR, _one_year),
    (_END_OF, _end_of),
    (_QUARTER, _quarter),
)
