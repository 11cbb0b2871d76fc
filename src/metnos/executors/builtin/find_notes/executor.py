"""Finds words in the notes: a note must hold all of them, and its lines with any of them are given."""

import time
import unicodedata

from metnos_kit import notes

MOST_BYTES = 2_000_000  # of one note
SHOWN = 400  # characters of a line
CPU_S = 3.5


def run(args, ctx):
    words = [fold(args["words"].strip())] if args["phrase"] else fold(args["words"]).split()
    if not any(words):
        ctx.fail("invalid", "there is no word to find")
    limit = min(args.get("limit", ctx.limit), ctx.limit)
    entries, failures, total = [], [], 0
    # The greatest name first: those of days are named by their date.
    for path in sorted(notes.files_in(ctx.workspace), reverse=True):
        if time.process_time() > CPU_S:
            failures.append(ctx.failure(path.stem, "too_large", "there was no time for this note and those after it"))
            break
        try:
            lines = read_lines(path)
        except OSError as error:
            failures.append(ctx.failure(path.stem, "unreadable", error.strerror or "cannot be read"))
            continue
        found = matches(lines, words)
        total += len(found)
        entries += [{"note": path.stem, "path": str(path), **each} for each in found[: limit - len(entries)]]
    return {"entries": entries, "total": total, "failures": failures}


def read_lines(path):
    with open(path, "rb") as file:
        return file.read(MOST_BYTES).decode("utf-8", "replace").splitlines()


def matches(lines, words):
    folded = [fold(line) for line in lines]
    if not all(any(word in line for line in folded) for word in words):
        return []
    found, heading = [], ""
    for number, (line, plain) in enumerate(zip(lines, folded, strict=True), start=1):
        if any(word in plain for word in words):
            entry = {"line": number, "text": line.strip()[:SHOWN]}
            found.append(entry | ({"heading": heading} if heading else {}))
        if line.startswith("#"):
            heading = line.lstrip("#").strip()[:SHOWN]
    return found


def fold(text):
    """Without capitals and accents."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in apart if not unicodedata.combining(char))
