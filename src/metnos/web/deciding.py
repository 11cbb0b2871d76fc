"""A question of the inbox as the page lays it out: its parts in groups, what a yes is called, and what can be edited.

Rules: pure. What a question says, and in which order, is the API's; here is only how that stands on a page.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from metnos.web import words

_YES = {
    "act": "Yes, do it",
    "direction": "Yes, learn it",
    "activation": "Let it live",
    "adoption": "Sign it",
    "memory": "Yes, remember it",
    "archival": "Yes, let it go",
    "dormancy": "Yes, put it away",
    "extinction": "Yes, revoke it",
    "skill": "Yes, remember it",
    "default": "Yes, work so",
}
_CODE = "executor.py"


@dataclass(frozen=True, slots=True)
class Question:
    """A question; ``field`` and ``text`` are what of it can be edited, if anything."""

    id: str
    kind: str
    yes: str
    waits: bool
    second: bool  # whether the next yes is the second one
    groups: tuple[tuple[Mapping[str, Any], ...], ...]
    field: str = ""
    text: str = ""
    word: str = ""  # what has to be typed to say yes


def question(item: Mapping[str, Any]) -> Question:
    """An answer of ``GET /api/inbox/{id}``, laid out."""
    kind, waits = str(item.get("kind", "")), item.get("state") == "waiting"
    name = str(item.get("editable") or "")
    return Question(
        id=str(item.get("id", "")),
        kind=kind,
        yes=_YES.get(kind, "Yes"),
        waits=waits,
        second=waits and int(item.get("yes_count") or 0) > 0,
        groups=_groups(item.get("parts") or ()),
        field=name,
        text=_text(name, item.get("body") or {}),
        word=str(item.get("word") or ""),
    )


def _groups(parts: Any) -> tuple[tuple[Mapping[str, Any], ...], ...]:
    """The parts as they stand beside one another: short ones together, each other by itself."""
    found: list[list[Mapping[str, Any]]] = []
    for part in parts:
        if found and part["kind"] == found[-1][-1]["kind"] == "lines":
            found[-1].append(part)
        else:
            found.append([part])
    return tuple(map(tuple, found))


def _text(name: str, body: Mapping[str, Any]) -> str:
    """What stands in the field for editing at first."""
    if name == "args":
        return words.pretty(body.get("args") or {})
    if name == "code":
        return str((body.get("files") or {}).get(_CODE, ""))
    return str(body.get("text") or "")
