"""Lists the reminders by their time. Lines of the file that are no reminders are said, not skipped."""

import json
from datetime import datetime, timedelta

from metnos_kit import folders, reminders


def run(args, ctx):
    found, failures = [], []
    for number, line in enumerate(reminders.read(ctx).split(b"\n"), start=1):
        if not line.strip():
            continue
        reminder = understood(line, ctx.now)
        if reminder is None:
            failures.append(ctx.failure(f"reminders.jsonl line {number}", "unreadable", "it is no reminder"))
        elif wanted(reminder, args, ctx.now):
            found.append(reminder)
    found.sort(key=lambda each: (each["at"], each["id"]))
    for each in found:
        del each["at"]
    limit = min(args.get("limit", ctx.limit), ctx.limit)
    return {
        "entries": found[:limit],
        "total": len(found),
        "failures": folders.shortened(failures, "reminders.jsonl", "such lines", ctx),
    }


def understood(line, now):
    """A reminder with its time as a moment, or nothing if the line is none."""
    try:
        raw = json.loads(line)
        at = datetime.fromisoformat(raw["due"])
        at = at if at.tzinfo else at.replace(tzinfo=now.tzinfo)  # written by hand, in the owner's time
        reminder = {"id": raw["id"], "text": raw["text"], "due": raw["due"], "done": raw.get("done", False)}
        if "made" in raw:
            reminder["made"] = raw["made"]
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return None
    kinds = {"id": int, "text": str, "due": str, "done": bool, "made": str}
    if (
        not all(type(value) is kinds[key] for key, value in reminder.items())
        or not 0 < reminder["id"] < reminders.MOST_NUMBER
    ):
        return None
    if not all(reminders.is_text(value) for value in reminder.values() if isinstance(value, str)):
        return None
    return reminder | {"overdue": not reminder["done"] and at <= now, "at": at}


def wanted(reminder, args, now):
    if args["which"] == "due" and not reminder["overdue"]:
        return False
    if args["which"] == "open" and reminder["done"]:
        return False
    return "within_hours" not in args or reminder["at"] <= now + timedelta(hours=args["within_hours"])
