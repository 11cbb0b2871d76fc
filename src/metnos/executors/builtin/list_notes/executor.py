"""Lists the notes with their first line, size and time."""

from metnos_kit import folders, notes

HEAD = 4096  # bytes in which the title must be
SHOWN = 200
ORDERS = {
    "name": lambda note: (note["note"].casefold(), note["note"]),
    "newest": lambda note: (-note["modified"], note["note"]),
    "oldest": lambda note: (note["modified"], note["note"]),
}


def run(args, ctx):
    found, failures = [], []
    for path in notes.files_in(ctx.workspace):
        try:
            status = path.lstat()
            title = title_of(path)
        except OSError as error:
            failures.append(ctx.failure(path.stem, "unreadable", error.strerror or "cannot be read"))
            continue
        about = {"note": path.stem, "path": str(path), "title": title}
        found.append(about | {"size": status.st_size, "modified": status.st_mtime})
    found.sort(key=ORDERS[args["order"]])
    entries = found[: min(args.get("limit", ctx.limit), ctx.limit)]
    for entry in entries:
        entry["modified"] = folders.moment(entry["modified"], ctx.now.tzinfo)
    return {"entries": entries, "total": len(found), "failures": failures}


def title_of(path):
    with open(path, "rb") as file:
        lines = file.read(HEAD).decode("utf-8", "replace").splitlines()
    return next((plain[:SHOWN] for line in lines if (plain := line.lstrip("# ").strip())), "")
