"""Marks in PLAYBOOK.md: by which the file itself says which of its learned lines Metnos wrote. Pure.

The memory of the playbook knows its lines, but a memory can be lost, or the file moved to another workspace. Then its
lines must not pass for the owner's own words, which are believed whole. So a comment at the end of the learned section
names them by digests of their words; a line that the owner changed has another digest, and is theirs.

Rules: marks are written when lines come or go, and otherwise the file stays as it is, to the byte. A mark is a whole
line. Does not guarantee anything about a file whose marks somebody took out.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from metnos.core.canon import sha256_hex
from metnos.grimoire import playbook_text as texts
from metnos.grimoire.playbook_text import Change, Line, Merged

_SHORT = 12  # letters of a digest: more than enough for a few hundred lines
_IN_A_LINE = 8
_MARK = re.compile(rb"<!-- learnt by Metnos:((?: [0-9a-f]{12})+) -->")
_LOST = "lost"  # before the digest, in the place of the fact that nobody knows any more


def merge(content: bytes, change: Change) -> Merged:
    """As `playbook_text.merge`, with marks for what is Metnos's afterwards."""
    merged = texts.merge(unmarked(content), change)
    if not merged.entered and not merged.left:
        return replace(merged, content=content)
    return replace(merged, content=_marked(merged.content, merged.ours))


def lines_of(content: bytes) -> tuple[Line, ...]:
    """The learned lines that the file says to be Metnos's, each once."""
    marks = {mark for line in content.splitlines() for mark in _marks(line)}
    if not marks:
        return ()
    found: dict[str, Line] = {}
    for item in texts.parse(content).items:
        if (digest := _digest(item.words)) in marks:
            found.setdefault(item.words, Line(f"{_LOST} {digest}", item.strategy, item.words))
    return tuple(found.values())


def unmarked(content: bytes) -> bytes:
    """The file without its marks."""
    return b"".join(line for line in content.splitlines(keepends=True) if not _marks(line))


def without(content: bytes, words: Collection[str]) -> bytes:
    """The file with no mark of these lines."""
    gone = {_digest(each) for each in words}
    made = []
    for line in content.splitlines(keepends=True):
        marks = _marks(line)
        left = [mark for mark in marks if mark not in gone]
        made.append(line if left == marks else b"".join(_written(left, line[len(line.rstrip(b"\r\n")) :])))
    return b"".join(made)


def _marked(content: bytes, ours: Sequence[Line]) -> bytes:
    """The file with marks, at the end of the learned section."""
    place = texts.end_of(content)
    if place is None or not ours:
        return content
    lines = content.splitlines(keepends=True)
    eol = texts.eol_of(content)
    if place and not lines[place - 1].endswith((b"\n", b"\r")):
        lines[place - 1] += eol
    lines[place:place] = _written([_digest(line.words) for line in ours], eol)
    return b"".join(lines)


def _written(marks: Sequence[str], eol: bytes) -> list[bytes]:
    rows = [marks[at : at + _IN_A_LINE] for at in range(0, len(marks), _IN_A_LINE)]
    return [f"<!-- learnt by Metnos: {' '.join(row)} -->".encode() + eol for row in rows]


def _marks(line: bytes) -> list[str]:
    found = _MARK.fullmatch(line.strip())
    return found[1].decode().split() if found else []


def _digest(words: str) -> str:
    return sha256_hex(words.encode("utf-8", "backslashreplace"))[:_SHORT]
