"""Renames several files where they are. Either no two names collide, or nothing is renamed at all."""

import os
import re
import time
from collections import Counter
from pathlib import Path

from metnos_kit import patterns

CPU_S = 3.0  # a call has five seconds


def run(args, ctx):
    sources = list(dict.fromkeys(args["paths"]))
    failures = [ctx.failure(path, "not_found", "it is not there") for path in sources if not os.path.lexists(path)]
    missing = {failure["item"] for failure in failures}
    there = [path for path in sources if path not in missing]
    targets = plan(there, args, ctx)
    moving = {source: target for source, target in targets.items() if source != target}
    refuse_collisions(moving, ctx)
    done = {}
    for source in in_order(moving, ctx):
        # What waits for a name that could not be given up fails in its turn, by itself.
        try:
            ctx.move(source, moving[source])
            done[source] = moving[source]
        except ctx.Failure as error:
            failures.append(ctx.failure(source, error.kind, error.message))
    results = [
        {"path": source, "to": target, "changed": source in done}
        for source, target in targets.items()
        if source in done or source == target
    ]
    return {"results": results[: ctx.limit], "total": len(results), "failures": failures}


def plan(paths, args, ctx):
    """The new path of each."""
    pattern, longest = patterns.wanted(args, ctx)
    targets, number = {}, args["start"]
    width = len(str(args["start"] + len(paths) - 1))  # so that they sort as they count
    for path in paths:
        name = Path(path).name
        if len(name) > longest:
            ctx.fail("too_large", f"{name} is too long for this pattern, so nothing was renamed")
        if time.process_time() > CPU_S:
            ctx.fail("too_large", "there was not enough time to find all names, so nothing was renamed")
        if pattern.search(name) is None:
            targets[path] = path
            continue
        counted = args["replacement"].replace("{n}", str(number).zfill(width))
        number += 1
        try:
            new = pattern.sub(counted if args["regex"] else lambda _, text=counted: text, name)
        except (re.error, IndexError) as error:
            ctx.fail("invalid", f"`replacement` does not fit `pattern`: {error}")
        targets[path] = str(Path(path).parent / checked(new, name, ctx))
    return targets


def checked(new, old, ctx):
    if not new.strip() or new in (".", "..") or "/" in new or "\0" in new:
        ctx.fail("invalid", f"{old} would get the name {new!r}, which is none")
    if len(new.encode()) > 255:
        ctx.fail("invalid", f"{old} would get a name that is too long")
    return new


def refuse_collisions(moving, ctx):
    """Nothing is renamed while any two would meet."""
    counts = Counter(moving.values())
    twice = sorted(Path(target).name for target, count in counts.items() if count > 1)
    if twice:
        ctx.fail("conflict", f"several would get the same name, so nothing was renamed: {listed(twice)}")
    taken = sorted(
        Path(target).name
        for source, target in moving.items()
        # Another spelling of its own name (A.txt, a.txt) is the same file on some disks: the move itself will tell.
        if target not in moving and target.casefold() != source.casefold() and ctx.look(target)["kind"] != "missing"
    )
    if taken:
        ctx.fail("exists", f"these names are taken, so nothing was renamed: {listed(taken)}")


def in_order(moving, ctx):
    """Each after the one whose name it takes."""
    waiting, order = dict(moving), []
    while waiting:
        ready = [source for source, target in waiting.items() if target not in waiting]
        if not ready:
            ctx.fail("conflict", f"these would change names in a circle, so nothing was renamed: {listed(waiting)}")
        order += ready
        for source in ready:
            del waiting[source]
    return order


def listed(names):
    names = [Path(name).name for name in names]
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
