"""Times of day and lengths of time: `at 5pm`, `alle 17`, `older than 30 days`, `tra due ore`, `gli ultimi 3 mesi`.

Rules: a time is `HH:MM`; a length is counted in days, months as 30 and years as 365. Its role is what it is about:
`older`, `newer`, `in` (from now on), `ago`, `every`, `for`. `the last 3 days` is a range that also says its days;
`in the last 3 days` is a length, with the role `newer`. A bare figure is a time only after a word such as `at`.
"""

import re
from collections.abc import Iterator

from metnos.fastpath.slots_calendar import PARTS, UNIT_DAYS, UNITS, WEEKDAYS
from metnos.fastpath.slots_dates import rolling
from metnos.fastpath.slots_records import Kind, Slot
from metnos.fastpath.slots_source import N, Source, listed
from metnos.fastpath.slots_words import words_after, words_before

_CLOCK = re.compile(
    r"(?:(?<![\w:.,-])|(?<=\dt))(\d{1,2}):(\d{2})(?::\d{2})?(?: ?(?P<half>[ap])\.?m\b\.?)?(?!\w|:\d|\.\d)"
)
_DOTTED = re.compile(r"\b(?:alle|dalle|ore|at) (\d{1,2})[.h](\d{2})(?![\w:]|[.,]\d)(?: ?(?P<half>[ap])\.?m\b)?")
_HALF_DAY = re.compile(rf"(?P<n>{N}) ?(?P<half>[ap])(?:m\b|\.m\b\.?)")
_PART = (
    r"(?: (?P<part>di mattina|del mattino|di sera|di notte|del pomeriggio|di pomeriggio|in the morning|in the evening"
    r"|in the afternoon|at night))?"
)
_AT = re.compile(
    rf"(?:\b(?:at|alle(?: ore)?|dalle(?: ore)?|ore|verso le|entro le|by) (?P<n>{N})|\b(?P<one>all'una|dall'una)"
    rf"|(?P<clock>{N})(?= o'clock))"
    rf"(?: (?P<plus>e|meno) (?:(?P<minutes>{N})|(?P<quarter>un quarto)))?(?: (?:o'clock|in punto|sharp))?{_PART}"
)
_LATE = re.compile(
    rf"\b(?:tonight|stasera|(?:this|tomorrow|yesterday|quest[ao]|oggi|domani|dopodomani|ieri|{'|'.join(WEEKDAYS)})"
    r" (?:evening|afternoon|sera|pomeriggio|(?P<night>night|notte)))\b"
)
_PART_ALONE = re.compile(
    r"\b(?:in the (?P<en>morning|afternoon|evening)|at (?P<late>night)"
    r"|(?:di|in|nel|nella|per) (?P<it>mattinata|mattino|mattina|pomeriggio|serata|sera|notte))\b"
)
_PAST = re.compile(rf"(?P<m>{N}|\b(?:a )?quarter) (?P<way>past|to) (?P<n>{N}){_PART}")
_WORDS = {"noon": "12:00", "midday": "12:00", "mezzogiorno": "12:00", "midnight": "00:00", "mezzanotte": "00:00"}
_NAMED = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b")
_GOES_ON = frozenset(
    listed(
        "to on today tomorrow tonight and e di del domani oggi il in a every ogni per che for the next this with"
        " con monday tuesday wednesday thursday friday saturday sunday lunedi martedi mercoledi giovedi venerdi"
        " sabato domenica that please o or stasera ricordami remind fino until alle of da dal prossimo"
    )
)
_UNIT = "(?:" + "|".join(sorted((name for name in UNITS if len(name) > 1), key=len, reverse=True)) + ")"
_LENGTH = re.compile(
    rf"(?:(?P<n>{N})(?: ?- ?| ?)(?P<u>{_UNIT}|h|d)|(?:\b(?P<a>an?|una?|one) |\b(?P<b>un'))(?P<v>{_UNIT})"
    r"|(?P<q>\b(?:un quarto d'ora|a quarter of an hour)))\b"
    rf"(?P<more>,? (?:(?:and|e) )?(?:a )?(?P<o>{N})(?: ?(?P<w>{_UNIT})\b)?)?"
    r"(?P<tail> (?:ago|fa)\b| from (?:now|today)\b| old\b| da (?:oggi|adesso|ora)\b)?"
)
_LAST_UNIT = re.compile(rf"\b(?:past|ultim[oa]|the last) (?P<u>{_UNIT})\b")
_LAST_LENGTH = re.compile(rf"\b(?:last|past|previous|ultim[ie]|scors[ie]|passat[ie]) (?P<n>{N}) (?P<u>{_UNIT})\b")
_NEXT_LENGTH = re.compile(rf"\b(?:next|prossim[ie]|coming) (?P<n>{N}) (?P<u>{_UNIT})\b")
_WITHIN = frozenset(listed("in within during over nelle nei negli nell' nel durante entro nella"))
_ARTICLES = frozenset(listed("the gli i le l' gl'"))
_OLDER = (
    "older than", "more than", "at least", "not changed for", "not changed in", "not used for",
    "not used in", "untouched for", "not touched in", "not touched for", "not opened in", "not opened for",
    "unused for", "before the last", "piu vecchi di", "piu vecchie di", "piu vecchio di", "piu vecchia di",
    "vecchi di", "vecchie di", "vecchio di", "vecchia di", "da piu di", "piu di", "oltre", "da oltre", "da almeno",
    "almeno", "piu antichi di", "non usati da", "non aperti da", "non modificati da", "non toccati da",
    "vecchi almeno", "vecchie almeno", "vecchi piu di", "vecchie piu di", "anteriori a", "precedenti a",
)  # fmt: skip
_NEWER = (
    "newer than", "less than", "under", "within", "younger than", "more recent than", "at most", "no more than",
    "no older than", "not older than", "piu recenti di", "piu nuovi di", "piu recente di", "meno di", "da meno di",
    "entro", "al massimo", "non piu vecchi di", "non piu vecchie di", "non piu di",
)  # fmt: skip
_PHRASES = {
    **dict.fromkeys(_OLDER, "older"),
    **dict.fromkeys(_NEWER, "newer"),
    **dict.fromkeys(["in", "tra", "fra", "after", "dopo"], "in"),
    **dict.fromkeys(["every", "each", "ogni"], "every"),
    **dict.fromkeys(["for", "per"], "for"),
}


def written(source: Source) -> Iterator[Slot]:
    """Times in figures with a colon; to be looked for before numbers are."""
    for match in _CLOCK.finditer(source.low):
        yield from _at(source, match.start(), match.end(), int(match[1]), int(match[2]), match["half"] or "")
    for match in _DOTTED.finditer(source.low):
        yield from _at(source, match.start(1), match.end(), int(match[1]), int(match[2]), match["half"] or "")


def times(source: Source) -> Iterator[Slot]:
    """Times of day in words."""
    low = source.low
    for match in _NAMED.finditer(low):
        yield source.slot(Kind.TIME, match.start(), match.end(), _WORDS[match[0]])
    for match in _PART_ALONE.finditer(low) if source.coming else ():
        part = match[match.lastgroup or 0]
        yield source.slot(Kind.TIME, match.start(), match.end(), PARTS[part])
    for match in _HALF_DAY.finditer(low):
        hour = source.number(match.start("n")).whole(1, 12)
        if hour is not None:
            yield from _at(source, match.start(), match.end(), hour, 0, match["half"])
    for match in _PAST.finditer(low):
        yield from _past(source, match)
    for match in _AT.finditer(low):
        yield from _after_a_word(source, match)


def lengths(source: Source) -> Iterator[Slot]:
    """Lengths of time, and the last so many days."""
    for match in _LAST_LENGTH.finditer(source.low):
        days = source.number(match.start("n")).value * UNIT_DAYS[UNITS[match["u"]]]
        yield from _last(source, match.start(), match.end(), days)
    for match in _LAST_UNIT.finditer(source.low):
        start = match.start() + (4 if match[0].startswith("the ") else 0)
        yield from _last(source, start, match.end(), UNIT_DAYS[UNITS[match["u"]]])
    for match in _NEXT_LENGTH.finditer(source.low):
        days = source.number(match.start("n")).value * UNIT_DAYS[UNITS[match["u"]]]
        if 0 < days <= 100_000:
            yield source.slot(Kind.DURATION, match.start(), match.end(), _tidy(days), "in")
    for match in _LENGTH.finditer(source.low):
        yield from _length(source, match)


def _last(source: Source, start: int, end: int, days: float) -> Iterator[Slot]:
    words = words_before(source.low, start)
    while words and words[-1] in _ARTICLES:
        words.pop()
    if not 0 < days <= 100_000:
        return
    if (words and words[-1] in _WITHIN) or days < 1:
        yield source.slot(Kind.DURATION, start, end, _tidy(days), "newer")
    else:
        yield rolling(source, start, end, days)


def _length(source: Source, match: re.Match[str]) -> Iterator[Slot]:
    days = _days(source, match)
    tail = (match["tail"] or "").strip()
    end = match.start("more") if match["more"] and not _goes_on(source, match) else match.end()
    role, start = _role(source, match.start())
    if tail in {"ago", "fa"}:
        if words_before(source.low, match.start())[-1:] == ["over"]:
            role = "older"
        role = role if role in {"older", "newer"} else "ago"
        unit = UNITS.get(match["u"] or match["v"] or "", "minute")
        if role == "ago" and unit in {"day", "week", "month", "year"}:
            return  # that is a date
    elif tail == "old" and role != "newer":
        role = "older"
    elif tail:
        role, start = "in", match.start()
    if role == "newer" and source.coming and words_before(source.low, match.start())[-1:] in (["within"], ["entro"]):
        role = "in"
    if (match["a"] or match["b"]) and not role and match["b"] is None:
        return
    if 0 <= days <= 1_000_000:
        yield source.slot(Kind.DURATION, start if role == "in" else match.start(), end, _tidy(days), role)


def _days(source: Source, match: re.Match[str]) -> float:
    if match["q"]:
        return UNIT_DAYS["minute"] * 15
    amount = source.number(match.start("n")).value if match["n"] else 1
    unit = UNIT_DAYS[UNITS[match["u"] or match["v"]]]
    days = amount * unit
    if _goes_on(source, match):
        more = source.number(match.start("o")).value
        days += more * (UNIT_DAYS[UNITS[match["w"]]] if match["w"] else unit)
    return days


def _goes_on(source: Source, match: re.Match[str]) -> bool:
    """Whether what follows is a part of the same length: `2 hours and 15 minutes`, `un'ora e mezza`."""
    return bool(match["o"]) and (bool(match["w"]) or source.number(match.start("o")).value == 0.5)


def _role(source: Source, place: int) -> tuple[str, int]:
    """What the words before a length make of it, and where the nearest of them begins."""
    words = words_before(source.low, place)
    for count in (4, 3, 2, 1):
        role = _PHRASES.get(" ".join(words[-count:]))
        if role is not None and len(words) >= count:
            begin = source.low.rfind(words[-1], 0, place)
            return role, begin if role == "in" else place
    return "", place


def _past(source: Source, match: re.Match[str]) -> Iterator[Slot]:
    hour = source.number(match.start("n")).whole(0, 24)
    if match["m"].endswith("quarter"):
        minutes: int | None = 15
    else:
        number = source.number(match.start("m"))
        minutes = 30 if number.value == 0.5 else number.whole(1, 59)
    if hour is None or minutes is None or (match["way"] == "to" and not match["m"].endswith("quarter")):
        return
    total = hour * 60 + (minutes if match["way"] == "past" else -minutes)
    yield from _at(source, match.start(), match.end(), total // 60 % 24, total % 60, _half(match["part"], hour))


def _after_a_word(source: Source, match: re.Match[str]) -> Iterator[Slot]:
    figures = match["n"] or match["clock"]
    start = match.start("n" if match["n"] else "clock") if figures else match.end("one") - 3
    hour = source.number(start).whole(0, 24) if figures else 13
    if hour is None or (figures and source.number(start).ordinal):
        return
    minutes, end = 0, match.end()
    if match["plus"]:
        number = source.number(match.start("minutes")) if match["minutes"] else None
        stated = 15 if number is None else 30 if number.value == 0.5 else number.whole(0, 59)
        if stated is None:
            return
        total = hour * 60 + (stated if match["plus"] == "e" else -stated)
        hour, minutes = total // 60 % 24, total % 60
    following = words_after(source.low, end)
    if following and following[0].isalpha() and following[0] not in _GOES_ON:
        return
    if following and following[0] == "%":
        return
    half = _half(match["part"], hour)
    late = _LATE.search(source.low) if not half and 0 < hour < 12 else None
    is_late = late is not None and not (late["night"] and hour < 6)  # at night it is two in the morning
    yield from _at(source, start, end, hour, minutes, "p" if is_late else half)


def _half(part: str | None, hour: int) -> str:
    if part is None:
        return ""
    night = part in {"di notte", "at night"}
    return "a" if "matt" in part or "morning" in part or (night and (hour < 6 or hour == 12)) else "p"


def _at(source: Source, start: int, end: int, hour: int, minutes: int, half: str) -> Iterator[Slot]:
    if half and hour > 12:
        half = ""
    if half == "p" and hour < 12:
        hour += 12
    elif half == "a" and hour == 12:
        hour = 0
    if (hour < 24 and minutes < 60) or (hour == 24 and minutes == 0):
        yield source.slot(Kind.TIME, start, end, f"{hour % 24:02d}:{minutes:02d}")


def _tidy(days: float) -> int | float:
    return int(days) if float(days).is_integer() else round(days, 12)
