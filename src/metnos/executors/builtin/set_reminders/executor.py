"""Sets a reminder. The time is read strictly: what could mean two things is refused, with examples."""

import json
import re
import unicodedata
from datetime import datetime, timedelta

from metnos_kit import reminders

MOST_YEARS = 20
MORNING, AFTERNOON, EVENING, NIGHT = 9, 15, 19, 21  # o'clock, where only the part of the day is said
EXAMPLES = (
    "2026-11-20 18:30, in 2 hours, tomorrow 9:00, friday at 5pm, 20 november; tra 2 ore, domani alle 9, venerdì alle 17"
)

UNITS = {
    "minutes": "minute minutes min mins minuto minuti",
    "hours": "hour hours h ora ore",
    "days": "day days giorno giorni",
    "weeks": "week weeks settimana settimane",
    "months": "month months mese mesi",
}
NUMBERS = (
    "a an un uno una one", "two due", "three tre", "four quattro", "five cinque", "six sei", "seven sette",
    "eight otto", "nine nove", "ten dieci", "eleven undici", "twelve dodici",
)  # fmt: skip
DAYS = {"today": 0, "oggi": 0, "tomorrow": 1, "domani": 1, "the day after tomorrow": 2, "day after tomorrow": 2,
        "dopodomani": 2}  # fmt: skip
WEEKDAYS = (
    "monday lunedi", "tuesday martedi", "wednesday mercoledi", "thursday giovedi", "friday venerdi", "saturday sabato",
    "sunday domenica",
)  # fmt: skip
MONTHS = (
    "january jan gennaio gen", "february feb febbraio", "march mar marzo", "april apr aprile", "may maggio mag",
    "june jun giugno giu", "july jul luglio lug", "august aug agosto ago", "september sep sept settembre set",
    "october oct ottobre ott", "november nov novembre", "december dec dicembre dic",
)  # fmt: skip
PARTS = {
    "morning": MORNING, "in the morning": MORNING, "mattina": MORNING, "afternoon": AFTERNOON,
    "in the afternoon": AFTERNOON, "pomeriggio": AFTERNOON, "evening": EVENING, "in the evening": EVENING,
    "sera": EVENING, "night": NIGHT, "at night": NIGHT, "notte": NIGHT,
}  # fmt: skip
WHOLE = {
    "tonight": "today night", "this evening": "today evening", "this afternoon": "today afternoon",
    "stasera": "oggi sera", "questa sera": "oggi sera", "questo pomeriggio": "oggi pomeriggio",
    "stanotte": "oggi notte", "questa notte": "oggi notte", "domattina": "domani mattina",
}  # fmt: skip


def run(args, ctx):
    text = args["text"].strip()
    if not text:
        ctx.fail("invalid", "there is nothing to be reminded of")
    now = ctx.now.replace(microsecond=0)
    due = parse(args["when"], now, ctx)
    path = reminders.file_of(ctx)
    content = reminders.read(ctx, "there are too many reminders: delete old ones first")
    # A number is never given twice: what was deleted keeps its own.
    number = max(reminders.greatest(content), reminders.last_deleted(ctx)) + 1
    reminder = {"id": number, "text": text, "due": due.isoformat(), "made": now.isoformat(), "done": False}
    line = json.dumps(reminder, ensure_ascii=False) + "\n"
    if not path.parent.is_dir():
        ctx.make_folder(str(path.parent))
    if content and not content.endswith(b"\n"):
        line = "\n" + line
    ctx.write(str(path), line, append=True)
    return {"results": [{key: reminder[key] for key in ("id", "text", "due", "made")}]}


# -- the time


def parse(text, now, ctx):
    words = fold(text)
    try:
        due = exact(words, now) or relative(words, now) or by_day(words, now)
    except (ValueError, OverflowError) as error:
        raise ctx.Failure("invalid", f"there is no such time ({error}). Say it like: {EXAMPLES}") from error
    if due is None:
        ctx.fail("invalid", f"it is not clear when that is. Say it like: {EXAMPLES}")
    if due <= now:
        ctx.fail("invalid", f"that time has passed: {due.isoformat(sep=' ', timespec='minutes')}")
    if due.year > now.year + MOST_YEARS:
        ctx.fail("invalid", f"that is more than {MOST_YEARS} years away")
    return due


def fold(text):
    """Small letters, no accents, single spaces, so that there is one spelling for each word."""
    apart = unicodedata.normalize("NFKD", text.casefold().replace("\u2019", "'"))
    plain = "".join(char for char in apart if not unicodedata.combining(char))
    plain = " ".join(plain.replace(",", " ").split()).rstrip(".!")
    return re.sub(r"\b([ap])\.m\b\.?", r"\1m", plain)


def choice(words):
    """A pattern that is one of these words, the longest first."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


def index(groups, word):
    """Which group a word is in."""
    return next(number for number, group in enumerate(groups) if word in group.split())


def exact(words, now):
    """2026-11-20, 2026-11-20 18:30, 2026-11-20T18:30:00+01:00."""
    found = re.fullmatch(
        r"(\d{4}-\d\d-\d\d)(?:(?:t| at | alle | ore | )(\d\d?)[:.](\d\d)(:\d\d)?(?:\.\d+)? ?(z|[+-]\d\d:?\d\d)?)?",
        words,
    )
    if found is None:
        return None
    day, hour, minute, second, zone = found.groups()
    clock = f"{int(hour):02}:{minute}{second or ''}" if hour else f"{MORNING:02}:00"
    due = datetime.fromisoformat(f"{day}T{clock}{(zone or '').upper()}")
    return due.astimezone(now.tzinfo) if zone else due.replace(tzinfo=now.tzinfo)


def relative(words, now):
    """In 2 hours, in 1 hour and 30 minutes, tra mezz'ora, fra tre giorni."""
    words = re.sub(r"\b(half an hour|mezz'?ora)\b", "30 minutes", words)
    words = re.sub(r"\bun'(?=ora\b)", "un ", words)
    amount = rf"(\d{{1,4}}|{choice(' '.join(NUMBERS).split())})"
    unit = f"({choice(' '.join(UNITS.values()).split())})"
    found = re.fullmatch(rf"(?:in|tra|fra) {amount} ?{unit}(?: (?:and|e) {amount} ?{unit})?", words)
    if found is None:
        return None
    due = now
    for number, name in (found.groups()[:2], found.groups()[2:]):
        if number:
            count = int(number) if number.isdigit() else index(NUMBERS, number) + 1
            due = later(due, count, next(key for key, group in UNITS.items() if name in group.split()))
    return due


def later(moment, count, unit):
    if unit != "months":
        return moment + timedelta(**{unit: count})
    year, month = divmod(moment.year * 12 + moment.month - 1 + count, 12)
    for day in range(moment.day, 27, -1):  # the 31st of a short month is its last day
        try:
            return moment.replace(year=year, month=month + 1, day=day)
        except ValueError:
            continue
    return moment.replace(year=year, month=month + 1)


def by_day(words, now):
    """Tomorrow 9:00, friday at 5pm, domani mattina, alle 18:30, il 20 novembre alle 9."""
    for short, long in WHOLE.items():
        words = re.sub(rf"\b{short}\b", long, words)
    words = re.sub(r"\b(noon|midday|mezzogiorno)\b", "12:00", words)
    names = choice([*DAYS, *" ".join(WEEKDAYS).split()])
    months = choice(" ".join(MONTHS).split())
    number = r"\d{1,2}(?:st|nd|rd|th)?"
    date = rf"(?:{number} (?:of |di )?(?:{months})|(?:{months}) {number})(?: \d{{4}})?"
    day = rf"(?:on |this |il |the |questo |questa )?(?P<day>{names}|{date})(?: (?P<part>{choice(PARTS)}))?"
    clock = r"(?P<at>at |alle ore |alle |ore |all'|a )?(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))? ?(?P<half>am|pm)?"
    for pattern in (day, f"{day} {clock}", f"{clock} {day}", f"{clock}(?P<day>)(?P<part>)"):
        found = re.fullmatch(pattern, words)
        if found:
            return moment(found.groupdict(), now)
    return None


def moment(found, now):
    clock = clock_of(found)
    if clock is None:
        return None
    if not found["day"]:
        due = now.replace(hour=clock[0], minute=clock[1], second=0)
        return due if due > now else due + timedelta(days=1)
    date = date_of(found["day"], now, clock)
    return None if date is None else date.replace(hour=clock[0], minute=clock[1], second=0)


def clock_of(found):
    """Hour and minute, or nothing if they could be read in two ways."""
    part = PARTS.get(found["part"] or "")
    if not found.get("hour"):
        return (part or MORNING, 0)
    hour, minute, half = int(found["hour"]), int(found["minute"] or 0), found["half"]
    bare = not found["minute"] and not half
    if bare and not part and (hour < 7 or not (found["day"] or found["at"])):
        return None  # five in the morning, or in the afternoon? and a number alone is no time
    if half and not 1 <= hour <= 12:
        return None
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    elif (part in (AFTERNOON, EVENING) and 1 <= hour < 12) or (part == NIGHT and 6 <= hour < 12):
        hour += 12
    if part == MORNING and hour >= 13:
        return None
    return (hour, minute)


def date_of(text, now, clock):
    if text in DAYS:
        return now + timedelta(days=DAYS[text])
    if text in " ".join(WEEKDAYS).split():
        ahead = (index(WEEKDAYS, text) - now.weekday()) % 7
        return now + timedelta(days=ahead) if ahead else None  # today, or in a week?
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    month = index(MONTHS, next(word for word in re.findall(r"[a-z]{3,}", text) if word in " ".join(MONTHS).split())) + 1
    if len(numbers) > 1:
        return now.replace(year=numbers[1], month=month, day=numbers[0])
    this_year = now.replace(month=month, day=numbers[0], hour=clock[0], minute=clock[1], second=0)
    return this_year if this_year > now else this_year.replace(year=now.year + 1)
