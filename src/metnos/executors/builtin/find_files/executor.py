"""Finds files below a folder by name, size, age and kind, without following links."""

import fnmatch
import heapq
import os
import re
import time
from pathlib import Path

from metnos_kit import folders

CPU_S = 3.5  # a call has five seconds; what was found by then is given
WALL_S = 20.0
THOUSANDS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
ORDERS = {
    "path": lambda entry: entry["path"],
    "largest": lambda entry: (-entry["size"], entry["path"]),
    "smallest": lambda entry: (entry["size"], entry["path"]),
    "newest": lambda entry: (-entry["modified"], entry["path"]),
    "oldest": lambda entry: (entry["modified"], entry["path"]),
}


def run(args, ctx):
    if not Path(args["path"]).is_dir():
        ctx.fail("invalid", "`path` is not a folder")
    failures = folders.Failures()
    possible, wanted = name_test(args), conditions(args, ctx.now)
    seen = {"total": 0}

    def matching():
        for child in walk(args["path"], args.get("depth"), args["hidden"], failures, ctx):
            # The name is known already; the rest costs a question to the disk.
            entry = folders.described(child, failures, ctx) if possible(child.name) else None
            if entry is not None and all(holds(entry) for holds in wanted):
                seen["total"] += 1
                yield entry

    limit = min(args.get("limit", ctx.limit), ctx.limit)
    entries = heapq.nsmallest(limit, matching(), key=ORDERS[args["order"]])  # holds no more than it gives
    for entry in entries:
        entry["modified"] = folders.moment(entry["modified"], ctx.now.tzinfo)
    told = folders.shortened(failures, args["path"], "that could not be looked at", ctx)
    return {"entries": entries, "total": seen["total"], "failures": told, "left_out": failures.left_out}


# -- what is wanted


def conditions(args, now):
    """Tests that an entry must pass."""
    tests = []
    if args["kind"] != "any":
        tests.append(lambda entry: entry["kind"] == args["kind"])
    if "min_size" in args:
        least = size_of(args["min_size"])
        tests.append(lambda entry: entry["kind"] == "file" and entry["size"] >= least)
    if "max_size" in args:
        most = size_of(args["max_size"])
        tests.append(lambda entry: entry["kind"] == "file" and entry["size"] <= most)
    if "newer_than_days" in args:
        earliest = now.timestamp() - args["newer_than_days"] * 86400
        tests.append(lambda entry: entry["modified"] >= earliest)
    if "older_than_days" in args:
        latest = now.timestamp() - args["older_than_days"] * 86400
        tests.append(lambda entry: entry["modified"] < latest)
    return tests


def name_test(args):
    if args["pattern"] == "*":
        return lambda _: True
    parts = [part.strip().lower() for part in args["pattern"].split("|")]
    globs = [part if any(char in part for char in "*?[") else f"*{part}*" for part in parts if part]
    compiled = re.compile("|".join(fnmatch.translate(each) for each in globs or ["*"]))
    return lambda name: compiled.match(name.lower()) is not None


def size_of(text):
    """Bytes of a size as a person writes it; the manifest has checked its form."""
    number, unit, binary = re.fullmatch(r" *([0-9.]+) *([kmgt]?)(i?)b? *", text.lower()).groups()
    return int(float(number) * (1024 if binary else 1000) ** THOUSANDS[unit])


# -- the folder


def walk(root, depth, hidden, failures, ctx):
    """Everything below a folder, folder by folder; says in ``failures`` what could not be looked at."""
    started = time.monotonic()
    waiting = [(root, 1)]
    count = 0
    while waiting:
        folder, level = waiting.pop()
        for child in children(folder, failures, ctx):
            count += 1
            if count % 256 == 0 and (time.process_time() > CPU_S or time.monotonic() - started > WALL_S):
                failures.insert(0, ctx.failure(root, "too_large", f"there was time for the first {count} names only"))
                return
            if child.name.startswith(".") and not hidden:
                continue
            if not folders.is_text(child.name):
                failures.append(ctx.failure(folders.shown(child.path), "unreadable", "its name is not valid text"))
                continue
            yield child
            if (depth is None or level < depth) and is_folder(child):
                if is_covered(child, folder):
                    failures.left_out += 1
                else:
                    waiting.append((child.path, level + 1))


def children(folder, failures, ctx):
    try:
        with os.scandir(folder) as found:
            yield from found
    except OSError as error:
        failures.append(ctx.failure(folder, "unreadable", error.strerror or "cannot be opened"))


def is_covered(child, folder):
    """Whether a folder is out of sight for this call."""
    try:
        return folders.is_covered(child.stat(follow_symlinks=False), os.lstat(folder).st_dev)
    except OSError:
        return False


def is_folder(child):
    try:
        return child.is_dir(follow_symlinks=False)
    except OSError:
        return False
