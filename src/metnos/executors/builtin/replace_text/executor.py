"""Replaces words or matches of a regular expression in text files."""

import codecs
import re
import time
from pathlib import Path
from re import _constants as codes
from re import _parser as parser

MOST_BYTES = 4_000_000  # of one file, before and after
CPU_S = 3.0  # a call has five seconds
BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT)
CATEGORIES = {"DIGIT": r"\d", "NOT_DIGIT": r"\D", "SPACE": r"\s", "NOT_SPACE": r"\S", "WORD": r"\w", "NOT_WORD": r"\W"}
# The longest line that is matched, by how many loops within loops the pattern may make of it.
LONGEST = (20_000, 5_000, 600, 150, 80)


def run(args, ctx):
    search, longest = matcher(args, ctx)
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


def matcher(args, ctx):
    """A compiled pattern, and how long a line it may be tried on."""
    text = args["pattern"] if args["regex"] else re.escape(args["pattern"])
    if args["whole_words"]:
        text = rf"(?<!\w)(?:{text})(?!\w)"
    try:
        tree = parser.parse(text)
        compiled = re.compile(text, re.IGNORECASE if args["ignore_case"] else 0)
    except (re.error, RecursionError, OverflowError) as error:
        ctx.fail("invalid", f"`pattern` is not a regular expression: {error}")
    if args["regex"] and explodes(tree):
        ctx.fail("invalid", "`pattern` repeats a repetition, which can take for ever: write it with one repetition")
    return compiled, LONGEST[min(loops(tree), len(LONGEST) - 1)] if args["regex"] else MOST_BYTES


def replacer(search, args, ctx):
    """What makes the new words from a match."""
    words = args["replacement"]
    if not args["regex"]:
        return lambda _: words
    try:
        parser.parse_template(words, search)
    except (re.error, IndexError, KeyError) as error:
        ctx.fail("invalid", f"`replacement` does not fit the pattern: {error}")
    return lambda found: found.expand(words)


def read_text(path, ctx):
    """The text of a file without any byte order mark, and its encoding."""
    try:
        if not Path(path).is_file():
            ctx.fail("invalid" if Path(path).exists() else "not_found", "not a file" if Path(path).exists() else "gone")
        with open(path, "rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        ctx.fail("unreadable", error.strerror or "cannot be read")
    if len(data) > MOST_BYTES:
        ctx.fail("too_large", f"larger than {MOST_BYTES} bytes; nothing was replaced")
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


# -- regular expressions that would never end


def explodes(tree):
    """Whether a repetition holds another one with nothing fixed between its rounds."""
    for op, value in tree:
        if op in REPEATS and value[1] > 8 and ambiguous(value[2]):
            return True
        if any(explodes(inner) for inner in inside(value)):
            return True
    return False


def inside(value):
    """The patterns within a part of a pattern."""
    if isinstance(value, parser.SubPattern):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from inside(each)


def flat(tree):
    """The parts of a sequence, groups opened."""
    for op, value in tree:
        if op is codes.SUBPATTERN:
            yield from flat(value[3])
        else:
            yield op, value


def ambiguous(body):
    """Whether one round of a repetition can be read in several ways."""
    parts = list(flat(body))
    loose = [(op, value) for op, value in parts if varies(op, value)]
    fixed = [value for op, value in parts if op is codes.LITERAL]
    return bool(loose) and all(any(holds(op, value, char) for op, value in loose) for char in fixed)


def varies(op, value):
    if op in REPEATS and value[0] != value[1]:
        return True
    if op is codes.BRANCH:
        firsts = [branch[0] if len(branch) else None for branch in value[1]]
        plain = all(first is not None and first[0] is codes.LITERAL for first in firsts)
        if not plain or len(set(firsts)) != len(firsts):
            return True
    return any(varies(*each) for inner in inside(value) for each in inner)


def loops(tree):
    """How many unbounded repetitions may each be tried at every length; one that nothing follows never is."""
    parts = list(flat(tree))
    ended = waiting = 0
    for place, (op, value) in enumerate(parts):
        after = parts[place + 1] if place + 1 < len(parts) else None
        if op in REPEATS and value[1] > 100 and after is not None:
            closed = after[0] is codes.LITERAL and not holds(op, value, after[1])
            ended, waiting = ended or closed, waiting + (not closed)
        waiting += max((loops(inner) for inner in inside(value)), default=0)
    anchored = bool(parts) and parts[0] == (codes.AT, codes.AT_BEGINNING)
    return max(0, waiting + ended - anchored)


def holds(op, value, char):
    """Whether a part of a pattern may match this character, in either case."""
    if op is codes.LITERAL:
        return char in (value, ord(chr(value).swapcase()[0]))
    if op is codes.NOT_LITERAL:
        return char != value
    if op is codes.IN:
        if value[0][0] is codes.NEGATE:
            return not any(member(*each, char) for each in value[1:])
        return any(member(*each, ord(either[0])) for each in value for either in (chr(char), chr(char).swapcase()))
    return op is codes.ANY or any(holds(*each, char) for inner in inside(value) for each in inner)


def member(op, value, char):
    """Whether one part of a set stands for this very character."""
    if op is codes.RANGE:
        return value[0] <= char <= value[1]
    if op is codes.CATEGORY:
        return re.fullmatch(CATEGORIES[str(value).removeprefix("CATEGORY_")], chr(char)) is not None
    return value == char
