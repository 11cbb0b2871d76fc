"""Files of long memory as text: where a line that the owner agreed to is put. Pure.

Rules: every byte that was there stays. A line is put where it counts: never within a comment, and in the playbook only
in the part that is written by hand. A line that stands there in the same words is not put there twice.
"""

import re

from metnos.core.errors import UsageError
from metnos.grimoire.playbook_text import parse

PLAYBOOK = "PLAYBOOK.md"
BY_HAND = b"## By hand"
_LEARNED = re.compile(rb"## Learned\s*")
_BULLET = re.compile(r"^\s*[-*+]\s+")


def with_line(file: str, content: bytes | None, words: str) -> bytes:
    """The file with one more point; as it was if it makes that point already."""
    before = content or b""
    if _says(before, words):
        return before
    lines = before.splitlines(keepends=True)
    parsed = parse(before)
    if file != PLAYBOOK:
        place, put = len(lines), [f"- {words}"]
    else:
        place, put = _by_hand(lines, words)
    if place and place - 1 not in parsed.solid:
        raise UsageError(
            f"a comment in {file} is opened and never closed (<!-- without -->): what follows would not count",
            fix="Close it with --> and try again.",
        )
    first = lines[0] if lines else b""
    eol = next((end for end in (b"\r\n", b"\r") if first.endswith(end)), b"\n")
    head = b"".join(lines[:place])
    gap = eol if head and not head.endswith((b"\n", b"\r")) else b""
    made = head + gap + b"".join(line.encode() + eol for line in put) + b"".join(lines[place:])
    if file == PLAYBOOK and [item.words for item in parse(made).items] != [item.words for item in parsed.items]:
        raise UsageError(f"there is no place in {file} for what is written by hand", fix="Add the heading: ## By hand")
    return made


def _says(content: bytes, words: str) -> bool:
    shown = (line.decode("utf-8", "replace") for line in content.splitlines())
    return _plain(words) in {_plain(_BULLET.sub("", line)) for line in shown}


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _by_hand(lines: list[bytes], words: str) -> tuple[int, list[str]]:
    """Before which line of the playbook a point is put, and what is put there."""
    heading = next((place for place, line in enumerate(lines) if line.rstrip() == BY_HAND), None)
    if heading is None:
        learned = next((place for place, line in enumerate(lines) if _LEARNED.fullmatch(line)), len(lines))
        return learned, [BY_HAND.decode(), "", f"- {words}", ""]
    end = next((place for place in range(heading + 1, len(lines)) if lines[place].startswith(b"## ")), len(lines))
    last = next((place for place in range(end - 1, heading, -1) if lines[place].strip()), heading)
    return last + 1, [*([""] if last == heading else []), f"- {words}"]
