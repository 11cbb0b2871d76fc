"""Counts lines, words and characters of texts."""

import codecs
import re
import time
from collections import Counter
from pathlib import Path

from metnos_kit import texts

PIECE = 1 << 20  # bytes read at a time
MOST_DISTINCT = 200_000  # words that are counted each for itself
CPU_S = 3.5  # a call has five seconds
WORD = re.compile(r"\w+(?:['\u2019-]\w+)*")
PARTED = re.compile(r"[\w'\u2019-]{1,200}\Z")  # a word that the next piece may go on with


def run(args, ctx):
    limit = min(args.get("limit", ctx.limit), ctx.limit)
    entries, failures, total = [], [], 0
    if "text" in args:
        total, data = 1, args["text"].encode("utf-8", "replace")
        entries.append(count([data], "utf-8", args, ctx))
    for path in args.get("paths", []):
        if len(entries) >= limit:
            total += 1
            continue
        try:
            entries.append({"path": path, **count_file(path, args, ctx)})
            total += 1
        except ctx.Failure as error:
            failures.append(ctx.failure(path, error.kind, error.message))
        except OSError as error:
            failures.append(ctx.failure(path, "unreadable", error.strerror or "cannot be read"))
    return {"entries": entries, "total": total, "failures": failures}


def count_file(path, args, ctx):
    if not Path(path).is_file():
        ctx.fail("invalid", "not a file")
    with open(path, "rb") as file:
        start = file.read(texts.HEAD)
    encoding = texts.marked(start) or "utf-8"
    if not texts.is_text(start):
        ctx.fail("unreadable", "not a text file")
    try:
        return count(pieces(path), encoding, args, ctx)
    except UnicodeDecodeError:
        if encoding != "utf-8":
            ctx.fail("unreadable", f"not valid {encoding}")
        return count(pieces(path), "latin-1", args, ctx)


def pieces(path):
    with open(path, "rb") as file:
        while piece := file.read(PIECE):
            yield piece


def count(data, encoding, args, ctx):
    """The numbers of one text, which comes in pieces of bytes."""
    decoder = codecs.getincrementaldecoder(encoding)()
    frequent, every_word = Counter(), True
    size = lines = words = characters = 0
    waiting, last = "", "\n"
    for piece in chained(data):
        if time.process_time() > CPU_S:
            ctx.fail("too_large", "there was not enough time to count it")
        text = decoder.decode(piece, final=not piece)
        size, characters, lines = size + len(piece), characters + len(text), lines + text.count("\n")
        last = text[-1:] or last
        text = waiting + text
        parted = PARTED.search(text[-200:]) if piece else None
        waiting = parted[0] if parted else ""
        found = WORD.findall(text.removesuffix(waiting))
        words += len(found)
        every_word &= note(frequent, found, args["least_letters"])
    return {
        "lines": lines + (last != "\n"),
        "words": words,
        "characters": characters,
        "bytes": size,
        "encoding": encoding,
        "every_word": every_word,
        "frequent": [{"word": word, "count": times} for word, times in ranked(frequent, args["top"])],
    }


def chained(data):
    """The pieces, and an empty one that says it was the last."""
    yield from data
    yield b""


def note(frequent, found, least):
    """Adds words to the table; says whether all found a place there."""
    long = [word.lower()[:60] for word in found if len(word) >= least and not word.isdecimal()]
    if len(frequent) < MOST_DISTINCT:
        frequent.update(long)
        return True
    known = [word for word in long if word in frequent]
    frequent.update(known)
    return len(known) == len(long)


def ranked(frequent, top):
    return sorted(frequent.items(), key=lambda pair: (-pair[1], pair[0]))[:top]
