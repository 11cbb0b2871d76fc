"""Lists what is in a folder: names, kinds, sizes and times. Links are shown and not followed."""

import os
import time
from pathlib import Path

from metnos_kit import folders

MOST_NAMES = 100_000  # of one folder: more would not fit into the memory of a call
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
    failures = folders.Failures()
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
    told = folders.shortened(failures, args["path"], "that could not be looked at", ctx)
    return {"entries": given, "total": len(entries), "failures": told}


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
    if not folders.is_text(child.name):
        failures.append(ctx.failure(folders.shown(child.path), "unreadable", "its name is not valid text"))
        return None
    return folders.described(child, failures, ctx)


def complete(entry, zone):
    """What is asked for only of those that are given."""
    entry["modified"] = folders.moment(entry["modified"], zone)
    try:
        if entry["kind"] == "link":
            entry["target"] = folders.shown(Path(entry["path"]).readlink())
        elif entry["kind"] == "folder" and time.process_time() < CPU_S:
            with os.scandir(entry["path"]) as found:
                entry["items"] = sum(1 for _ in found)
    except OSError:
        return  # what a closed folder holds is simply not said
