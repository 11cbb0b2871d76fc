"""Makes folders, with their parents. What is there already stays as it is."""

import os

from metnos_kit import targets


def run(args, ctx):
    results, failures = [], []
    for path in dict.fromkeys(args["paths"]):
        there = targets.is_folder(path)
        try:
            if os.path.lexists(path) and not there:
                ctx.fail("exists", "there is a file of this name")
            if not there:
                ctx.make_folder(path)
        except ctx.Failure as error:
            failures.append(ctx.failure(path, error.kind, error.message))
        else:
            results.append({"path": path, "made": not there})
    return {"results": results[: ctx.limit], "total": len(results), "failures": failures}
