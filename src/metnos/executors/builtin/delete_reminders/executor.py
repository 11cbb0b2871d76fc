"""Deletes reminders by their numbers. Every other line of the file stays as it is, to the byte."""

import json
from pathlib import Path

MOST_BYTES = 4_000_000


def run(args, ctx):
    path = Path(ctx.workspace) / "notes" / "reminders.jsonl"
    wanted = set(args["ids"])
    kept, results = [], []
    for line in read(path, ctx).splitlines(keepends=True):
        reminder = understood(line)
        if reminder is not None and reminder["id"] in wanted:
            told = {key: reminder[key] for key in ("text", "due") if is_text(reminder.get(key))}
            results.append({"id": reminder["id"], **told})
        else:
            kept.append(line)
    missing = sorted(wanted - {result["id"] for result in results})
    failures = [ctx.failure(number, "not_found", f"there is no reminder {number}") for number in missing]
    if results:
        ctx.write(str(path), b"".join(kept), overwrite=True)
    return {"results": results[: ctx.limit], "total": len(results), "failures": failures}


def read(path, ctx):
    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise ctx.Failure("unreadable", f"the reminders cannot be opened: {error.strerror}") from error
    if len(content) > MOST_BYTES:
        ctx.fail("too_large", "there are too many reminders in the file")
    return content


def understood(line):
    """A line as a reminder with a number, or nothing."""
    try:
        reminder = json.loads(line)
        return reminder if type(reminder["id"]) is int else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def is_text(value):
    """Not half of a pair of code units, which JSON can write and no text holds."""
    return isinstance(value, str) and not any("\ud800" <= char <= "\udfff" for char in value)
