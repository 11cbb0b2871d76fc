"""Replaces words or matches of a regular expression in text files."""

import codecs
import time

from metnos_kit import patterns, texts

MOST_BYTES = 4_000_000  # of one file, before and after
CPU_S = 3.0  # a call has five seconds
BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))


def run(args, ctx):
    search, longest = patterns.wanted(args, ctx)
    replace = replacer(search, args, ctx)
    results, failures = [], []
    for path in dict.fromkeys(args["paths"]):
        try:
            before, encoding = read_text(path, ctx)
            after, replaced, lines = replace_lines(before, search, replace, longest, ctx)
            if not replaced:
                continue
            data = encoded(after, encoding, ctx)
            if after != before:
                ctx.write(path, data, overwrite=True)
                results.append({"path": path, "replaced": replaced, "lines": lines, "encoding": encoding})
        except ctx.Failure as error:
            failures.append(ctx.failure(path, error.kind, error.message))
    return {"results": results, "failures": failures}


def replacer(search, args, ctx):
    """What makes the new words from a match."""
    words = args["replacement"]
    if not args["regex"]:
        return lambda _: words
    try:
        patterns.check_template(words, search)
    except patterns.Refused as error:
        ctx.fail("invalid", f"`replacement` {error}")
    return lambda found: found.expand(words)


def read_text(path, ctx):
    """The text of a file without any byte order mark, and its encoding."""
    data = texts.read(path, MOST_BYTES, ctx, "; nothing was replaced")
    mark, encoding = next((each for each in BOMS if data.startswith(each[0])), (b"", "utf-8"))
    if not mark and b"\0" in data:
        ctx.fail("unreadable", "not a text file")
    try:
        return data.removeprefix(mark).decode(encoding.removesuffix("-sig")), encoding
    except UnicodeDecodeError:
        if mark:
            ctx.fail("unreadable", f"not valid {encoding}")
        return data.decode("latin-1"), "latin-1"


def replace_lines(text, search, replace, longest, ctx):
    """The new text, how many matches were replaced and in how many lines. Line ends stay as they are."""
    made, replaced, touched, size = [], 0, 0, 0
    for number, line in enumerate(text.split("\n")):
        if (number % 64 == 0 or len(line) > 60) and time.process_time() > CPU_S:
            ctx.fail("too_large", "there was not enough time; nothing was replaced")
        if len(line) > longest:
            ctx.fail("too_large", f"line {number + 1} is too long for this pattern; nothing was replaced")
        body, end = (line[:-1], "\r") if line.endswith("\r") else (line, "")
        new, count = search.subn(replace, body)
        replaced, touched, size = replaced + count, touched + (count > 0), size + len(new)
        if size > MOST_BYTES:
            ctx.fail("too_large", f"the new text would be larger than {MOST_BYTES} characters; nothing was replaced")
        made.append(new + end)
    return "\n".join(made), replaced, touched


def encoded(text, encoding, ctx):
    """The text as bytes, in the encoding that the file had."""
    try:
        mark = next((mark for mark, name in BOMS if name == encoding), b"")
        data = mark + text.encode(encoding.removesuffix("-sig"))
    except UnicodeEncodeError:
        ctx.fail("invalid", f"the new text cannot be written as {encoding}, the encoding of this file")
    if len(data) > MOST_BYTES:
        ctx.fail("too_large", f"the new text would be larger than {MOST_BYTES} bytes; nothing was replaced")
    return data
