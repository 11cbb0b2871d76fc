"""What the bot may say and when: splitting, bounding, limits of how often. Pure.

Rules: whatever is sent is plain text and inert: nothing in it is read as markup, no control character and no character
that turns the direction of writing gets through. Lengths are counted as Telegram counts them, in UTF-16 units.
"""

import re
from collections import deque
from dataclasses import dataclass
from datetime import datetime, timedelta

LONGEST = 4096  # UTF-16 units of one message, by the Bot API
_KEPT = "\n\N{ZERO WIDTH JOINER}"  # not printable by Python's word, and harmless: line breaks, and the glue of emoji
_COMMAND = re.compile(r"/([A-Za-z0-9_]{1,32})(?:@(\w{1,64}))?(?:\s+(.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Numbers:
    """How much and how often. None of these stands in a seed; the reason of each stands beside it."""

    parts: int = 8  # messages of one answer: beyond that nobody reads, and Telegram limits floods
    lines: int = 25  # of a preview, which is about a screen of a phone
    line: int = 160  # characters of one line of it
    title: int = 300
    steps: int = 12  # lines of progress
    listed: int = 8  # questions in a list: a row of buttons that a finger can hit
    edit_s: float = 2.0  # between two edits of one message: Telegram allows about one message a second for a chat
    patient_s: float = 1.0  # a turn that is over sooner shows no steps
    stale: timedelta = timedelta(hours=1)  # what was asked longer ago is not done by surprise
    talk: timedelta = timedelta(hours=6)  # after such a silence, "it" and "them" mean nothing of before
    hints: int = 1  # lines that a stranger gets in an hour
    all_hints: int = 20  # that all strangers get together
    tries: int = 5  # codes that a stranger may try in an hour; they are of 128 bits, so this is for quiet
    all_tries: int = 30
    busy: int = 6  # times a minute that a sender hears that something still goes on


NUMBERS = Numbers()


def inert(text: str) -> str:
    """Text without what a client could obey or be misled by: such characters are shown as their number."""
    spaced = text.replace("\t", "    ").replace("\r\n", "\n")
    return "".join(
        char if (char.isprintable() or char in _KEPT) and not _is_half(char) else f"\\x{ord(char):02x}"
        for char in spaced
    )


def one_line(text: str, most: int) -> str:
    """The same in one line, cut: a line break in it could look like a question of ours."""
    line = inert(" ".join(text.split()))
    return line if len(line) <= most else f"{line[: most - 1]}…"


def length(text: str) -> int:
    """How long a text is for Telegram."""
    return len(text.encode("utf-16-le", "replace")) // 2


def split(text: str, longest: int = LONGEST, most: int = NUMBERS.parts) -> list[str]:
    """A text in as many messages as it takes, broken between lines or words where it can be; never an empty one.

    What is beyond ``most`` messages is left out, and the last one says how much that is.
    """
    left = inert(text).strip()
    parts: list[str] = []
    while left and len(parts) < most:
        size = _fitting(left, longest)
        parts.append(left[:size].rstrip())
        left = left[size:].lstrip()
    if left:
        note = f"… {len(left):,} more characters: metnos turns show"
        room = _fitting(parts[-1], longest - length(note) - 1)
        parts[-1] = f"{parts[-1][:room].rstrip()}\n{note}"
    return [part for part in parts if part]


def bounded(text: str, longest: int = LONGEST) -> str:
    """A text in one message, whatever it takes."""
    if length(text) <= longest:
        return text
    return f"{text[: _fitting(text, longest - 1)].rstrip()}…"


def _fitting(text: str, longest: int) -> int:
    """How many characters of a text fit: up to the last line break or blank in its second half, if there is one."""
    if length(text) <= longest:
        return len(text)
    size, used = 0, 0
    for char in text:
        used += 2 if ord(char) > 0xFFFF else 1
        if used > longest:
            break
        size += 1
    for gap in ("\n", " "):
        found = text.rfind(gap, size // 2, size)
        if found > 0:
            return found + 1
    return max(size, 1)


def _is_half(char: str) -> bool:
    """Half a character: it comes from a file name that is no text, and cannot be sent."""
    return 0xD800 <= ord(char) <= 0xDFFF


def command(text: str, bot: str) -> tuple[str, str] | None:
    """The command in a message, in lower case, and what stands behind it; nothing if it is none, or for another bot."""
    found = _COMMAND.fullmatch(text.strip())
    if found is None or (found[2] and found[2].lower() != bot.lower()):
        return None
    return found[1].lower(), (found[3] or "").strip()


class Limiter:
    """How often something happened lately, by key. Remembers a bounded number of keys."""

    def __init__(self, keys: int = 1000) -> None:
        self._keys = keys
        self._times: dict[str, deque[datetime]] = {}

    def allow(self, key: str, now: datetime, most: int, per: timedelta) -> bool:
        """Whether it may happen once more; counts it if so. A clock that is set back forgets what lies ahead."""
        times = self._times.pop(key, deque())
        while times and not now - per < times[0] <= now:
            times.popleft()
        allowed = len(times) < most
        if allowed:
            times.append(now)
        self._times[key] = times  # at the end: what was not heard of for longest goes first
        while len(self._times) > self._keys:
            self._times.pop(next(iter(self._times)))
        return allowed


def pause(failures: int, first_s: float, longest_s: float) -> float:
    """How long to wait after so many failures in a row."""
    return float(min(longest_s, first_s * 2 ** min(max(failures - 1, 0), 16)))
