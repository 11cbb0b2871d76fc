"""What a question asks for: its words, the names in it and the times that it speaks of; English and Italian.

Rules: pure; the same question at the same moment is read in the same way. Words that only hold a sentence together are
left out, unless the question has no others. A time is an interval of days, its end left out, in the zone of ``now``; a
day, a month or a season without a year is the last one that has begun. Whoever has a better reader of dates hands it
in, and what it finds is taken beside what is found here.

Does not guarantee that every way to speak of a time is known: what is not understood is just words.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

_ENGLISH = """
a about after again all also am an and any anybody anyone anything are as at be because been before being but by can
could did do does doing done during each either ever every for from get gets getting go goes going got had has have
having he her hers him his how however i if in into is it its itself just kind let like likely many may maybe me might
mine more most much must my myself name of often on once one onto only or other our ours out over per please remember
remind say said shall she should since so some somebody someone something sort still such tell than that the their
theirs them then there these they thing things this those though through till to told too type until up upon us very
was we were what whatever when where whether which while who whom whose why will with within would yes yet you your
yours s t d ll m re ve don didn doesn isn wasn aren weren couldn wouldn shouldn
"""
_ITALIAN = """
a ad agli ai al alla alle allo anche ancora avere aveva avevo avevano avuto che chi ci cio cioe come con cosa cui da
dagli dai dal dalla dalle dallo degli dei del della delle dello di dimmi dire dove e ed era erano ero esse essere essi
fa fatto fu gli ha hai hanno ho i il in io l la le lei lo loro lui ma mai me mi mia mie miei mio ne negli nei nel
nella nelle nello no noi non nostra nostro o ogni per perche piu po puo qual quale quali qualche qualcosa qualcuno
quando quanta quante quanti quanto quel quella quelle quelli quello questa queste questi questo ricorda ricordi sai se
sei si sia sono sta stato stata su sua sue sugli sui sul sulla sulle sullo suo suoi te ti tra tu tua tue tuo tuoi
tutti tutto un una uno vi voi c d dell all nell sull quell dall cos quest com dov quand quant
"""
FUNCTION_WORDS = frozenset(_ENGLISH.split()) | frozenset(_ITALIAN.split())

_WORD = re.compile(r"[^\W_]+")
_NAME = re.compile(r"\b[^\W\d_a-z][^\W\d_]+")
_BEGINS = re.compile(r"(?:^|[.!?:;\n])[^\w]*$")  # what stands before a word that has a capital wherever it begins
_CAPITALS = 0.5  # of the words: where more have a capital, it tells nothing

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan gennaio", "february feb febbraio", "march mar marzo", "april apr aprile", "may maggio",
            "june jun giugno", "july jul luglio", "august aug agosto", "september sept sep settembre",
            "october oct ottobre", "november nov novembre", "december dec dicembre",
        ),
        1,
    )
    for name in names.split()
}  # fmt: skip
_WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            "monday lunedi", "tuesday martedi", "wednesday mercoledi", "thursday giovedi", "friday venerdi",
            "saturday sabato", "sunday domenica",
        )
    )
    for name in names.split()
}  # fmt: skip
_SEASONS = {
    "spring": 3, "primavera": 3, "summer": 6, "estate": 6, "autumn": 9, "autunno": 9, "fall": 9, "winter": 12,
    "inverno": 12,
}  # fmt: skip
_UNITS = {
    "day": "day", "days": "day", "giorno": "day", "giorni": "day", "week": "week", "weeks": "week",
    "settimana": "week", "settimane": "week", "weekend": "weekend", "month": "month", "months": "month",
    "mese": "month", "mesi": "month", "year": "year", "years": "year", "anno": "year", "anni": "year",
}  # fmt: skip
_NUMBERS = {
    "a": 1, "an": 1, "un": 1, "una": 1, "one": 1, "uno": 1, "two": 2, "due": 2, "three": 3, "tre": 3, "four": 4,
    "quattro": 4, "five": 5, "cinque": 5, "six": 6, "sei": 6, "seven": 7, "sette": 7, "eight": 8, "otto": 8, "nine": 9,
    "nove": 9, "ten": 10, "dieci": 10,
}  # fmt: skip
_DAYS = {
    "the day before yesterday": -2, "l'altro ieri": -2, "avantieri": -2, "last night": -1, "yesterday": -1, "ieri": -1,
    "today": 0, "oggi": 0, "this morning": 0, "stamattina": 0, "tonight": 0, "stasera": 0,
}  # fmt: skip


def _any(words: Iterable[str]) -> str:
    return "(?:" + "|".join(map(re.escape, sorted(words, key=len, reverse=True))) + ")"


_YEAR = r"(?P<y>(?:19|20)\d\d)"
_MONTH = rf"(?P<m>{_any(_MONTHS)})\b\.?"
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th)?"
_IN = r"(?:in|of|during|since|until|before|after|by|last|early|late|from|nel|a|ad|di|da|dal|dopo|entro|fino a|scorso)"
_ISO = re.compile(rf"\b{_YEAR}-(?P<m>\d\d)-(?P<d>\d\d)\b")
_DAY_MONTH = re.compile(rf"\b{_DAY}(?: of| di)? {_MONTH}(?:,? (?:del )?{_YEAR})?")
_MONTH_DAY = re.compile(rf"\b{_MONTH} (?:the )?{_DAY}\b(?:,? {_YEAR})?")
_MONTH_YEAR = re.compile(rf"\b{_MONTH},? (?:of |del )?{_YEAR}\b")
# Some names of months are other words too: alone they count only after a word that leads to a time.
_MONTH_ALONE = re.compile(rf"\b{_IN} {_MONTH}(?= scorso\b|[ ,?.!;:]|$)")
_SEASON = re.compile(rf"\b(?P<s>{_any(_SEASONS)})(?: (?:of |del(?:l'anno)? )?{_YEAR}| (?P<last>scorsa|scorso))")
_LAST_SEASON = re.compile(rf"\b(?:last|this|la scorsa|lo scorso|quest[oa']) ?(?P<s>{_any(_SEASONS)})\b")
_YEAR_ALONE = re.compile(rf"\b(?:in|of|during|since|until|before|after|by|from|nel|del|dal|dopo il|entro il) {_YEAR}\b")
_AGO = re.compile(rf"\b(?P<n>\d{{1,3}}|{_any(_NUMBERS)}) (?P<u>{_any(_UNITS)}) (?:ago|fa)\b")
_PERIOD = re.compile(
    rf"\b(?P<a>last|past|previous|this|scors[oa]|quest[oa]|quest') ?(?P<u>{_any(_UNITS)})\b"
    rf"|\b(?P<v>{_any(_UNITS)}) (?P<b>scors[oa]|passat[oa])\b"
)
_WEEKDAY = re.compile(rf"\b(?:(?:on|last|this|scors[oa]|di|il|la) )?(?P<w>{_any(_WEEKDAYS)})\b")
_NEAR_DAY = re.compile(rf"\b(?P<t>{_any(_DAYS)})\b")
_SINCE = re.compile(r"\b(?:since|after|from|da|dal|dall'|dalla|dopo(?: il| la)?)(?: the)? $")
_BEFORE = re.compile(r"\b(?:before|until|till|prima (?:di|del|della|dell')|fino (?:a|al|alla|all'))(?: the)? ?$")


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time: from ``since`` up to, not including, ``until``; None where it is open."""

    since: datetime | None
    until: datetime | None


@dataclass(frozen=True, slots=True)
class Question:
    """A question, read."""

    text: str
    words: tuple[str, ...]  # those that say what it is about, folded, each once
    names: tuple[str, ...]  # folded
    proper: tuple[str, ...] = ()  # those of the words that are names beyond doubt
    spans: tuple[Span, ...] = ()


Dates = Callable[[str, datetime], Iterable[tuple[str, Span]]]  # times that a text speaks of, each in its own words


def read(text: str, now: datetime, dates: Dates | None = None) -> Question:
    """Read a question that is asked now. Words that only say when are no words to look for.

    ``dates`` reads times in more ways than are known here; what is still to come was not lived, and so is none.
    """
    plain, timed = _times(text, now)
    found = [span for _, _, span in timed]
    for start, end, _ in timed:
        plain = plain[:start] + " " * (end - start) + plain[end:]
    for said, span in dates(text, now) if dates is not None else ():
        if span not in found and (span.since is None or span.since <= now):
            found.append(span)
            if any(map(str.isdigit, said)):  # a feast has a name, which may well be remembered
                plain = plain.replace(_plainly(said), " ")
    left = tuple(word for word in words(plain) if word not in FUNCTION_WORDS)
    kept = left if left or found else words(text)
    return Question(text, kept, names(text), tuple(name for name in proper(text) if name in kept), tuple(found))


def folded(text: str) -> str:
    """In lower case and without accents, as the full text has it."""
    lower = text.lower()
    if lower.isascii():
        return lower
    return "".join(each for each in unicodedata.normalize("NFD", lower) if not unicodedata.combining(each))


def words(text: str) -> tuple[str, ...]:
    """What is worth looking for; everything, if nothing is."""
    every = list(dict.fromkeys(_WORD.findall(folded(text))))
    return tuple(word for word in every if word not in FUNCTION_WORDS) or tuple(every)


def names(text: str) -> tuple[str, ...]:
    """Words with a capital that are no function words: names of people, places and things."""
    found = (folded(match[0]) for match in _NAME.finditer(text))
    return tuple(dict.fromkeys(name for name in found if name not in FUNCTION_WORDS))


def proper(text: str) -> tuple[str, ...]:
    """Names beyond doubt: not at the start of a sentence, no abbreviation, and not where nearly every word is so."""
    sure = [match[0] for match in _NAME.finditer(text) if not _BEGINS.search(text[: match.start()])]
    if len(sure) > _CAPITALS * len(_WORD.findall(text)):
        return ()
    found = (folded(name) for name in sure if not name.isupper())
    return tuple(dict.fromkeys(name for name in found if name not in FUNCTION_WORDS))


def spans(text: str, now: datetime) -> list[Span]:
    """The times that are spoken of, in the order of the text."""
    return [span for _, _, span in _times(text, now)[1]]


def _times(text: str, now: datetime) -> tuple[str, list[tuple[int, int, Span]]]:
    """The text made plain, and where in it which times are spoken of."""
    plain = _plainly(text)
    taken: list[tuple[int, int, Span]] = []
    for pattern, reader in _READERS:
        for match in pattern.finditer(plain):
            if any(match.start() < end and start < match.end() for start, end, _ in taken):
                continue
            span = reader(match, now)
            if span is not None:
                taken.append((match.start(), match.end(), _opened(span, match, plain)))
    return plain, sorted(taken, key=lambda each: each[0])


def _plainly(text: str) -> str:
    return " ".join(folded(text).replace("\u2019", "'").split())


def _opened(span: Span, match: re.Match[str], plain: str) -> Span:
    """*Since May* begins in May, *before May* ends there."""
    # The leading word may be part of what matched: look at everything up to the first name or figure of the match.
    start = next((match.start(name) for name, value in match.groupdict().items() if value and name in "dmsywt"), -1)
    lead = plain[: max(match.start(), start)]
    if _SINCE.search(lead):
        return Span(span.since, None)
    return Span(None, span.since) if _BEFORE.search(lead) else span


# -- one reader for each way to say it


def _date(match: re.Match[str], now: datetime) -> Span | None:
    month = match["m"].rstrip(".")
    number = int(month) if month.isdigit() else _MONTHS[month]
    year = int(match["y"]) if match["y"] else now.year
    try:
        day = _midnight(now).replace(year=year, month=number, day=int(match["d"]))
        if match["y"] is None and day > now:
            day = day.replace(year=year - 1)
    except ValueError:  # no day of the calendar
        return None
    return Span(day, day + timedelta(days=1))


def _month(match: re.Match[str], now: datetime) -> Span:
    groups = match.groupdict()
    number = _MONTHS[match["m"].rstrip(".")]
    year = int(groups["y"]) if groups.get("y") else now.year - (number > now.month)
    return _months(now, year, number, 1)


def _season(match: re.Match[str], now: datetime) -> Span:
    groups = match.groupdict()
    first = _SEASONS[match["s"]]
    year = int(groups["y"]) if groups.get("y") else now.year - (first > now.month)
    return _months(now, year, first, 3)


def _year(match: re.Match[str], now: datetime) -> Span:
    return _months(now, int(match["y"]), 1, 12)


def _ago(match: re.Match[str], now: datetime) -> Span:
    count = int(match["n"]) if match["n"].isdigit() else _NUMBERS[match["n"]]
    return _period(_UNITS[match["u"]], -count, now)


def _near(match: re.Match[str], now: datetime) -> Span:
    unit = _UNITS[match["u"] or match["v"]]
    return _period(unit, 0 if (match["a"] or "").startswith(("this", "quest")) else -1, now)


def _weekday(match: re.Match[str], now: datetime) -> Span:
    back = (now.weekday() - _WEEKDAYS[match["w"]]) % 7 or 7
    day = _midnight(now) - timedelta(days=back)
    return Span(day, day + timedelta(days=1))


def _near_day(match: re.Match[str], now: datetime) -> Span:
    day = _midnight(now) + timedelta(days=_DAYS[match["t"]])
    return Span(day, day + timedelta(days=1))


_READERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], datetime], Span | None]], ...] = (
    (_ISO, _date),
    (_DAY_MONTH, _date),
    (_MONTH_DAY, _date),
    (_MONTH_YEAR, _month),
    (_SEASON, _season),
    (_LAST_SEASON, _season),
    (_AGO, _ago),
    (_PERIOD, _near),
    (_MONTH_ALONE, _month),
    (_YEAR_ALONE, _year),
    (_WEEKDAY, _weekday),
    (_NEAR_DAY, _near_day),
)


# -- the calendar


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _months(now: datetime, year: int, month: int, count: int) -> Span:
    first = _midnight(now).replace(year=year, month=month, day=1)
    after = month - 1 + count
    return Span(first, first.replace(year=year + after // 12, month=after % 12 + 1))


def _period(unit: str, step: int, now: datetime) -> Span:
    today = _midnight(now)
    if unit == "year":
        return _months(now, now.year + step, 1, 12)
    if unit == "month":
        months = now.year * 12 + now.month - 1 + step
        return _months(now, months // 12, months % 12 + 1, 1)
    if unit == "day":
        day = today + timedelta(days=step)
        return Span(day, day + timedelta(days=1))
    monday = today - timedelta(days=today.weekday()) + timedelta(weeks=step)
    if unit == "weekend":
        return Span(monday + timedelta(days=5), monday + timedelta(days=7))
    return Span(monday, monday + timedelta(days=7))
