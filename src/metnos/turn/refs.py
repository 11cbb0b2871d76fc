"""References between steps, such as ``{{step1.entries}}``, ``{{step2.entries[0].path}}`` or ``{{last.entries.path}}``.

``last`` is what the previous turn of the conversation gave. A field after a list means that field of each of its
entries. A value that is one reference becomes whatever it stands for; a reference inside a longer text must stand for
something that can be written as text.

Rules: what a reference stands for is data and is never read for references again, so no content can smuggle one in.
Knows nothing of executors.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from metnos.core.errors import TurnError

LAST = "last"
_REF = re.compile(r"\{\{\s*(step([1-9]\d{0,2})|last)((?:\.[A-Za-z_]\w{0,63}|\[\d{1,6}\])*)\s*\}\}")
_PART = re.compile(r"\.(\w+)|\[(\d+)\]")
_SCALARS = (str, int, float)

Replies = Mapping[str, Mapping[str, Any]]  # `step1`, `step2`, ... and `last`


def named(value: Any) -> Iterator[str]:
    """Every step that a value refers to, such as ``step1`` or ``last``; one that stands twice comes twice."""
    if isinstance(value, str):
        yield from (found[1] for found in _REF.finditer(value))
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from named(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from named(each)


def fields(value: Any) -> Iterator[tuple[str, str]]:
    """Every step that a value refers to, and which field of its entries; none is empty."""
    if isinstance(value, str):
        for found in _REF.finditer(value):
            named = [part[1] for part in _PART.finditer(found[3]) if part[1]]
            yield found[1], named[-1] if len(named) > 1 else ""
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from fields(each)


def resolve(value: Any, replies: Replies) -> Any:
    """The value with every reference filled in. Raises `TurnError` for one that leads nowhere."""
    if isinstance(value, str):
        whole = _REF.fullmatch(value.strip())
        if whole:
            return _look_up(whole, replies)
        return _REF.sub(lambda found: _as_text(found, replies), value)
    if isinstance(value, Mapping):
        return {key: resolve(each, replies) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [item for each in value for item in _spread(each, replies)]
    return value


def _spread(value: Any, replies: Replies) -> list[Any]:
    """One element of a list; a reference to a list puts all of its elements there."""
    found = resolve(value, replies)
    is_reference = isinstance(value, str) and _REF.fullmatch(value.strip())
    return found if is_reference and isinstance(found, list) else [found]


def _look_up(found: re.Match[str], replies: Replies) -> Any:
    step, path = found[1], found[3]
    if step not in replies:
        missing = "there was nothing before" if step == LAST else f"there is no result of {step}"
        raise TurnError(f"{found[0]} stands for nothing: {missing}")
    value: Any = replies[step]
    for part in _PART.finditer(path):
        value = _descend(value, part, found[0])
    return value


def _descend(value: Any, part: re.Match[str], reference: str) -> Any:
    field, position = part[1], part[2]
    if position is not None:
        if isinstance(value, list) and int(position) < len(value):
            return value[int(position)]
        raise TurnError(f"{reference} stands for nothing: there is no entry {position}")
    if isinstance(value, Mapping) and field in value:
        return value[field]
    if isinstance(value, list):
        held = [each[field] for each in value if isinstance(each, Mapping) and field in each]
        if held or not value:
            return held
    raise TurnError(f"{reference} stands for nothing: there is no {field!r}")


def _as_text(found: re.Match[str], replies: Replies) -> str:
    value = _look_up(found, replies)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, _SCALARS):
        return str(value)
    raise TurnError(f"{found[0]} stands for more than can be written into a text")
