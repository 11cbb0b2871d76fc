"""The content of a turn on its way into the store: made storable, held to a size; and taken out when it must go.

Rules: whatever an executor, a model or a file name brought, recording it never fails: text that is no text is escaped,
numbers that are none become nothing, depth and size are bounded. What was cut says ``cut``. Taking content out leaves
names, numbers and verdicts. Pure.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metnos.core.canon import canonical_json

REPLY_BYTES = 256 * 1024  # of one step: what a person scrolls through in minutes, and a night's work reads in none
PART_BYTES = 64 * 1024  # of arguments, plan, slots, candidates, memories and permits, each
TEXT_CHARS = 64 * 1024  # of a message, an error, a canonical form
GONE = "(forgotten)"  # in the place of a text of which at least its being there stays known

_COUNTS = ("count", "total", "truncated", "failed", "left_out", "cut")
_DEEPEST = 40
_LEAST = 64  # characters that a text keeps even when there is hardly any room
_KEY = 256  # characters of a key
_BITS = 64  # of a whole number; beyond this it counts nothing
_MANY = 5000  # entries
_AROUND = 4  # bytes that JSON puts around a value: quotes, comma, colon
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}|[0-9A-Z]{26}")  # of an executor, a verdict, a kind; or an id
_NAMED = ("executor", "kind", "verdict", "item", "permit")


def text(value: str, most: int = TEXT_CHARS) -> str:
    """Storable, and not longer than so many characters."""
    short = value if len(value) <= most else value[: most - 1] + "…"
    return short.encode("utf-8", "backslashreplace").decode()


def number(value: float) -> float:
    """Storable: SQLite would take what is no number for nothing at all."""
    return float(value) if math.isfinite(value) else 0.0


def mapping(value: Mapping[str, Any], most: int = PART_BYTES) -> str:
    """JSON of at most so many bytes; if not all of it fits, the counts, the beginnings of the rest, and ``cut``."""
    return _held(value, most) or '{"cut":true}'


def sequence(values: Sequence[Any], most: int = PART_BYTES) -> str:
    """JSON of at most so many bytes; if not all of it fits, the beginning."""
    return _held(values, most) or "[]"


# -- taking out


def bare_reply(reply: Mapping[str, Any]) -> dict[str, Any]:
    """How many there were, and nothing of what they were."""
    return {key: reply[key] for key in _COUNTS if isinstance(reply.get(key), int)}


def bare_plan(plan: Mapping[str, Any]) -> dict[str, Any]:
    """Which executors in which order."""
    steps = plan.get("steps")
    names = [_bare(each) for each in steps if isinstance(each, Mapping)] if isinstance(steps, list | tuple) else []
    kept = _bare({key: plan[key] for key in ("kind", "certainty") if key in plan})
    return kept | {"steps": [{"executor": each["executor"]} for each in names if "executor" in each]}


def bare_list(values: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Candidates or permits: names, verdicts and numbers."""
    return [_bare(each) for each in values]


def _bare(value: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: each
        for key, each in value.items()
        if isinstance(each, int | float)
        or (key in _NAMED and isinstance(each, str) and _NAME.fullmatch(each) is not None)
    }


# -- inside


@dataclass(slots=True)
class _Room:
    """How much may still be kept. ``shared``: no text takes more than a quarter of what is left.

    ``cut`` says that something is missing; ``torn``, that it is more than the end of a list.
    """

    left: int
    shared: bool
    cut: bool = False
    torn: bool = False

    @property
    def longest(self) -> int:
        return max(_LEAST, self.left // 4) if self.shared else max(0, self.left)

    def tear(self) -> None:
        self.cut = self.torn = True


def _held(value: Any, most: int) -> str | None:
    """The value as JSON within its size, with as much of it as that allows; nothing if that is nothing."""
    if _may_fit(value):
        whole = _encoded(value)
        if whole is not None and len(whole) <= most:
            return whole.decode()
    for room in _rooms(most):
        made = _plain(value, room, 0)
        if room.cut and isinstance(made, dict):
            made["cut"] = True
        found = canonical_json(made)
        if len(found) <= most and (room.shared or not room.torn):
            return found.decode()
    return None


def _may_fit(value: Any) -> bool:
    """Whether it is worth trying: spares writing out millions of entries only to measure them."""
    parts = value.values() if isinstance(value, Mapping) else value
    return sum(len(part) for part in parts if isinstance(part, list | tuple)) <= _MANY


def _encoded(value: Any) -> bytes | None:
    try:
        return canonical_json(value)
    except (TypeError, ValueError, RecursionError):  # no JSON, not a number, not a text, or without end
        return None


def _rooms(most: int) -> Iterable[_Room]:
    """Ever smaller attempts: in order; a fair share for each text; and less, because characters have several bytes."""
    yield _Room(most * 15 // 16, shared=False)
    for part in (1, 2, 4, 8):
        yield _Room(most // part, shared=True)


def _plain(value: Any, room: _Room, depth: int) -> Any:
    room.left -= _AROUND
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if value.bit_length() <= _BITS else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping | list | tuple):
        if depth == _DEEPEST:
            room.tear()
            return None
        return _table(value, room, depth) if isinstance(value, Mapping) else _list(value, room, depth)
    whole = str(value)
    if len(whole) > room.longest:
        room.tear()
        whole = whole[: room.longest]
    room.left -= len(whole)
    return text(whole, len(whole) + 1)


def _table(value: Mapping[Any, Any], room: _Room, depth: int) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, each in sorted(value.items(), key=_size):
        if room.left <= 0:
            room.tear()
            break
        name = text(str(key), _KEY)
        room.left -= len(name)
        made[name] = _plain(each, room, depth + 1)
    return made


def _size(item: tuple[Any, Any]) -> int:
    """What is short and says most comes first: the counts of a reply, then its failures, then its entries."""
    return len(item[1]) if isinstance(item[1], Mapping | list | tuple) else -1


def _list(value: Sequence[Any], room: _Room, depth: int) -> list[Any]:
    made: list[Any] = []
    for each in value:
        if room.left <= 0:
            room.cut = True
            break
        whole = _encoded(each)
        if whole is not None and len(whole) < room.left and len(whole) <= room.longest:
            room.left -= len(whole) + 1
            made.append(each)
        elif whole is not None and made and len(whole) >= room.left:
            room.cut = True  # the list ends here
            break
        else:
            made.append(_plain(each, room, depth + 1))
    return made
