"""Lists what is in a folder: names, kinds, sizes and times. Links are shown and not followed."""

import os
import stat
import time
from datetime import UTC, datetime
from pathlib import Path

MOST_NAMES = 100_000  # of one folder: more would not fit into the memory of a call
MOST_FAILURES = 100
CPU_S = 2.5  # how long folders inside are counted; after that their count is left out
ORDERS = {
    "name": lambda entry: (entry["kind"] != "folder", entry["name"].casefold(), entry["name"]),
    "largest": lambda entry: (-entry["size"], entry["name"]),
    "newest": lambda entry: (-entry["modified"], entry["name"]),
    "oldest": lambda entry: (entry["modified"], entry["name"]),
}


def run(args, ctx):
    if not Path(args["path"]).is_dir():
        ctx.fail("invalid", "`path` is not a folder")
    failures = []
    entries = []
    for child in children(args["path"], failures, ctx):
        if child.name.startswith(".") and not args["hidden"]:
            continue
        entry = look(child, failures, ctx)
        if entry is not None and args["kind"] in ("any", entry["kind"]):
            entries.append(entry)
    entries.sort(key=ORDERS[args["order"]])
    given = entries[: min(args.get("limit", ctx.limit), ctx.limit)]
    for entry in given:
        complete(entry, ctx.now.tzinfo)
    return {"entries": given, "total": len(entries), "failures": shortened(failures, args["path"], ctx)}


def children(folder, failures, ctx):
    try:
        with os.scandir(folder) as found:
            for number, child in enumerate(found):
                if number == MOST_NAMES:
                    failures.insert(0, ctx.failure(folder, "too_large", f"only {MOST_NAMES} names were looked at"))
                    return
                yield child
    except OSError as error:
        ctx.fail("unreadable", f"the folder cannot be opened: {error.strerror}")


def look(child, failures, ctx):
    """One name, or nothing if it cannot be told."""
    if shown(child.name) != child.name:
        failures.append(ctx.failure(shown(child.path), "unreadable", "its name is not valid text"))
        return None
    try:
        status = child.stat(follow_symlinks=False)
    except OSError as error:
        failures.append(ctx.failure(child.path, "unreadable", error.strerror or "cannot be looked at"))
        return None
    kind = kind_of(status.st_mode)
    size = status.st_size if kind == "file" else 0
    return {"path": child.path, "name": child.name, "kind": kind, "size": size, "modified": status.st_mtime}


def complete(entry, zone):
    """What is asked for only of those that are given."""
    entry["modified"] = iso(entry["modified"], zone)
    try:
        if entry["kind"] == "link":
            entry["target"] = shown(Path(entry["path"]).readlink())
        elif entry["kind"] == "folder" and time.process_time() < CPU_S:
            with os.scandir(entry["path"]) as found:
                entry["items"] = sum(1 for _ in found)
    except OSError:
        return  # what a closed folder holds is simply not said


def kind_of(mode):
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "link" if stat.S_ISLNK(mode) else "other"


def iso(seconds, zone):
    try:
        return datetime.fromtimestamp(seconds, zone).isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):  # a damaged disk dates files beyond all calendars
        return datetime.fromtimestamp(0, UTC).isoformat()


def shown(path):
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def shortened(failures, path, ctx):
    """A few failures tell as much as thousands."""
    rest = len(failures) - MOST_FAILURES
    if rest <= 0:
        return failures
    return [*failures[:MOST_FAILURES], ctx.failure(path, "unreadable", f"and {rest} more that could not be looked at")]
