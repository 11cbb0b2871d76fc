"""References between the steps of a recorded sequence, read the way a turn reads them (``{{step1.entries[0].path}}``).

Rules: the same as in a turn, because what is compiled must do what the turn did: a field after a list is that field of
each of its entries that has it; a value that is one reference becomes whatever it stands for; a reference inside a
longer text must stand for something that can be written as text; a reference to a list within a list puts its elements
there. What a reference stands for is data and is never read for references again.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

LAST = 0  # the number of the step that ``last`` stands for: it lies before the first
_REF = re.compile(r"\{\{\s*(?:step([1-9]\d{0,2})|last)((?:\.[A-Za-z_]\w{0,63}|\[\d{1,6}\])*)\s*\}\}")
_PART = re.compile(r"\.(\w+)|\[(\d+)\]")

Replies = Sequence[Mapping[str, Any]]  # of the first step, the second, ...


class Nowhere(Exception):
    """A reference that stands for nothing; the text is what the owner is told."""


@dataclass(frozen=True, slots=True)
class Ref:
    """One reference: the step, the way into its reply, and how it was written."""

    step: int
    path: tuple[str | int, ...]
    text: str


def whole(value: Any) -> Ref | None:
    """The reference that a value is, if it is one and nothing beside."""
    found = _REF.fullmatch(value.strip()) if isinstance(value, str) else None
    return _ref(found) if found else None


def pieces(text: str) -> Iterator[str | Ref]:
    """A text taken apart into what is written out and what is referred to."""
    at = 0
    for found in _REF.finditer(text):
        if found.start() > at:
            yield text[at : found.start()]
        yield _ref(found)
        at = found.end()
    if at < len(text):
        yield text[at:]


def within(value: Any) -> Iterator[Ref]:
    """Every reference in a value."""
    if isinstance(value, str):
        yield from (_ref(found) for found in _REF.finditer(value))
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from within(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from within(each)


def resolve(value: Any, replies: Replies) -> Any:
    """The value with every reference filled in. Raises `Nowhere`."""
    if isinstance(value, str):
        ref = whole(value)
        if ref is not None:
            return look_up(ref, replies)
        return "".join(each if isinstance(each, str) else _as_text(each, replies) for each in pieces(value))
    if isinstance(value, Mapping):
        return {key: resolve(each, replies) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [item for each in value for item in _spread(each, replies)]
    return value


def look_up(ref: Ref, replies: Replies) -> Any:
    """What a reference stands for. Raises `Nowhere`."""
    if not 0 < ref.step <= len(replies):
        raise Nowhere(f"{ref.text} stands for nothing: there is no result of step{ref.step}")
    value: Any = replies[ref.step - 1]
    for part in ref.path:
        value = _descend(value, part, ref.text)
    return value


def _descend(value: Any, part: str | int, text: str) -> Any:
    if isinstance(part, int):
        if isinstance(value, list) and part < len(value):
            return value[part]
        raise Nowhere(f"{text} stands for nothing: there is no entry {part}")
    if isinstance(value, Mapping) and part in value:
        return value[part]
    if isinstance(value, list):
        held = [each[part] for each in value if isinstance(each, Mapping) and part in each]
        if held or not value:
            return held
    raise Nowhere(f"{text} stands for nothing: there is no {part!r}")


def _spread(value: Any, replies: Replies) -> list[Any]:
    found = resolve(value, replies)
    return found if whole(value) is not None and isinstance(found, list) else [found]


def _as_text(ref: Ref, replies: Replies) -> str:
    value = look_up(ref, replies)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str | int | float):
        return str(value)
    raise Nowhere(f"{ref.text} stands for more than can be written into a text")


def _ref(found: re.Match[str]) -> Ref:
    path = tuple(part[1] or int(part[2]) for part in _PART.finditer(found[2]))
    return Ref(int(found[1] or LAST), path, found[0])
