"""The file of reminders: one JSON object on each line, in the notes of the workspace.

Rules: a number is never given twice, not even after its reminder was deleted: beside the reminders lies the greatest
number that was ever deleted. Lines that are no reminders are nobody's to drop. Nothing is written here: the executor
asks ``ctx`` for that. Does not know what a person deletes by hand.
"""

import json
from pathlib import Path
from typing import Any, NoReturn, Protocol

MOST_BYTES = 4_000_000
MOST_NUMBER = 1 << 53  # what other programs can count to
TOO_MANY = "there are too many reminders in the file"


class Context(Protocol):
    """What of ``ctx`` is used here."""

    workspace: str

    def fail(self, kind: str, message: str) -> NoReturn: ...


def file_of(ctx: Context) -> Path:
    """Where the reminders are."""
    return Path(ctx.workspace) / "notes" / "reminders.jsonl"


def last_file_of(ctx: Context) -> Path:
    """Where the greatest number is that was ever deleted."""
    return Path(ctx.workspace) / "notes" / "reminders.last"


def read(ctx: Context, too_many: str = TOO_MANY) -> bytes:
    """The content of the file; nothing if there is none."""
    return _read(file_of(ctx), ctx, too_many)


def _read(path: Path, ctx: Context, too_many: str) -> bytes:
    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return b""
    except OSError as error:
        ctx.fail("unreadable", f"the reminders cannot be opened: {error.strerror}")
    if len(content) > MOST_BYTES:
        ctx.fail("too_large", too_many)
    return content


def understood(line: bytes) -> dict[str, Any] | None:
    """A line as a reminder with a number, or nothing."""
    try:
        reminder = json.loads(line)
        return reminder if type(reminder["id"]) is int else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def greatest(content: bytes) -> int:
    """The greatest number in the content of the file; lines that are no reminders do not count."""
    found = (understood(line) for line in content.splitlines())
    numbers = (reminder["id"] for reminder in found if reminder is not None)
    return max((number for number in numbers if 0 < number < MOST_NUMBER), default=0)


def last_deleted(ctx: Context) -> int:
    """The greatest number that was ever deleted, 0 if none was."""
    content = _read(last_file_of(ctx), ctx, TOO_MANY).strip()
    number = int(content) if content.isdigit() and len(content) <= 16 else 0
    return number if number < MOST_NUMBER else 0


def is_text(value: object) -> bool:
    """Text, and not half of a pair of code units, which JSON can write and no text holds."""
    return isinstance(value, str) and not any("\ud800" <= char <= "\udfff" for char in value)
