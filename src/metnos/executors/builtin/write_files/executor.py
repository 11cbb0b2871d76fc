"""Makes a text file, or replaces one when asked to."""

import os
from pathlib import Path

from metnos_kit import targets


def run(args, ctx):
    path = Path(args["path"])
    there = os.path.lexists(path)
    if there and (targets.is_folder(path) or path.is_symlink()):
        ctx.fail("exists", "there is something of this name that is no file, and it is not replaced")
    if there and not args["overwrite"]:
        ctx.fail(
            "exists", "there is a file of this name already: say `overwrite` to replace it, or choose another name"
        )
    if not targets.is_folder(path.parent):
        if not args["make_folders"]:
            ctx.fail("not_found", "the folder of the file is missing: say `make_folders` to make it")
        ctx.make_folder(str(path.parent))
    ctx.write(args["path"], args["text"], overwrite=args["overwrite"])
    return {"results": [{"path": args["path"], "bytes": len(args["text"].encode()), "replaced": there}]}
