"""Puts files and folders into the trash."""

import os
from pathlib import Path

from metnos_kit import targets


def run(args, ctx):
    named = {Path(path) for path in args["paths"]}
    results, failures, trashed = [], [], set()
    # A folder comes before what is in it, which then goes with it.
    for path in sorted(named):
        around = next((parent for parent in path.parents if parent in trashed), None)
        if around is not None:
            results.append({"path": str(path), "inside": str(around)})
            continue
        try:
            if not os.path.lexists(path):
                ctx.fail("not_found", "it is not there")
            kind = "folder" if targets.is_folder(path) else "file"
            ctx.trash(str(path))
        except ctx.Failure as error:
            failures.append(ctx.failure(str(path), error.kind, error.message))
        else:
            trashed.add(path)
            results.append({"path": str(path), "kind": kind})
    return {"results": results[: ctx.limit], "total": len(results), "failures": failures}
