"""What a model replied, as calls: total, so that no reply whatever ends in an exception.

Rules: a reply is data by the planner's schema, or nothing can be done with it; the words that are no tools (`ask`,
`answer`, `missing`) are told apart from the calls; a call that stands there twice counts once, and what refers to the
second then means the first. Texts are bounded, and without characters that nobody sees.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from metnos.context.fence import visible
from metnos.core.canon import canonical_json
from metnos.turn.plan import shape
from metnos.turn.plan.records import Step

MOST_SAID = 4000  # characters of a question or an answer
_MOST_READ = 50  # calls that are looked at at all
_LARGEST, _DEEPEST = 20_000, 20  # characters of the arguments of a step, and how deep they go: a model writes far less
_STEP = re.compile(r"(\{\{\s*step)(\d{1,3})\b")


@dataclass(frozen=True, slots=True)
class Draft:
    """Calls in order, and what was said beside them. ``readable``: it was a reply by the schema at all."""

    steps: tuple[Step, ...] = ()
    ask: str = ""
    answer: str | None = None
    missing: str | None = None
    readable: bool = True
    notes: tuple[str, ...] = field(default=())


def read(data: Any, first: int = 1) -> Draft:
    """A reply as a draft; its steps are numbered from ``first``."""
    listed = data.get("steps") if isinstance(data, Mapping) else None
    if not isinstance(listed, list) or not listed:
        return Draft(readable=False)
    calls = [call for each in listed[:_MOST_READ] if (call := _call(each)) is not None]
    if not calls or not all(name in shape.WORDS or _is_bounded(args) for name, args in calls):
        return Draft(readable=False)
    words = {name: text for name, args in calls if name in shape.WORDS for text in [_text(name, args)]}
    steps, repeated = _once([Step(name, args) for name, args in calls if name not in shape.WORDS], first)
    notes = ("a step that stood there twice is taken once",) if repeated else ()
    if len(steps) > shape.MOST_STEPS:
        return Draft(readable=False, notes=(f"the plan had {len(steps)} steps",))
    return Draft(steps, words.get(shape.ASK, ""), words.get(shape.ANSWER), words.get(shape.MISSING), notes=notes)


def references(value: Any) -> bool:
    """Whether a value holds anything that looks like a reference."""
    if isinstance(value, str):
        return "{{" in value
    if isinstance(value, Mapping):
        return any(references(each) for each in value.values())
    return isinstance(value, Sequence) and any(references(each) for each in value)


def renumbered(value: Any, places: Mapping[int, int]) -> Any:
    """A value whose references follow their steps to new places."""
    if isinstance(value, str):
        return _STEP.sub(lambda found: f"{found[1]}{places.get(int(found[2]), int(found[2]))}", value)
    if isinstance(value, Mapping):
        return {key: renumbered(each, places) for key, each in value.items()}
    if isinstance(value, list):
        return [renumbered(each, places) for each in value]
    return value


def _call(each: Any) -> tuple[str, dict[str, Any]] | None:
    """One step: a table with one key, the tool, and its arguments."""
    if not isinstance(each, Mapping) or len(each) != 1:
        return None
    (name, args), *_ = each.items()
    if not isinstance(name, str):
        return None
    return name, dict(args) if isinstance(args, Mapping) else {}


def _is_bounded(args: Mapping[str, Any]) -> bool:
    """Whether arguments are of a size that a plan can have; everything behind this may take its time over them."""
    return sum(_size(each) for each in args.values()) <= _LARGEST


def _size(value: Any, depth: int = 0) -> int:
    if depth > _DEEPEST:
        return _LARGEST + 1
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Mapping):
        return sum(len(str(key)) + _size(each, depth + 1) for key, each in value.items())
    if isinstance(value, list):
        return len(value) + sum(_size(each, depth + 1) for each in value)
    return 1


def _text(name: str, args: Mapping[str, Any]) -> str:
    said = args.get(shape.WORDS[name], "")
    return visible(said)[:MOST_SAID].strip() if isinstance(said, str) else ""


def _once(steps: Sequence[Step], first: int) -> tuple[tuple[Step, ...], bool]:
    kept: list[Step] = []
    seen: dict[bytes, int] = {}
    places: dict[int, int] = {}
    for number, step in enumerate(steps, start=first):
        moved = Step(step.executor, renumbered(step.args, places))
        key = _key(moved)
        if key not in seen:
            seen[key] = first + len(kept)
            kept.append(moved)
        places[number] = seen[key]
    return tuple(kept), len(kept) < len(steps)


def _key(step: Step) -> bytes:
    try:
        return canonical_json([step.executor, dict(step.args)])
    except (ValueError, TypeError, RecursionError):
        return repr(id(step)).encode()  # no plain JSON: never the same as another; checking refuses it later
