"""Compares two files byte by byte, or two folders name by name, without following links."""

import difflib
import stat
import time
from collections import deque
from pathlib import Path

from metnos_kit import folders

PIECE = 1 << 18
MOST_TEXT = 200_000  # bytes of a text whose lines are compared
MOST_LINES = 3_000
SHOWN = 500  # characters of a line
MOST_NAMES = 100_000
CPU_S = 3.8
WALL_S = 25.0


def run(args, ctx):
    first, second = Path(args["first"]), Path(args["second"])
    are_folders = first.is_dir(), second.is_dir()
    failures = folders.Failures()
    deadline = time.monotonic() + WALL_S
    if all(are_folders):
        found = compare_folders(first, second, args["equal"], failures, deadline, ctx)
    elif any(are_folders):
        ctx.fail("invalid", "one of the two is a folder and the other is not")
    else:
        found = [compare_two(first, second, args["lines"], deadline, ctx)]
    limit = min(args.get("limit", ctx.limit), ctx.limit)
    told = folders.shortened(failures, args["first"], "that were not compared", ctx, kind="too_large")
    return {"entries": found[:limit], "total": len(found), "failures": told, "left_out": failures.left_out}


# -- two files


def compare_two(first, second, lines, deadline, ctx):
    for path, word in ((first, "first"), (second, "second")):
        if not stat.S_ISREG(path.lstat().st_mode):  # opening a pipe would wait for ever
            ctx.fail("unreadable", f"`{word}` is not a plain file")
    sizes = {"first_size": first.stat().st_size, "second_size": second.stat().st_size}
    entry = {"name": first.name, "path": str(first), "state": "equal", **sizes}
    try:
        offset = first_difference(first, second, deadline, ctx)
        if offset is None:
            return entry
        reason = "size" if sizes["first_size"] != sizes["second_size"] else "content"
        return entry | {"state": "different", "reason": reason, "offset": offset} | difference(first, second, lines)
    except OSError as error:
        raise ctx.Failure("unreadable", f"one of the two cannot be read: {error.strerror}") from error


def first_difference(first, second, deadline, ctx):
    """The position of the first byte that differs, or nothing."""
    position = 0
    left, right = bytearray(PIECE), bytearray(PIECE)  # the same two for all pieces: that is faster than new ones
    with open(first, "rb") as one, open(second, "rb") as other:
        while True:
            # Buffered files fill the piece unless they end.
            counts = one.readinto(left), other.readinto(right)
            shorter = min(counts)
            if left != right and left[:shorter] != right[:shorter]:
                return position + next(place for place in range(shorter) if left[place] != right[place])
            if counts[0] != counts[1]:
                return position + shorter
            if not shorter:
                return None
            position += shorter
            if time.process_time() > CPU_S or time.monotonic() > deadline:
                ctx.fail("too_large", f"there was time for the first {position} bytes only, which are equal")


def difference(first, second, most):
    """The lines that differ, if both are texts that are not too long."""
    texts = [text_of(first), text_of(second)]
    if most == 0 or any(text is None or len(text) > MOST_LINES for text in texts):
        return {}
    lines = []
    for line in difflib.unified_diff(*texts, first.name, second.name, lineterm="", n=1):
        if len(lines) == most:
            return {"difference": "\n".join(lines), "shortened": True}
        lines.append(line[:SHOWN])
    return {"difference": "\n".join(lines), "shortened": False} if lines else {}


def text_of(path):
    if path.stat().st_size > MOST_TEXT:
        return None
    data = path.read_bytes()
    if b"\0" in data:
        return None
    try:
        return data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        return data.decode("latin-1").splitlines()


# -- two folders


def compare_folders(first, second, equal, failures, deadline, ctx):
    left, right = listing(first, failures, ctx), listing(second, failures, ctx)
    found, alone = [], set()
    for name in sorted(left.keys() | right.keys()):  # a folder comes before what is in it
        if name.rpartition("/")[0] in alone:
            alone.add(name)  # said with its folder
            continue
        if name not in right or name not in left:
            alone.add(name)
            state, root = ("only_first", first) if name in left else ("only_second", second)
            found.append({"name": name, "path": str(root / name), "state": state})
            continue
        entry = {"name": name, "path": str(first / name), "state": "equal"}
        try:
            reason = differs(first / name, second / name, left[name], right[name], deadline, ctx)
        except ctx.Failure as error:
            failures.append(ctx.failure(entry["path"], error.kind, error.message))
            continue
        except OSError as error:
            failures.append(ctx.failure(entry["path"], "unreadable", error.strerror or "cannot be read"))
            continue
        if stat.S_ISREG(left[name].st_mode) and stat.S_ISREG(right[name].st_mode):
            entry |= {"first_size": left[name].st_size, "second_size": right[name].st_size}
        if reason == "kind":
            alone.add(name)
        if reason:
            found.append(entry | {"state": "different", "reason": reason})
        elif equal and not stat.S_ISDIR(left[name].st_mode):
            found.append(entry)
    return found


def listing(root, failures, ctx):
    """Everything below a folder by its path in it."""
    found, waiting = {}, deque([""])
    while waiting:
        below = waiting.popleft()
        for child, status in folders.children(root / below, failures, ctx):
            path = f"{below}/{child.name}" if below else child.name
            found[path] = status
            if stat.S_ISDIR(status.st_mode):
                waiting.append(path)
        if len(found) > MOST_NAMES or time.process_time() > CPU_S / 2:
            ctx.fail("too_large", "there are too many files below these folders: compare smaller ones")
    return found


def differs(first, second, one, other, deadline, ctx):
    """In what two things of one name differ, or nothing."""
    if stat.S_IFMT(one.st_mode) != stat.S_IFMT(other.st_mode):
        return "kind"
    if stat.S_ISLNK(one.st_mode):
        return "" if first.readlink() == second.readlink() else "target"
    if not stat.S_ISREG(one.st_mode):
        return ""
    if one.st_size != other.st_size:
        return "size"
    if time.process_time() > CPU_S or time.monotonic() > deadline:
        ctx.fail("too_large", "there was no time to compare it")
    return "" if first_difference(first, second, deadline, ctx) is None else "content"
