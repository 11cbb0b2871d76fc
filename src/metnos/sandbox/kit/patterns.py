"""Regular expressions of people, kept from taking for ever.

Rules: a pattern that repeats a repetition with nothing fixed between the rounds is refused; any other says how long a
text it may be tried on, by how many loops within loops it makes of it. A text that is meant literally has no such
bound. Does not bound how many texts are tried: whoever tries them looks at the clock between them.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple, NoReturn, Protocol

REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT)
CATEGORIES = {"DIGIT": r"\d", "NOT_DIGIT": r"\D", "SPACE": r"\s", "NOT_SPACE": r"\S", "WORD": r"\w", "NOT_WORD": r"\W"}
# The longest text that is matched, by how many loops within loops the pattern may make of it.
LONGEST = (20_000, 5_000, 600, 150, 80)


class Context(Protocol):
    """What of ``ctx`` is used here."""

    def fail(self, kind: str, message: str) -> NoReturn: ...


class Refused(ValueError):
    """The pattern is none, or may take for ever; the message goes on from the name of what was refused."""


class Guarded(NamedTuple):
    """A compiled pattern, and the longest text that it may be tried on."""

    search: re.Pattern[str]
    longest: int


def wanted(args: Mapping[str, Any], ctx: Context) -> Guarded:
    """The `pattern` of an executor, by its `regex`, `ignore_case` and, where it has one, `whole_words`."""
    words = {name: args[name] for name in ("regex", "ignore_case", "whole_words") if name in args}
    try:
        return guarded(args["pattern"], **words)
    except Refused as error:
        ctx.fail("invalid", f"`pattern` {error}")


def guarded(text: str, *, regex: bool = True, ignore_case: bool = False, whole_words: bool = False) -> Guarded:
    """The pattern, ready to be tried; `Refused` if it is none or could take for ever."""
    body = text if regex else re.escape(text)
    if whole_words:
        body = rf"(?<!\w)(?:{body})(?!\w)"
    try:
        tree = parser.parse(body)
        compiled = re.compile(body, re.IGNORECASE if ignore_case else 0)
        if not regex:
            return Guarded(compiled, sys.maxsize)
        endless, depth = explodes(tree), loops(tree)
    except (re.error, RecursionError, OverflowError) as error:
        raise Refused(f"is not a regular expression: {error}") from error
    if endless:
        raise Refused("repeats a repetition, which can take for ever: write it with one repetition")
    return Guarded(compiled, LONGEST[min(depth, len(LONGEST) - 1)])


def check_template(words: str, search: re.Pattern[str]) -> None:
    """`Refused` if a replacement names a group that the pattern has not."""
    try:
        parser.parse_template(words, search)
    except (re.error, IndexError, KeyError) as error:
        raise Refused(f"does not fit the pattern: {error}") from error


def explodes(tree: Any) -> bool:
    """Whether a repetition holds another one with nothing fixed between its rounds."""
    for op, value in tree:
        if op in REPEATS and value[1] > 8 and ambiguous(value[2]):
            return True
        if any(explodes(inner) for inner in inside(value)):
            return True
    return False


def inside(value: Any) -> Iterator[Any]:
    """The patterns within a part of a pattern."""
    if isinstance(value, parser.SubPattern):
        yield value
    elif isinstance(value, tuple | list):
        for each in value:
            yield from inside(each)


def flat(tree: Any) -> Iterator[tuple[Any, Any]]:
    """The parts of a sequence, groups opened."""
    for op, value in tree:
        if op is codes.SUBPATTERN:
            yield from flat(value[3])
        else:
            yield op, value


def ambiguous(body: Any) -> bool:
    """Whether one round of a repetition can be read in several ways."""
    parts = list(flat(body))
    loose = [(op, value) for op, value in parts if varies(op, value)]
    fixed = [value for op, value in parts if op is codes.LITERAL]
    return bool(loose) and all(any(holds(op, value, char) for op, value in loose) for char in fixed)


def varies(op: Any, value: Any) -> bool:
    """Whether a part can match in more than one way."""
    if op in REPEATS and value[0] != value[1]:
        return True
    if op is codes.BRANCH:
        firsts = [branch[0] if len(branch) else None for branch in value[1]]
        plain = all(first is not None and first[0] is codes.LITERAL for first in firsts)
        if not plain or len(set(firsts)) != len(firsts):
            return True
    return any(varies(*each) for inner in inside(value) for each in inner)


def loops(tree: Any) -> int:
    """How many unbounded repetitions may each be tried at every length; one that nothing follows never is."""
    parts = list(flat(tree))
    ended, waiting = False, 0
    for place, (op, value) in enumerate(parts):
        after = parts[place + 1] if place + 1 < len(parts) else None
        if op in REPEATS and value[1] > 100 and after is not None:
            closed = after[0] is codes.LITERAL and not holds(op, value, after[1])
            ended, waiting = ended or closed, waiting + (not closed)
        waiting += max((loops(inner) for inner in inside(value)), default=0)
    anchored = bool(parts) and parts[0] == (codes.AT, codes.AT_BEGINNING)
    return max(0, waiting + ended - anchored)


def holds(op: Any, value: Any, char: int) -> bool:
    """Whether a part of a pattern may match this character, in either case."""
    if op is codes.LITERAL:
        return char in (value, ord(chr(value).swapcase()[0]))
    if op is codes.NOT_LITERAL:
        return bool(char != value)
    if op is codes.IN:
        if value[0][0] is codes.NEGATE:
            return not any(member(kind, part, char) for kind, part in value[1:])
        return any(
            member(kind, part, ord(either[0])) for kind, part in value for either in (chr(char), chr(char).swapcase())
        )
    return op is codes.ANY or any(holds(kind, part, char) for inner in inside(value) for kind, part in inner)


def member(op: Any, value: Any, char: int) -> bool:
    """Whether one part of a set stands for this very character."""
    if op is codes.RANGE:
        return bool(value[0] <= char <= value[1])
    if op is codes.CATEGORY:
        return re.fullmatch(CATEGORIES[str(value).removeprefix("CATEGORY_")], chr(char)) is not None
    return bool(value == char)
