"""Names of months, days and feasts in two languages, and the reckoning with them; today comes from the caller."""

from datetime import date, timedelta

ENGLISH_MONTHS = {
    "january": 1, "jan": 1, "february": 2, "feb": 2, "march": 3, "mar": 3, "april": 4, "apr": 4, "may": 5, "june": 6,
    "jun": 6, "july": 7, "jul": 7, "august": 8, "aug": 8, "september": 9, "sept": 9, "sep": 9, "october": 10, "oct": 10,
    "november": 11, "nov": 11, "december": 12, "dec": 12,
}  # fmt: skip
ITALIAN_MONTHS = {
    "gennaio": 1, "gen": 1, "febbraio": 2, "marzo": 3, "aprile": 4, "maggio": 5, "mag": 5, "giugno": 6, "giu": 6,
    "luglio": 7, "lug": 7, "agosto": 8, "ago": 8, "settembre": 9, "set": 9, "ottobre": 10, "ott": 10, "novembre": 11,
    "dicembre": 12, "dic": 12,
}  # fmt: skip
MONTHS = ENGLISH_MONTHS | ITALIAN_MONTHS
SOMETIMES = frozenset({"march", "may"})  # are months only where the words before them say so
FULL_MONTHS = frozenset(name for name in MONTHS if len(name) > 4 or name in {"june", "july", "may"})
WEEKDAYS = {
    "monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5, "sunday": 6,
    "lunedi": 0, "martedi": 1, "mercoledi": 2, "giovedi": 3, "venerdi": 4, "sabato": 5, "domenica": 6,
}  # fmt: skip
DAY_WORDS = {
    "today": 0, "oggi": 0, "yesterday": -1, "ieri": -1, "tomorrow": 1, "domani": 1, "dopodomani": 2, "avantieri": -2,
    "altroieri": -2, "l'altro ieri": -2, "altro ieri": -2, "the day before yesterday": -2, "day before yesterday": -2,
    "the day after tomorrow": 2, "day after tomorrow": 2, "tonight": 0, "stasera": 0, "stanotte": 0, "stamattina": 0,
    "stamani": 0, "this morning": 0, "this afternoon": 0, "this evening": 0, "oggi pomeriggio": 0, "last night": -1,
    "tomorrow morning": 1, "tomorrow evening": 1, "domattina": 1, "domani mattina": 1, "domani sera": 1,
    "ieri sera": -1, "yesterday evening": -1, "questa mattina": 0, "questa sera": 0, "tomorrow afternoon": 1,
    "tomorrow night": 1, "domani pomeriggio": 1, "domani notte": 1, "questo pomeriggio": 0, "questa notte": 0,
    "oggi mattina": 0, "oggi sera": 0, "dopodomani mattina": 2, "dopodomani pomeriggio": 2, "dopodomani sera": 2,
}  # fmt: skip
# When a part of the day begins, for what is to happen then and has no other time.
PARTS = {
    **dict.fromkeys(("morning", "mattina", "mattino", "mattinata", "domattina", "stamattina", "stamani"), "09:00"),
    **dict.fromkeys(("afternoon", "pomeriggio"), "15:00"),
    **dict.fromkeys(("evening", "sera", "serata", "stasera"), "19:00"),
    **dict.fromkeys(("night", "notte", "nottata", "tonight", "stanotte"), "21:00"),
}
FEASTS = {
    "christmas": (12, 25), "natale": (12, 25), "christmas eve": (12, 24), "vigilia di natale": (12, 24),
    "new year's eve": (12, 31), "san silvestro": (12, 31), "new year's day": (1, 1), "capodanno": (1, 1),
    "ferragosto": (8, 15), "epifania": (1, 6), "befana": (1, 6), "halloween": (10, 31), "valentine's day": (2, 14),
    "san valentino": (2, 14), "santo stefano": (12, 26), "boxing day": (12, 26),
}  # fmt: skip
EASTER = frozenset({"easter", "pasqua"})
UNIT_DAYS = {
    "second": 1 / 86_400, "minute": 1 / 1_440, "hour": 1 / 24, "day": 1.0, "week": 7.0, "month": 30.0, "year": 365.0,
}  # fmt: skip
UNITS = {
    "second": "second", "seconds": "second", "sec": "second", "secs": "second", "secondo": "second",
    "secondi": "second", "minute": "minute", "minutes": "minute", "min": "minute", "mins": "minute",
    "minuto": "minute", "minuti": "minute", "hour": "hour", "hours": "hour", "hr": "hour", "hrs": "hour",
    "h": "hour", "ora": "hour", "ore": "hour", "day": "day", "days": "day", "d": "day", "giorno": "day",
    "giorni": "day", "giornata": "day", "giornate": "day", "week": "week", "weeks": "week", "settimana": "week",
    "settimane": "week", "month": "month", "months": "month", "mese": "month", "mesi": "month", "year": "year",
    "years": "year", "anno": "year", "anni": "year",
}  # fmt: skip


def easter(year: int) -> date:
    """Easter Sunday, after the anonymous Gregorian reckoning."""
    century, rest = divmod(year, 100)
    moon = (19 * (year % 19) + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    sunday = (32 + 2 * (century % 4) + 2 * (rest // 4) - moon - rest % 4) % 7
    shift = (year % 19 + 11 * moon + 22 * sunday) // 451
    month, day = divmod(moon + sunday - 7 * shift + 114, 31)
    return date(year, month, day + 1)


def month_of(year: int, month: int) -> tuple[date, date]:
    """First and last day of a month; months beyond the year's run over into the next."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    after = date(year + month // 12, month % 12 + 1, 1)
    return date(year, month, 1), after - timedelta(days=1)


def year_of(year: int) -> tuple[date, date]:
    return date(year, 1, 1), date(year, 12, 31)


def week_of(day: date) -> tuple[date, date]:
    """Monday and Sunday."""
    monday = day - timedelta(days=day.weekday())
    return monday, monday + timedelta(days=6)


def period(unit: str, step: int, today: date) -> tuple[date, date]:
    """The week, weekend, month or year that lies ``step`` of them away from today's."""
    if unit == "year":
        return year_of(today.year + step)
    if unit == "month":
        return month_of(today.year, today.month + step)
    monday, sunday = week_of(today + timedelta(weeks=step))
    return (monday + timedelta(days=5), sunday) if unit == "weekend" else (monday, sunday)


def months_away(day: date, months: int) -> date:
    """The same day of another month, or its last day if that is earlier."""
    first, last = month_of(day.year, day.month + months)
    return first.replace(day=min(day.day, last.day))


def away(day: date, unit: str, amount: float) -> date:
    """The day that lies so many units away."""
    if unit == "year":
        return months_away(day, round(12 * amount))
    if unit == "month" and float(amount).is_integer():
        return months_away(day, int(amount))
    return day + timedelta(days=amount * UNIT_DAYS[unit])
