"""Lists the reminders by their time. Lines of the file that are no reminders are said, not skipped."""

import json
from datetime import datetime, timedelta
from pathlib import Path

MOST_BYTES = 4_000_000
MOST_FAILURES = 100
MOST_NUMBER = 1 << 53


def run(args, ctx):
    found, failures = [], []
    for number, line in enumerate(read(Path(ctx.workspace) / "notes" / "reminders.jsonl", ctx), start=1):
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
    return {"entries": found[:limit], "total": len(found), "failures": shortened(failures, ctx)}


def read(path, ctx):
    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise ctx.Failure("unreadable", f"the reminders cannot be opened: {error.strerror}") from error
    if len(content) > MOST_BYTES:
        ctx.fail("too_large", "there are too many reminders in the file")
    return content.split(b"\n")


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
    if not all(type(value) is kinds[key] for key, value in reminder.items()) or not 0 < reminder["id"] < MOST_NUMBER:
        return None
    if any(is_odd(value) for value in reminder.values()):
        return None
    return reminder | {"overdue": not reminder["done"] and at <= now, "at": at}


def is_odd(value):
    """Half of a pair of code units, which JSON can write and no text holds."""
    return isinstance(value, str) and any("\ud800" <= char <= "\udfff" for char in value)


def wanted(reminder, args, now):
    if args["which"] == "due" and not reminder["overdue"]:
        return False
    if args["which"] == "open" and reminder["done"]:
        return False
    return "within_hours" not in args or reminder["at"] <= now + timedelta(hours=args["within_hours"])


def shortened(failures, ctx):
    """A few failures tell as much as thousands."""
    rest = len(failures) - MOST_FAILURES
    if rest <= 0:
        return failures
    return [*failures[:MOST_FAILURES], ctx.failure("reminders.jsonl", "unreadable", f"and {rest} more such lines")]
