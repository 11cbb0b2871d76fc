"""Reckons with dates of the calendar."""

import calendar
from datetime import date, datetime, timedelta

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
NEAR = {"today": 0, "oggi": 0, "tomorrow": 1, "domani": 1, "yesterday": -1, "ieri": -1}


def run(args, ctx):
    today = ctx.now.date()
    to = read(args["to"], today, ctx) if "to" in args else None
    entries, failures = [], []
    for text in args["dates"]:
        try:
            start = read(text, today, ctx)
            entries.append(entry(start, moved(start, args), to))
        except ctx.Failure as error:
            failures.append(ctx.failure(text, error.kind, error.message))
        except (OverflowError, ValueError):
            failures.append(ctx.failure(text, "invalid", "the calendar ends before that: years are 1 to 9999"))
    return {"entries": entries[: ctx.limit], "total": len(entries), "failures": failures}


def read(text, today, ctx):
    word = text.strip().lower()
    if word in NEAR:
        return today + timedelta(days=NEAR[word])
    try:
        return datetime.fromisoformat(word).date()
    except ValueError:
        ctx.fail("invalid", "this is no date: write it as 2026-03-01, or today")


def moved(start, args):
    day = add_months(start, args["years"] * 12 + args["months"])
    day += timedelta(days=args["days"] + 7 * args["weeks"])
    return add_working(day, args["working_days"])


def add_months(day, months):
    if not months:
        return day
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    last = calendar.monthrange(date(year, month + 1, 1).year, month + 1)[1]
    return date(year, month + 1, min(day.day, last))


def add_working(day, number):
    """The day that many working days later or earlier: whole weeks first, then one by one."""
    step = 1 if number > 0 else -1
    weeks, rest = divmod(abs(number), 5)
    day += timedelta(days=7 * weeks * step)
    while rest:
        day += timedelta(days=step)
        rest -= day.weekday() < 5
    # A count that ends in whole weeks may have begun on a weekend.
    while number and day.weekday() > 4:
        day -= timedelta(days=step)
    return day


def entry(start, day, to):
    year, week, number = day.isocalendar()
    name = DAYS[number - 1]
    days = None if to is None else (to - day).days
    between = "" if to is None else span(day, to)
    says = f"{day.isoformat()} is a {name}"
    if to is not None:
        says += f"; {to.isoformat()} is {counted(days, between)}" if days else "; the same day"
    return {
        "from": start.isoformat(),
        "date": day.isoformat(),
        "weekday": name,
        "week": f"{year}-W{week:02}",
        "day_of_year": day.timetuple().tm_yday,
        "leap_year": calendar.isleap(day.year),
        "days_to": days,
        "working_days_to": None if to is None else working(day, to),
        "between": between,
        "says": says,
    }


def counted(days, between):
    """How many days that is, and what it is in months and years where that says more."""
    number = f"{abs(days)} day{'' if abs(days) == 1 else 's'}"
    return f"{number}{'' if between == number else f' ({between})'} {'later' if days > 0 else 'earlier'}"


def working(start, end):
    """Working days after the first date up to the second; negative when it is before."""
    if end < start:
        return -working(end, start)
    weeks, rest = divmod((end - start).days, 7)
    return 5 * weeks + sum((start.weekday() + offset) % 7 < 5 for offset in range(1, rest + 1))


def span(one, other):
    """The time between in whole years, months and days."""
    early, late = min(one, other), max(one, other)
    months = (late.year - early.year) * 12 + late.month - early.month
    if add_months(early, months) > late:
        months -= 1
    parts = (*divmod(months, 12), (late - add_months(early, months)).days)
    words = [
        f"{number} {unit}{'' if number == 1 else 's'}"
        for number, unit in zip(parts, ("year", "month", "day"), strict=True)
        if number
    ]
    return ", ".join(words) or "0 days"
