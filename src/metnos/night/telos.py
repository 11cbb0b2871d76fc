"""The owner's ends, as TELOS.md has them: what spontaneous proposals are judged against.

An end is a line such as ``- 0.7 Save me time``: a weight between 0 and 1, and words. Rules: the file is the owner's and
is only read. What stands in a comment is not there; headings and prose are passed over. A line that looks like an end
and is none is named in a note, and the others still count; nothing in the file stops anybody. Without an end nothing
spontaneous is proposed, and that is said. Does not guarantee that an end is what the owner wants: only that they wrote
it.
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path

from metnos.core.records import Check

FILE = "TELOS.md"
_MOST_BYTES = 64 * 1024  # a page of ends is a few hundred
_MOST_ENDS = 50  # beyond it nobody weighs any more
_LONGEST = 300  # characters of an end that are read
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LISTED = re.compile(r"\s{0,3}[-*+]\s+(\S+)(.*)")
_FIX = f"Write one into {FILE}, such as: - 0.7 Save me time"
NONE = f"{FILE} names no end with a weight above 0, so nothing is proposed that you did not ask for"


@dataclass(frozen=True, slots=True)
class End:
    """One thing that the owner wants, and how much."""

    weight: float
    text: str


@dataclass(frozen=True, slots=True)
class Telos:
    """All ends, and what could not be read."""

    ends: tuple[End, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing that a proposal could serve."""
        return not any(end.weight > 0 for end in self.ends)


def read(path: Path) -> Telos:
    """The ends in a file; whatever is wrong with it is a note."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return Telos(notes=(f"there is no {FILE}",))
    except OSError as error:
        return Telos(notes=(f"{FILE} cannot be read: {error.strerror}",))
    found = parse(content[:_MOST_BYTES].decode("utf-8", "replace"))
    if len(content) <= _MOST_BYTES:
        return found
    return Telos(found.ends, (*found.notes, f"{FILE} is too long: only its beginning was read"))


def parse(text: str) -> Telos:
    """The ends in a text."""
    ends: list[End] = []
    notes: list[str] = []
    # A comment keeps its line breaks, so that notes name the right line.
    bare = _COMMENT.sub(lambda found: "\n" * found[0].count("\n"), text)
    bare, opened, _ = bare.partition("<!--")
    if opened:
        notes.append(
            f"{FILE}, line {bare.count(chr(10)) + 1}: this comment is never closed, so nothing after it counts"
        )
    for number, content in enumerate(bare.split("\n"), start=1):
        found = _LISTED.match(content)
        if found is None:
            continue
        end, wrong = _end(found[1], found[2])
        if end is None:
            notes.append(f"{FILE}, line {number}: {wrong}")
        elif len(ends) < _MOST_ENDS:
            ends.append(end)
        else:
            notes.append(f"{FILE}, line {number}: more than {_MOST_ENDS} ends cannot be weighed")
            break
    return Telos(tuple(ends), tuple(notes))


def check(path: Path) -> Check:
    """How the owner's ends stand, for the doctor."""
    found = read(path)
    if found.is_empty:
        return Check.yellow("telos", "; ".join((*found.notes, NONE)), _FIX)
    if found.notes:
        return Check.yellow("telos", "; ".join(found.notes), f"Mend {FILE}: - WEIGHT WORDS, the weight from 0 to 1")
    weighty = sum(end.weight > 0 for end in found.ends)
    return Check.green("telos", f"{weighty} ends to judge proposals by" if weighty > 1 else "one end to judge by")


def _end(weight: str, rest: str) -> tuple[End | None, str]:
    """An end, or what is wrong with it."""
    try:
        number = float(weight.replace(",", "."))  # as many write it
    except ValueError:
        return None, "an end begins with its weight, from 0 to 1"
    words = " ".join(rest.split())[:_LONGEST]
    if not math.isfinite(number) or not 0 <= number <= 1:
        return None, "a weight lies between 0 and 1"
    if not any(char.isalpha() for char in words):
        return None, "an end has words after its weight"
    return End(number, words), ""
