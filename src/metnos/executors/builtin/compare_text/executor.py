"""Says in which lines two text files differ."""

import difflib
from collections import Counter
from pathlib import Path

from metnos_kit import texts

MOST_BYTES = 4_000_000  # of each file
MOST_PAIRS = 1_500_000  # of equal lines that the search may have to weigh; more would take too long
MOST_TOGETHER = 700_000  # characters of the whole reply
LONGEST = 2_000  # characters of a line that is shown


def run(args, ctx):
    old, new = read_lines(args["old"], ctx), read_lines(args["new"], ctx)
    keys = [[" ".join(line.split()) for line in lines] if args["ignore_blanks"] else lines for lines in (old, new)]
    limit = min(args.get("limit", ctx.limit), ctx.limit)
    entries, total, left = [], 0, MOST_TOGETHER
    for group in differences(*keys, args["context"], ctx):
        total += 1
        if len(entries) < limit and left > 0:
            entry = describe(group, old, new, left)
            left -= len(entry["diff"])
            entries.append(entry)
    return {"entries": entries, "total": total}


def read_lines(path, ctx):
    """The lines with their ends; a file that cannot be read ends the call, for there is nothing to compare then."""
    try:
        return texts.read_text(path, MOST_BYTES, ctx).splitlines(keepends=True)
    except ctx.Failure as error:
        raise ctx.Failure(error.kind, f"{Path(path).name}: {error.message}") from error


def differences(old, new, context, ctx):
    """The places that differ, each as the operations of `difflib`; equal beginnings and ends are set aside first."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    if start == len(old) == len(new):
        return []
    start, end = max(0, start - context), max(0, end - context)
    one, other = old[start : len(old) - end], new[start : len(new) - end]
    often = Counter(other)
    if sum(often[line] for line in one) > MOST_PAIRS:
        ctx.fail("too_large", "the files repeat the same lines too often to be compared in time")
    groups = difflib.SequenceMatcher(None, one, other, autojunk=len(other) > 2000).get_grouped_opcodes(context)
    return [[(tag, *(start + place for place in places)) for tag, *places in group] for group in groups]


def describe(group, old, new, left):
    """One place: where it is, how much changed, and the lines."""
    lines, removed, added = [], 0, 0
    for tag, old_from, old_to, new_from, new_to in group:
        if tag == "equal":
            lines += [" " + shown(line) for line in new[new_from:new_to]]
            continue
        removed, added = removed + old_to - old_from, added + new_to - new_from
        lines += ["-" + shown(line) for line in old[old_from:old_to]]
        lines += ["+" + shown(line) for line in new[new_from:new_to]]
    old_size, new_size = group[-1][2] - group[0][1], group[-1][4] - group[0][3]
    # A place with no lines is named by the line before it, as in every unified diff.
    old_line, new_line = group[0][1] + (old_size > 0), group[0][3] + (new_size > 0)
    head = f"@@ -{old_line},{old_size} +{new_line},{new_size} @@"
    text = "\n".join([head, *lines])
    return {"old_line": old_line, "new_line": new_line, "removed": removed, "added": added, "diff": text[:left]}


def shown(line):
    plain = line.rstrip("\r\n")
    end = "" if line.endswith(("\n", "\r")) else "\n\\ No newline at end of file"
    return plain[:LONGEST] + end
