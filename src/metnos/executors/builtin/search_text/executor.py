"""Looks for words or a regular expression in text files, line by line."""

import fnmatch
import os
import time
from pathlib import Path

from metnos_kit import folders, patterns, texts

MOST_BYTES = 8_000_000  # of one file
MOST_CHARACTERS = 700_000  # of the whole reply
MOST_FILES = 20_000
SHOWN = 400  # characters of a line
CPU_S = 3.0  # a call has five seconds; what was found by then is given


def run(args, ctx):
    search, longest = patterns.wanted(args, ctx)
    limit = min(args.get("limit", ctx.limit), ctx.limit)
    state = {"entries": [], "total": 0, "characters": 0, "limit": limit, "context": args["context"]}
    failures = folders.Failures()
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
    return {"entries": state["entries"], "total": state["total"], "failures": failures, "left_out": failures.left_out}


def files_of(paths, names, failures, ctx):
    """Every file to search, and whether it was named itself."""

    def unopened(error):
        message = error.strerror or "cannot be opened"
        failures.append(ctx.failure(folders.shown(error.filename), "unreadable", message))

    left = MOST_FILES
    for path in paths:
        if not Path(path).is_dir():
            yield path, True
            continue
        for folder, inner, files in os.walk(path, onerror=unopened):
            covered = covered_in(folder, (*inner, *files))
            failures.left_out += len(covered)
            inner[:] = sorted(set(inner) - covered)
            files = set(files) - covered
            for name in sorted(files) + [each for each in inner if Path(folder, each).is_symlink()]:
                full = os.path.join(folder, name)
                problem = refused(full)
                if problem:
                    failures.append(ctx.failure(folders.shown(full), *problem))
                elif any(fnmatch.fnmatch(name, each.strip()) for each in names.split("|")):
                    left -= 1
                    if left < 0:
                        failures.append(ctx.failure(path, "too_large", f"only {MOST_FILES} files were searched"))
                        return
                    yield full, False


def covered_in(folder, names):
    """Which of these names are out of sight for this call."""
    covered = set()
    for name in names:
        try:
            if folders.is_covered(os.lstat(os.path.join(folder, name)), os.lstat(folder).st_dev):
                covered.add(name)
        except OSError:
            continue
    return covered


def refused(path):
    """Why a file of a folder is not opened, if so."""
    if not folders.is_text(path):
        return "unreadable", "its name is not valid text"
    if Path(path).is_symlink():
        return "not_permitted", "a symbolic link: not followed"
    if not Path(path).is_file():
        return "unreadable", "not a plain file"
    return None


def read_lines(path):
    """The lines of a text file, and whether it is longer than what was read; UnicodeError if it is no text."""
    with open(path, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    cut, data = len(data) > MOST_BYTES, data[:MOST_BYTES]
    if not texts.is_text(data[: texts.HEAD]):
        raise UnicodeError("not a text file")
    return texts.decoded(data, cut)[0].splitlines(), cut


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
