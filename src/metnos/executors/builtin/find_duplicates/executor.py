"""Finds files with the same content: those of one size, then of one beginning, then of one digest."""

import fnmatch
import hashlib
import os
import stat
import time
from collections import defaultdict, deque
from pathlib import Path

from metnos_kit import folders

HEAD = 4096
PIECE = 1 << 18
MOST_FILES = 100_000
WALK_CPU_S = 2.0  # a call has five seconds in all
CPU_S = 4.0
WALL_S = 25.0


def run(args, ctx):
    failures = folders.Failures()
    deadline = time.monotonic() + WALL_S
    by_size = defaultdict(list)
    for path, status in unlike(files_of(args, failures, ctx)):
        by_size[status.st_size].append((path, status.st_mtime))
    groups = []
    # The largest first: when the time is up, the most space has been looked at.
    for size in sorted((size for size, found in by_size.items() if len(found) > 1), reverse=True):
        for alike in by_head(by_size[size], failures, ctx):
            if time.process_time() > CPU_S or time.monotonic() > deadline:
                failures.insert(0, ctx.failure(alike[0][0], "too_large", f"no time for files of {size} bytes or less"))
                return reply(groups, args, failures, ctx)
            groups += by_digest(alike, size, failures, deadline, ctx)
    return reply(groups, args, failures, ctx)


def reply(groups, args, failures, ctx):
    groups.sort(key=lambda group: (-group["size"] * (len(group["files"]) - 1), group["files"]))
    entries = []
    for number, group in enumerate(groups, start=1):
        files = sorted(group["files"], key=lambda each: (each[1], each[0]))
        shared = {"size": group["size"], "group": number, "copies": len(files), "first": files[0][0]}
        for path, modified in files[1:] if args["only_extra"] else files:
            times = {"digest": group["digest"], "modified": folders.moment(modified, ctx.now.tzinfo)}
            entries.append({"path": path, **shared, **times})
    limit = min(args.get("limit", ctx.limit), ctx.limit)
    told = folders.shortened(failures, args["paths"][0], "that could not be looked at", ctx)
    return {"entries": entries[:limit], "total": len(entries), "failures": told, "left_out": failures.left_out}


# -- which files


def unlike(files):
    """Each file once, though it may have several names (hard links) or be named twice."""
    seen = set()
    for path, status in files:
        known = (status.st_dev, status.st_ino)
        if known not in seen:
            seen.add(known)
            yield path, status


def files_of(args, failures, ctx):
    count = 0
    waiting = deque(args["paths"])
    while waiting:
        path = waiting.popleft()
        for child, status in look(path, failures, ctx):
            name = os.path.basename(child)  # noqa: PTH119 -- a Path for each of many files would cost seconds
            if child != path and name.startswith(".") and not args["hidden"]:
                continue
            if stat.S_ISDIR(status.st_mode):
                waiting.append(child)
            elif stat.S_ISREG(status.st_mode) and fits(name, status, args):
                count += 1
                yield child, status
        if count > MOST_FILES or time.process_time() > WALK_CPU_S:
            failures.insert(0, ctx.failure(path, "too_large", f"only the first {count} files were looked at"))
            return


def fits(name, status, args):
    patterns = [each.strip() for each in args["pattern"].lower().split("|")]
    return status.st_size >= args["min_bytes"] and any(fnmatch.fnmatchcase(name.lower(), each) for each in patterns)


def look(path, failures, ctx):
    """What is in a folder; or a file itself."""
    try:
        status = Path(path).lstat()
    except OSError as error:
        failures.append(ctx.failure(path, "unreadable", error.strerror or "cannot be opened"))
        return []
    if not stat.S_ISDIR(status.st_mode):
        return [(path, status)]
    return sorted((child.path, inner) for child, inner in folders.children(path, failures, ctx))


# -- which are alike


def by_head(files, failures, ctx):
    """Groups of files of one size that begin alike."""
    heads = defaultdict(list)
    for path, modified in files:
        try:
            with open(path, "rb") as file:
                heads[file.read(HEAD)].append((path, modified))
        except OSError as error:
            failures.append(ctx.failure(path, "unreadable", error.strerror or "cannot be read"))
    return [alike for alike in heads.values() if len(alike) > 1]


def by_digest(files, size, failures, deadline, ctx):
    """Groups of files that are alike to the last byte."""
    digests = defaultdict(list)
    for path, modified in files:
        try:
            digests[digest(path, deadline, ctx)].append((path, modified))
        except ctx.Failure as error:
            failures.append(ctx.failure(path, error.kind, error.message))
        except OSError as error:
            failures.append(ctx.failure(path, "unreadable", error.strerror or "cannot be read"))
    return [{"size": size, "digest": key, "files": alike} for key, alike in digests.items() if len(alike) > 1]


def digest(path, deadline, ctx):
    found = hashlib.sha256()
    buffer = memoryview(bytearray(PIECE))  # one for all pieces: a new one each time takes longer than the digest
    with open(path, "rb", buffering=0) as file:
        for count in iter(lambda: file.readinto(buffer), 0):
            found.update(buffer[:count])
            if time.process_time() > CPU_S or time.monotonic() > deadline:
                ctx.fail("too_large", "there was no time to read all of it")
    return found.hexdigest()
