"""Which particular of a request an argument is: not by where it stands, but by what it is.

Rules: the only one of its class is known by the class, so that *~/inbox* and *my downloads* are one; of several each is
known by its own kind and role, and its place among those. Where a request has more or fewer of them, it has none.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from metnos.fastpath.readings import PLACES
from metnos.fastpath.slots_records import Slot
from metnos.fastpath.slots_source import fold

_GOAL = ("to", "as")


def address(slots: Sequence[Slot], place: int) -> dict[str, Any]:
    """Which particular: the only one of its class, or else by its own kind and role and its place among those."""
    slot = slots[place]
    if sum(_class(each) == _class(slot) for each in slots) == 1:
        name, role = _class(slot)
        return {"slot": name, "role": role}
    alike = [each for each, other in enumerate(slots) if (other.kind, other.role) == (slot.kind, slot.role)]
    return {"slot": str(slot.kind), "role": slot.role, "nth": alike.index(place), "of": len(alike)}


def placed(slots: Sequence[Slot], node: Mapping[str, Any]) -> int | None:
    if "nth" not in node:
        alike = [place for place, slot in enumerate(slots) if _class(slot) == (node["slot"], node["role"])]
        return alike[0] if len(alike) == 1 else None
    alike = [place for place, slot in enumerate(slots) if (slot.kind, slot.role) == (node["slot"], node["role"])]
    return alike[node["nth"]] if len(alike) == node["of"] else None


def _class(slot: Slot) -> tuple[str, str]:
    """What is one thing to a shape: a path, a name and a folder are places, and either a goal or not."""
    if slot.kind in PLACES:
        return "place", "to" if slot.role in _GOAL else ""
    return str(slot.kind), slot.role


def pin(slot: Slot) -> tuple[str, str, str]:
    return str(slot.kind), slot.role, fold(slot.text)
