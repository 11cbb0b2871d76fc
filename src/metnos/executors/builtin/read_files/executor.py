"""Reads the text of files, whole or a range of lines, with a limit on what is given and on what is gone through."""

import stat
import time
from pathlib import Path

from metnos_kit import texts

MOST_CHARACTERS = 600_000  # of the whole reply, which has eight megabytes and may need twelve bytes for one character
MOST_SKIPPED = 64_000_000  # characters gone through to reach a line
PIECE = 65_536
CPU_S = 3.5


def run(args, ctx):
    if args.get("to_line", args["from_line"]) < args["from_line"]:
        ctx.fail("invalid", "`to_line` comes before `from_line`")
    paths = list(dict.fromkeys(args["paths"]))
    limit = min(args.get("limit", ctx.limit), ctx.limit)
    entries, failures, left = [], [], MOST_CHARACTERS
    for path in paths[:limit]:
        if left <= 0 or time.process_time() > CPU_S:
            failures.append(ctx.failure(path, "too_large", "the files before it have filled the reply"))
            continue
        try:
            entry = read(path, args, min(args["max_chars"], left), ctx)
        except ctx.Failure as error:
            failures.append(ctx.failure(path, error.kind, error.message))
        except OSError as error:
            failures.append(ctx.failure(path, "unreadable", error.strerror or "cannot be read"))
        else:
            left -= len(entry["text"])
            entries.append(entry)
    return {"entries": entries, "total": len(entries) + max(0, len(paths) - limit), "failures": failures}


def read(path, args, most, ctx):
    status = Path(path).lstat()
    if stat.S_ISDIR(status.st_mode):
        ctx.fail("invalid", "it is a folder, not a file")
    if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for ever
        ctx.fail("unreadable", "it is not a plain file")
    with open(path, "rb") as file:
        head = file.read(PIECE)
    first, last = args["from_line"], args.get("to_line")
    for encoding in encodings(head, ctx):
        try:
            text, lines, more = cut_out(path, encoding, first, last, most, ctx)
        except UnicodeError:
            continue
        return {"path": path, "text": text, "from_line": first, "lines": lines, "more": more,
                "encoding": encoding, "size": status.st_size}  # fmt: skip
    raise ctx.Failure("unreadable", "it is not text in the encoding that it claims")


def encodings(head, ctx):
    """What to try, in this order."""
    marked = texts.marked(head)
    if marked:
        return [marked]
    if b"\0" in head:
        ctx.fail("unreadable", "it is not a text file")
    return ["utf-8", "latin-1"]


def cut_out(path, encoding, first, last, most, ctx):
    """The text from one line to another, how many lines that is, and whether there is more."""
    number, parts, length, skipped = 1, [], 0, 0
    # Line ends stay as they are, so that what is read can be written back.
    with open(path, encoding=encoding, newline="") as file:
        for piece in iter(lambda: file.readline(PIECE), ""):
            ends = piece.endswith(("\n", "\r"))
            if last is not None and number > last:
                return "".join(parts), number - first, True
            if number >= first:
                parts.append(piece[: most - length])
                length += len(parts[-1])
                if len(parts[-1]) < len(piece) or (length == most and file.read(1)):
                    return "".join(parts), number - first + 1, True
            else:
                skipped += len(piece)
                if skipped > MOST_SKIPPED or time.process_time() > CPU_S:
                    ctx.fail(
                        "too_large", f"line {first} is too far down: line {number} was reached in the time there is"
                    )
            number += ends
            unfinished = not ends
    if not parts:
        if first > 1:
            ctx.fail("not_found", f"it has no line {first}")
        return "", 0, False
    return "".join(parts), number - first + unfinished, False
