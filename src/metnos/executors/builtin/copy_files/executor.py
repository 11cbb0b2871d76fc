"""Copies files and folders into a folder, or one of them to a new name. Nothing is ever replaced."""

import os
from pathlib import Path

MOST_NUMBERS = 10_000


def run(args, ctx):
    sources = list(dict.fromkeys(args["paths"]))
    targets = places(sources, args, ctx)
    results, failures, taken = [], [], set()
    for source in sources:
        target = targets[source]
        try:
            check(source, target, ctx)
            target = free(target, taken, args["keep_both"], ctx)
            ctx.copy(source, target)
        except ctx.Failure as error:
            failures.append(ctx.failure(source, error.kind, error.message))
        else:
            taken.add(target)
            results.append({"path": source, "to": target})
    return {"results": results[: ctx.limit], "total": len(results), "failures": failures}


def places(sources, args, ctx):
    """Where each goes: into the folder `to`, or to the name `to`."""
    to = Path(args["to"])
    if not is_folder(to):
        if os.path.lexists(to):
            ctx.fail("exists", "`to` is a file that is there already: name a folder, or a new name")
        if args["make_folder"]:
            ctx.make_folder(args["to"])
        elif len(sources) > 1:
            ctx.fail("not_found", "the folder `to` is missing: say `make_folder` to make it")
        elif not is_folder(to.parent):
            ctx.fail("not_found", "the folder that `to` would be in is missing")
        else:
            return {sources[0]: args["to"]}
    return {source: str(to / Path(source).name) for source in sources}


def check(source, target, ctx):
    if not os.path.lexists(source):
        ctx.fail("not_found", "it is not there")
    if Path(target) == Path(source):
        ctx.fail("conflict", "it would be a copy onto itself: give it another name")
    if Path(source) in Path(target).parents:
        ctx.fail("conflict", "a folder cannot be copied into itself")


def free(target, taken, numbered, ctx):
    """The target, or where names may get a number the first one that is free."""
    path = Path(target)
    if target not in taken and not os.path.lexists(path):
        return target
    if not numbered:
        ctx.fail("exists", f"there is something called {path.name} already: say `keep_both` to add a number")
    for number in range(2, MOST_NUMBERS):
        other = path.with_name(f"{path.stem} ({number}){path.suffix}")
        if str(other) not in taken and not os.path.lexists(other):
            return str(other)
    raise ctx.Failure("exists", f"there are too many called {path.name} already")


def is_folder(path):
    try:
        return Path(path).is_dir()
    except OSError:  # out of reach is as good as not there: the broker has the last word
        return False
