"""The audit's files as they lie on the disk: one a month, read here and nowhere else.

Rules: files are named ``YYYY-MM.jsonl`` and read in that order; reading changes nothing. `after_head` tells what a
killed process or a foreign hand left behind the last line that the store knows of.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metnos.core.errors import AuditError
from metnos.law.audit_line import GENESIS, AuditLine, parse

_NUMBER = re.compile(rb'"seq":(\d{1,16})')
_MONTH = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])", re.ASCII)
_FILE = re.compile(rf"({_MONTH.pattern})\.jsonl", re.ASCII)
_HASH = re.compile(r"[0-9a-f]{64}")
MOST_LINES = 1 << 52  # of a log: some room below the largest number that a line can have


@dataclass(frozen=True, slots=True)
class Head:
    """The last line that was acknowledged, how long its file was after it, and the agent's signature over that."""

    seq: int
    hash: str
    month: str
    size: int
    signature: str = ""

    def message(self) -> bytes:
        return f"{self.seq}:{self.hash}:{self.month}:{self.size}".encode()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a line stands."""

    file: str
    number: int

    def __str__(self) -> str:
        return f"{self.file}:{self.number}"


@dataclass(frozen=True, slots=True)
class Tail:
    """What stands behind the head: whole lines that follow from it, and where the last of them ends.

    ``torn`` is the length of a last line without its end, which a killed writer leaves; ``foreign`` says that there is
    something else there, and ``lost`` that the file is shorter than the store remembers.
    """

    lines: tuple[AuditLine, ...]
    month: str
    size: int
    torn: int
    foreign: bool
    lost: bool


@dataclass(frozen=True, slots=True)
class Look:
    """The log at one moment: the head that the store remembers, what stands behind it, and how far each file goes.

    Files only ever grow, so whoever reads just that far sees that moment, however much is written meanwhile. To be
    taken while nobody writes: a line that is being written would look like one that a killed writer left.
    """

    remembered: Head | None
    head: Head | None
    tail: Tail | None
    sizes: Mapping[str, int]


def path_of(folder: Path, month: str) -> Path:
    """The file of a month; what is none must never become part of a path."""
    if not _MONTH.fullmatch(month):
        raise AuditError(f"the audit has no month {month[:32]!r}", fix="metnos audit verify")
    return folder / f"{month}.jsonl"


def read_row(row: Sequence[Any]) -> Head | None:
    """The head that a row of the store is; nothing if no audit can have written it."""
    seq, digest, month, size, signature = row
    numbers = all(type(each) is int and 0 <= each <= MOST_LINES for each in (seq, size))
    words = all(isinstance(each, str) for each in (digest, month, signature))
    if not numbers or not words or seq < 1 or not _HASH.fullmatch(digest) or not _MONTH.fullmatch(month):
        return None
    return Head(seq, digest, month, size, signature)


def months(folder: Path) -> list[str]:
    """The months that have a file, in order."""
    if not folder.is_dir():
        return []
    found = (_FILE.fullmatch(path.name) for path in folder.iterdir() if path.is_file())
    return sorted(match.group(1) for match in found if match)


def raw_lines(content: bytes) -> Iterator[bytes]:
    """The lines of a file with their ends; bytes behind the last end come as a last, unfinished line."""
    start = 0
    while start < len(content):
        end = content.find(b"\n", start)
        end = len(content) if end < 0 else end + 1
        yield content[start:end]
        start = end


def backwards(folder: Path, before: int | None = None) -> Iterator[AuditLine]:
    """Every readable line, or every one with a number below ``before``, the newest first."""
    for month in reversed(months(folder)):
        for raw in reversed(list(raw_lines(path_of(folder, month).read_bytes()))):
            if before is not None and _number(raw) >= before:
                continue  # reading a line whole costs thirty times as much
            line = parse(raw, month)
            if line is not None:
                yield line


def _number(raw: bytes) -> int:
    """The number that a line says it has, without looking any closer; 0 if it says none."""
    found = _NUMBER.search(raw, max(0, raw.rfind(b'"seq":')))
    return int(found[1]) if found else 0


def ends_with(folder: Path, head: Head) -> bool:
    """Whether the file of the last line is as long as it was then; costs no more than asking for its size."""
    try:
        return path_of(folder, head.month).stat().st_size == head.size
    except OSError:
        return False


def after_head(folder: Path, head: Head) -> Tail:
    """What stands in the files behind ``head``."""
    path = path_of(folder, head.month)
    size = path.stat().st_size if path.exists() else 0
    # Every append comes through here, so the names are only looked at closely when one of them is later.
    names = os.listdir(folder) if folder.is_dir() else []  # noqa: PTH208 -- as above: no object for each name
    later = [month for month in months(folder) if month > head.month] if max(names, default="") > path.name else []
    if size == head.size and not later:
        return Tail((), head.month, size, 0, foreign=False, lost=False)
    if size < head.size:
        return Tail((), head.month, size, 0, foreign=False, lost=True)
    return _follow(folder, head, [head.month, *later])


def look(folder: Path, remembered: Head | None) -> Look:
    """Look at the log; costs no more than asking for the files' sizes, whatever their length."""
    head = remembered or beginning(folder)
    sizes = {month: path_of(folder, month).stat().st_size for month in months(folder)}
    tail = after_head(folder, head) if head else None
    if tail and tail.torn:
        sizes[tail.month] = tail.size
    return Look(remembered, head, tail, sizes)


def beginning(folder: Path) -> Head | None:
    """The head of a log whose very first line was being written when its writer was killed, and nothing otherwise.

    A store that knows of no line is new or was lost; only in the first case is there at most one line, and no other.
    """
    first = next(iter(months(folder)), None)
    if first is None:
        return None
    head = Head(0, GENESIS, first, 0)
    tail = after_head(folder, head)
    return head if len(tail.lines) <= 1 and not tail.foreign else None


def _follow(folder: Path, head: Head, names: list[str]) -> Tail:
    lines: list[AuditLine] = []
    seq, digest, month, size = head.seq, head.hash, head.month, head.size
    for name in names:
        content = path_of(folder, name).read_bytes()
        position = head.size if name == head.month else 0
        for raw in raw_lines(content[position:]):
            line = parse(raw, name)
            if line is None or (line.seq, line.prev) != (seq + 1, digest):
                last = name == names[-1] and position + len(raw) == len(content)
                torn = len(raw) if last and not raw.endswith(b"\n") else 0
                return Tail(tuple(lines), name, position, torn, foreign=not torn, lost=False)
            position += len(raw)
            lines.append(line)
            seq, digest, month, size = line.seq, line.hash, name, position
    return Tail(tuple(lines), month, size, 0, foreign=False, lost=False)
