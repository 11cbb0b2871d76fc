"""Measures a folder and its subfolders. Hidden files count, links are not followed, a file of two names counts once."""

import stat
import time
from pathlib import Path

from metnos_kit import folders

BLOCK = 512
MOST_FOLDERS = 50_000  # told apart
CPU_S = 3.8  # a call has five seconds; what was measured by then is given, and said to be a part
WALL_S = 25.0


def run(args, ctx):
    if not Path(args["path"]).is_dir():
        ctx.fail("invalid", "`path` is not a folder")
    failures = folders.Failures()
    measured = measure(args["path"], args["depth"], failures, ctx)
    whole = measured[0]
    for each in measured:
        each["share"] = round(100 * each["size"] / whole["size"], 1) if whole["size"] else 0.0
    named = [each for each in measured[1:] if folders.is_text(each["path"])]
    odd = [folders.shown(each["path"]) for each in measured[1:] if not folders.is_text(each["path"])]
    failures += [ctx.failure(path, "unreadable", "counted, but its name is not valid text") for path in odd]
    named.sort(key=lambda each: (-each["size"], each["path"]))
    limit = min(args.get("limit", ctx.limit), ctx.limit)
    entries = [whole, *named]
    told = folders.shortened(failures, args["path"], "that could not be measured", ctx)
    return {"entries": entries[:limit], "total": len(entries), "failures": told, "left_out": failures.left_out}


def measure(root, depth, failures, ctx):
    """One record for each folder that is told apart, the root's first."""
    started, seen = time.monotonic(), set()
    measured = [record(root, 0)]
    waiting = [(root, (measured[0],))]  # a folder, and the records that what is in it counts for
    while waiting:
        folder, counted = waiting.pop()
        if time.process_time() > CPU_S or time.monotonic() - started > WALL_S:
            count = measured[0]["files"]
            failures.insert(0, ctx.failure(root, "too_large", f"there was time for {count} files only: it is larger"))
            break
        for child, status in folders.children(folder, failures, ctx, odd=True):
            if not stat.S_ISDIR(status.st_mode):
                weigh(status, counted, seen)
                continue
            for each in counted:
                each["folders"] += 1
            own = ()
            if len(counted) <= depth and len(measured) < MOST_FOLDERS:
                own = (record(child.path, len(counted)),)
                measured += own
            waiting.append((child.path, counted + own))
    return measured


def record(path, level):
    # Of the root of the disk the name is its path.
    name = folders.shown(Path(path).name or path)
    return {"path": path, "name": name, "level": level, "size": 0, "disk": 0, "files": 0, "folders": 0}


def weigh(status, counted, seen):
    if status.st_nlink > 1:
        if (status.st_dev, status.st_ino) in seen:
            return
        seen.add((status.st_dev, status.st_ino))
    size = status.st_size if stat.S_ISREG(status.st_mode) else 0
    for each in counted:
        each["size"] += size
        each["disk"] += status.st_blocks * BLOCK
        each["files"] += 1
