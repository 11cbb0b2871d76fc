"""References between steps, such as ``{{step1.entries}}``, ``{{step2.entries[0].path}}`` or ``{{last.entries.path}}``.

``last`` is what the previous turn of the conversation gave. A field after a list means that field of each of its
entries that has it. A value that is one reference becomes whatever it stands for; a reference inside a longer text must
stand for something that can be written as text; a reference to a list within a list puts its elements there.

Rules: what a reference stands for is data and is never read for references again, so no content can smuggle one in. One
that leads nowhere is `ExecutorFailed` of kind ``invalid``. Pure; a plan is followed by these rules, and so is whatever
is compiled from one.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from metnos.core.errors import ExecutorFailed

LAST = "last"
_REF = re.compile(r"\{\{\s*(step([1-9]\d{0,2})|last)((?:\.[A-Za-z_]\w{0,63}|\[\d{1,6}\])*)\s*\}\}")
_PART = re.compile(r"\.(\w+)|\[(\d+)\]")

Replies = Mapping[str, Mapping[str, Any]]  # `step1`, `step2`, ... and `last`


@dataclass(frozen=True, slots=True)
class Ref:
    """One reference: the step, the way into its reply, and how it was written."""

    step: str
    path: tuple[str | int, ...]
    text: str

    @property
    def number(self) -> int:
        """Which step it is; ``last`` lies before the first."""
        return 0 if self.step == LAST else int(self.step.removeprefix("step"))

    @property
    def field(self) -> str:
        """Which field of the step's entries it names; none is empty."""
        named = [part for part in self.path if isinstance(part, str)]
        return named[-1] if len(named) > 1 else ""


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
    """Every reference in a value; one that stands twice comes twice."""
    if isinstance(value, str):
        yield from (_ref(found) for found in _REF.finditer(value))
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from within(each)


def named(value: Any) -> Iterator[str]:
    """Every step that a value refers to, such as ``step1`` or ``last``; one that stands twice comes twice."""
    return (ref.step for ref in within(value))


def resolve(value: Any, replies: Replies) -> Any:
    """The value with every reference filled in. Raises `ExecutorFailed` for one that leads nowhere."""
    if isinstance(value, str):
        ref = whole(value)
        if ref is not None:
            return _look_up(ref, replies)
        return "".join(each if isinstance(each, str) else _as_text(each, replies) for each in pieces(value))
    if isinstance(value, Mapping):
        return {key: resolve(each, replies) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [item for each in value for item in _spread(each, replies)]
    return value


def _spread(value: Any, replies: Replies) -> list[Any]:
    """One element of a list; a reference to a list puts all of its elements there."""
    found = resolve(value, replies)
    return found if whole(value) is not None and isinstance(found, list) else [found]


def _look_up(ref: Ref, replies: Replies) -> Any:
    if ref.step not in replies:
        missing = "there was nothing before" if ref.step == LAST else f"there is no result of {ref.step}"
        raise _nowhere(ref, f"nothing: {missing}")
    value: Any = replies[ref.step]
    for part in ref.path:
        value = _descend(value, part, ref)
    return value


def _descend(value: Any, part: str | int, ref: Ref) -> Any:
    if isinstance(part, int):
        if isinstance(value, list) and part < len(value):
            return value[part]
        raise _nowhere(ref, f"nothing: there is no entry {part}")
    if isinstance(value, Mapping) and part in value:
        return value[part]
    if isinstance(value, list):
        held = [each[part] for each in value if isinstance(each, Mapping) and part in each]
        if held or not value:
            return held
    raise _nowhere(ref, f"nothing: there is no {part!r}")


def _as_text(ref: Ref, replies: Replies) -> str:
    value = _look_up(ref, replies)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str | int | float):
        return str(value)
    raise _nowhere(ref, "more than can be written into a text")


def _nowhere(ref: Ref, what: str) -> ExecutorFailed:
    return ExecutorFailed(f"{ref.text} stands for {what}", kind="invalid")


def _ref(found: re.Match[str]) -> Ref:
    path = tuple(part[1] or int(part[2]) for part in _PART.finditer(found[3]))
    return Ref(found[1], path, found[0])
