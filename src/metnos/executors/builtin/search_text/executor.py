"""Looks for words or a regular expression in text files, line by line."""

import codecs
import fnmatch
import os
import re
import time
from pathlib import Path
from re import _constants as codes
from re import _parser as parser

MOST_BYTES = 8_000_000  # of one file
MOST_CHARACTERS = 700_000  # of the whole reply
MOST_FILES = 20_000
SHOWN = 400  # characters of a line
CPU_S = 3.0  # a call has five seconds; what was found by then is given
BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT)
CATEGORIES = {"DIGIT": r"\d", "NOT_DIGIT": r"\D", "SPACE": r"\s", "NOT_SPACE": r"\S", "WORD": r"\w", "NOT_WORD": r"\W"}
# The longest line that is matched, by how many loops within loops the pattern may make of it.
LONGEST = (20_000, 5_000, 600, 150, 80)


def run(args, ctx):
    search, longest = matcher(args, ctx)
    limit = min(args.get("limit", ctx.limit), ctx.limit)
    state = {"entries": [], "total": 0, "characters": 0, "limit": limit, "context": args["context"]}
    failures = []
    for path, named in files_of(args["paths"], args["names"], failures, ctx):
        if time.process_time() > CPU_S:
            failures.append(ctx.failure(path, "too_large", "there was no time for this file and those after it"))
            break
        try:
            lines, cut = read_lines(path)
        except UnicodeError as error:
            if named:
                failures.append(ctx.failure(path, "unreadable", str(error)))
            continue
        except OSError as error:
            failures.append(ctx.failure(path, "unreadable", error.strerror or "cannot be read"))
            continue
        if cut:
            failures.append(ctx.failure(path, "too_large", f"only the first {MOST_BYTES} bytes were searched"))
        problem = search_lines(path, lines, search, longest, state)
        if problem:
            failures.append(ctx.failure(path, "too_large", problem))
    return {"entries": state["entries"], "total": state["total"], "failures": failures}


def matcher(args, ctx):
    """A compiled pattern, and how much of a line it may be tried on."""
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


def files_of(paths, names, failures, ctx):
    """Every file to search, and whether it was named itself."""
    left = MOST_FILES
    for path in paths:
        if not Path(path).is_dir():
            yield path, True
            continue
        for folder, folders, files in os.walk(path, onerror=lambda error: failures.append(
            ctx.failure(shown(error.filename), "unreadable", error.strerror or "cannot be opened"))):  # fmt: skip
            folders.sort()
            for name in sorted(files) + [each for each in folders if Path(folder, each).is_symlink()]:
                full = os.path.join(folder, name)
                problem = refused(full)
                if problem:
                    failures.append(ctx.failure(shown(full), *problem))
                elif fnmatch.fnmatch(name, names):
                    left -= 1
                    if left < 0:
                        failures.append(ctx.failure(path, "too_large", f"only {MOST_FILES} files were searched"))
                        return
                    yield full, False


def refused(path):
    """Why a file of a folder is not opened, if so."""
    if shown(path) != path:
        return "unreadable", "its name is not valid text"
    if Path(path).is_symlink():
        return "not_permitted", "a symbolic link: not followed"
    if not Path(path).is_file():
        return "unreadable", "not a plain file"
    return None


def shown(path):
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def read_lines(path):
    """The lines of a text file, and whether it is longer than what was read; UnicodeError if it is no text."""
    with open(path, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    cut, data = len(data) > MOST_BYTES, data[:MOST_BYTES]
    for mark, encoding in BOMS:
        if data.startswith(mark):
            return data.decode(encoding, "replace").splitlines(), cut
    if b"\0" in data[:8192]:
        raise UnicodeError("not a text file")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        # A cut may have parted a character; anything else is an old encoding, which latin-1 reads for searching.
        text = data.decode("utf-8", "ignore") if cut else data.decode("latin-1")
    return text.splitlines(), cut


def search_lines(path, lines, search, longest, state):
    """Adds the matching lines to ``state``; says what was left out."""
    long = 0
    for number, line in enumerate(lines):
        try:
            found = find_in(line, number, search, longest)
        except TimeoutError:
            return f"there was no time for the lines from {number + 1} on"
        long += len(line) > longest
        if found is None:
            continue
        state["total"] += 1
        if len(state["entries"]) < state["limit"] and state["characters"] < MOST_CHARACTERS:
            entry = make_entry(path, lines, number, found, state["context"])
            state["characters"] += sum(map(len, (entry["path"], entry["text"], *entry["before"], *entry["after"])))
            state["entries"].append(entry)
    pieces = f"{long} lines were searched in pieces: a match of more than {longest // 2} characters may be missing"
    return pieces if long else ""


def find_in(line, number, search, longest):
    """The first match in a line; a long line is searched in pieces that overlap by half."""
    start = 0
    while True:
        if (number % 64 == 0 or len(line) > 60) and time.process_time() > CPU_S:
            raise TimeoutError
        end = start + longest
        found = search.search(line, start, end)
        # What touches the end of a piece may be an illusion ($ matches there), or go on: the next piece will tell.
        if end >= len(line) or (found and found.end() < end):
            return found
        start += longest // 2


def make_entry(path, lines, number, found, around):
    start = max(0, found.start() - SHOWN // 2)  # a long line is shown around the match
    return {
        "path": path,
        "line": number + 1,
        "column": found.start() + 1,
        "text": lines[number][start : start + SHOWN],
        "match": found.group()[:SHOWN],
        "before": [line[:SHOWN] for line in lines[max(0, number - around) : number]],
        "after": [line[:SHOWN] for line in lines[number + 1 : number + 1 + around]],
    }


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
