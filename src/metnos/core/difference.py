"""Differences between texts for a person to read, at a cost that no text can drive up.

Rules: equal beginnings and ends are set aside; of the rest the shortest way from one to the other is sought among at
most `MOST_LINES` lines and `MOST_EDITS` changes, which bounds the time; what is longer or differs more is shown as one
replaced block. Lines end where a program ends them, at a line feed; what else could break or hide a line is shown as a
sign. Long lines are cut, and so is the whole, and both say so. Does not show what differs inside a cut line.
"""

from collections.abc import Iterator, Sequence
from itertools import islice

MOST_LINES = 8000  # of both texts together, equal beginnings and ends apart
MOST_EDITS = 200
LONGEST = 400  # characters of one line
_UNENDED = "\n"  # behind a last line without an end, if the other text has one: no line holds this sign
_SIGNS = str.maketrans(
    {code: chr(0x2400 + code) for code in range(32) if code != 9} | {0x85: "␤", 0x2028: "␤", 0x2029: "␤"}
)

Change = tuple[int, int, int, int]  # from where to where in the one, and in the other


def unified(
    old: str, new: str, names: tuple[str, str], *, around: int = 3, most: int | None = None, longest: int = LONGEST
) -> list[str]:
    """A unified difference, at most ``most`` lines of it; empty if the texts are equal."""
    mark = bool(old and new) and old.endswith("\n") != new.endswith("\n")
    before, after = (_lines(text, _UNENDED if mark else "") for text in (old, new))
    found = changes(before, after)
    if not found:
        return []
    lines = _render(before, after, found, names, around)
    shown = [_cut(line, longest) for line in (lines if most is None else islice(lines, most))]
    left = sum(1 for _ in lines)
    return shown if not left else [*shown[:-1], f"… and {left + 1:,} more lines"]


def _lines(text: str, mark: str) -> list[str]:
    *ended, last = text.split("\n")
    return [*ended, last + mark] if last else ended


def changes(before: Sequence[str], after: Sequence[str]) -> list[Change]:
    """What was replaced by what, in order."""
    first = 0
    while first < min(len(before), len(after)) and before[first] == after[first]:
        first += 1
    last = 0
    while last < min(len(before), len(after)) - first and before[-1 - last] == after[-1 - last]:
        last += 1
    one, other = before[first : len(before) - last], after[first : len(after) - last]
    if not one and not other:
        return []
    if not one or not other or len(one) + len(other) > MOST_LINES:
        found: list[Change] | None = None
    else:
        numbers: dict[str, int] = {}  # equal lines get equal numbers, which are quicker to compare than lines
        found = _shortest(*([numbers.setdefault(line, len(numbers)) for line in each] for each in (one, other)))
    if found is None:
        found = [(0, len(one), 0, len(other))]
    return [(a + first, b + first, c + first, d + first) for a, b, c, d in found]


def _shortest(one: list[int], other: list[int]) -> list[Change] | None:
    """The fewest lines to remove and add, found greedily from both texts' beginnings; none if there are too many."""
    reached = {1: 0}  # on each diagonal, how far in the one
    history: list[dict[int, int]] = []
    for edits in range(MOST_EDITS + 1):
        history.append(dict(reached))
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (
                diagonal != edits and reached.get(diagonal - 1, -1) < reached.get(diagonal + 1, -1)
            )
            here = reached[diagonal + 1] if down else reached[diagonal - 1] + 1
            there = here - diagonal
            while here < len(one) and there < len(other) and one[here] == other[there]:
                here, there = here + 1, there + 1
            reached[diagonal] = here
            if here >= len(one) and there >= len(other):
                return _merge(_trace(history, len(one), len(other)))
    return None


def _trace(history: Sequence[dict[int, int]], here: int, there: int) -> Iterator[Change]:
    """The single steps of the way that was found, from its end to its beginning."""
    for edits in range(len(history) - 1, 0, -1):
        reached, diagonal = history[edits], here - there
        down = diagonal == -edits or (
            diagonal != edits and reached.get(diagonal - 1, -1) < reached.get(diagonal + 1, -1)
        )
        before = diagonal + 1 if down else diagonal - 1
        at = reached[before]
        if down:
            yield at, at, at - before, at - before + 1
        else:
            yield at, at + 1, at - before, at - before
        here, there = at, at - before


def _merge(steps: Iterator[Change]) -> list[Change]:
    found: list[Change] = []
    for a, b, c, d in reversed(list(steps)):
        if found and found[-1][1] == a and found[-1][3] == c:
            found[-1] = (found[-1][0], b, found[-1][2], d)
        else:
            found.append((a, b, c, d))
    return found


def _render(
    before: Sequence[str], after: Sequence[str], found: Sequence[Change], names: tuple[str, str], around: int
) -> Iterator[str]:
    yield f"--- {names[0]}"
    yield f"+++ {names[1]}"
    for hunk in _hunks(found, around):
        start, end = max(0, hunk[0][0] - around), min(len(before), hunk[-1][1] + around)
        there, until = hunk[0][2] - (hunk[0][0] - start), hunk[-1][3] + (end - hunk[-1][1])
        yield f"@@ -{_range(start, end)} +{_range(there, until)} @@"
        at = start
        for a, b, c, d in hunk:
            yield from (f" {line}" for line in islice(before, at, a))
            yield from (f"-{line}" for line in islice(before, a, b))
            yield from (f"+{line}" for line in islice(after, c, d))
            at = b
        yield from (f" {line}" for line in islice(before, at, end))


def _hunks(found: Sequence[Change], around: int) -> Iterator[list[Change]]:
    hunk: list[Change] = []
    for each in found:
        if hunk and each[0] - hunk[-1][1] > 2 * around:
            yield hunk
            hunk = []
        hunk.append(each)
    yield hunk


def _range(start: int, end: int) -> str:
    count = end - start
    return str(start + 1) if count == 1 else f"{start + 1 if count else start},{count}"


def _cut(line: str, longest: int) -> str:
    text = line.removesuffix(_UNENDED).translate(_SIGNS)
    text = text if len(text) <= longest else f"{text[:longest]}… and {len(text) - longest:,} more characters"
    return f"{text} (no end of line)" if line.endswith(_UNENDED) else text
