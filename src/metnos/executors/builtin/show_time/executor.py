"""Shows the time here and elsewhere, and the way to another moment."""

import zoneinfo
from datetime import datetime, timedelta

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# Cities that give a zone no name, and Italian names of those that do.
CITIES = {
    "roma": "Europe/Rome", "milano": "Europe/Rome", "milan": "Europe/Rome", "napoli": "Europe/Rome",
    "londra": "Europe/London", "parigi": "Europe/Paris", "berlino": "Europe/Berlin", "atene": "Europe/Athens",
    "mosca": "Europe/Moscow", "monaco di baviera": "Europe/Berlin", "munich": "Europe/Berlin",
    "ginevra": "Europe/Zurich", "geneva": "Europe/Zurich",
    "barcelona": "Europe/Madrid", "lisbona": "Europe/Lisbon", "varsavia": "Europe/Warsaw",
    "pechino": "Asia/Shanghai", "beijing": "Asia/Shanghai", "mumbai": "Asia/Kolkata", "delhi": "Asia/Kolkata",
    "il cairo": "Africa/Cairo", "san francisco": "America/Los_Angeles", "seattle": "America/Los_Angeles",
    "washington": "America/New_York", "boston": "America/New_York", "miami": "America/New_York",
    "città del messico": "America/Mexico_City", "san paolo": "America/Sao_Paulo", "gerusalemme": "Asia/Jerusalem",
}  # fmt: skip


def run(args, ctx):
    moment = read(args["at"], "at", ctx) if "at" in args else ctx.now
    until = read(args["until"], "until", ctx) if "until" in args else None
    entries, failures = [], []
    for name in args["zones"] or [""]:
        try:
            zone = ctx.now.tzinfo if not name else find(name, ctx)
            entries.append(shown(moment.astimezone(zone), name and str(zone), until, ctx.now.utcoffset()))
        except ctx.Failure as error:
            failures.append(ctx.failure(name, error.kind, error.message))
        except OverflowError:
            failures.append(ctx.failure(name, "invalid", "there is no such time there"))
    return {"entries": entries[: ctx.limit], "total": len(entries), "failures": failures}


def read(text, name, ctx):
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        ctx.fail("invalid", f"`{name}` is no time: write it as 2026-03-01T08:00")
    return moment if moment.tzinfo else moment.replace(tzinfo=ctx.now.tzinfo)


def find(name, ctx):
    """The zone of that name, or of the city of that name."""
    wanted = " ".join(name.replace("_", " ").casefold().split())
    known = {zone.replace("_", " ").casefold(): zone for zone in sorted(zoneinfo.available_timezones())}
    cities = {key.rpartition("/")[2]: zone for key, zone in known.items() if "/" in key and not key.startswith("etc/")}
    found = known.get(wanted) or CITIES.get(wanted) or cities.get(wanted)
    if found is None:
        ctx.fail("not_found", "no time zone and no city of that name is known: write it as Europe/Rome")
    return zoneinfo.ZoneInfo(found)


def shown(moment, zone, until, home):
    year, week, day = moment.isocalendar()
    seconds = None if until is None else round((until - moment).total_seconds())
    stamp = moment.isoformat(timespec="seconds")
    where = f" in {zone}" if zone else ""
    says = f"{DAYS[day - 1]}, {moment:%Y-%m-%d %H:%M}{where}"
    if seconds is not None:
        says += f"; {span(abs(seconds))} {'left' if seconds >= 0 else 'ago'}"
    return {
        "zone": zone or "local",
        "time": stamp,
        "date": f"{moment:%Y-%m-%d}",
        "clock": f"{moment:%H:%M}",
        "weekday": DAYS[day - 1],
        "week": f"{year}-W{week:02}",
        "offset": stamp[19:25],
        "ahead_h": round((moment.utcoffset() - home) / timedelta(hours=1), 2),
        "until_s": seconds,
        "says": says,
    }


def span(seconds):
    """The two largest units of a time."""
    parts = []
    for name, length in (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)):
        number, seconds = divmod(seconds, length)
        if number:
            parts.append(f"{number} {name}{'' if number == 1 else 's'}")
    return " and ".join(parts[:2]) or "0 seconds"
