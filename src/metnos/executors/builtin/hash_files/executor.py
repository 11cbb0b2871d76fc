"""Gives the digests of files, read in pieces for as long as there is time."""

import hashlib
import stat
import time
from pathlib import Path

PIECE = 1 << 18
CPU_S = 4.2  # a call has five seconds, and thirty by the wall clock
WALL_S = 25.0


def run(args, ctx):
    paths = list(dict.fromkeys(args["paths"]))
    limit = min(args.get("limit", ctx.limit), ctx.limit)
    expected = args.get("expected", "").lower()
    found, failures = {}, []
    deadline = time.monotonic() + WALL_S
    for path in sorted(paths[:limit], key=size_of):  # so that a large one takes no time from small ones
        try:
            entry = digest(path, args["algorithm"], deadline, ctx)
        except ctx.Failure as error:
            failures.append(ctx.failure(path, error.kind, error.message))
        except OSError as error:
            failures.append(ctx.failure(path, "unreadable", error.strerror or "cannot be read"))
        else:
            found[path] = entry | ({"matches": entry["digest"] == expected} if expected else {})
    entries = [found[path] for path in paths if path in found]
    return {"entries": entries, "total": len(entries) + max(0, len(paths) - limit), "failures": failures}


def size_of(path):
    try:
        return Path(path).lstat().st_size
    except OSError:
        return 0


def digest(path, algorithm, deadline, ctx):
    mode = Path(path).lstat().st_mode
    if stat.S_ISDIR(mode):
        ctx.fail("invalid", "it is a folder, not a file")
    if not stat.S_ISREG(mode):  # opening a pipe would wait for ever
        ctx.fail("unreadable", "it is not a plain file")
    found, size = hashlib.new(algorithm, usedforsecurity=False), 0
    buffer = memoryview(bytearray(PIECE))  # one for all pieces: a new one each time takes longer than the digest
    with open(path, "rb", buffering=0) as file:
        for count in iter(lambda: file.readinto(buffer), 0):
            found.update(buffer[:count])
            size += count
            if time.process_time() > CPU_S or time.monotonic() > deadline:
                ctx.fail("too_large", f"there was time for {size} bytes of it only")
    return {"path": path, "algorithm": algorithm, "digest": found.hexdigest(), "size": size}
