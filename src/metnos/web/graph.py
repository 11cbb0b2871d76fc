"""The mnestome, packed for the script that draws it: the same as the API says, in a quarter of its size.

Rules: nothing is decided here: what is not in the answer is not in the picture. Names, tags and states stand once and
are pointed at; a weight is in thousandths, a last use in days since 1970 (-1: not known).
Does not guarantee places: a node without one gets none, and the script finds it one.
"""

from collections.abc import Mapping
from typing import Any

from metnos.web.plot import DAY, curve

STATES = {  # in the order in which they are drawn, each with its word
    "superseded": "superseded",
    "seed": "expected",
    "decaying": "fading",
    "active": "active",
    "proto": "wished for",
}
_PURPOSE = 110  # characters: more is on the executor's own page


def packed(found: Mapping[str, Any]) -> dict[str, Any]:
    """What the script gets, from what the API answered."""
    names: dict[str, int] = {}
    nodes = [_node(each, names) for each in found["nodes"]]
    tags: dict[str, int] = {}
    sets: dict[tuple[int, ...], int] = {(): 0}
    mnests = [_mnest(each, names, tags, sets) for each in found["mnests"] if _has_ends(each, names)]
    return {
        "states": list(STATES.items()),
        "tags": list(tags),
        "sets": [list(each) for each in sets],
        "nodes": nodes,
        "mnests": mnests,
        "total": found.get("total", len(mnests)),
    }


def _node(each: Mapping[str, Any], names: dict[str, int]) -> list[Any]:
    names.setdefault(each["name"], len(names))
    x, y = each.get("x"), each.get("y")
    place = [None, None] if x is None or y is None else [round(float(x), 4), round(float(y), 4)]
    purpose = str(each.get("purpose") or "")
    purpose = purpose if len(purpose) <= _PURPOSE else purpose[: _PURPOSE - 1] + "…"
    return [each["name"], str(each.get("state") or ""), purpose, round(float(each.get("traffic") or 0), 2), *place]


def _mnest(
    each: Mapping[str, Any], names: Mapping[str, int], tags: dict[str, int], sets: dict[tuple[int, ...], int]
) -> list[Any]:
    own = tuple(tags.setdefault(str(tag), len(tags)) for tag in each.get("tags") or ())
    state = str(each["state"])
    used = curve([[each.get("last_used"), 0]])
    return [
        each["id"],
        names[each["source"]],
        names[each["target"]],
        list(STATES).index(state) if state in STATES else 0,
        round(1000 * float(each["weight"])),
        int(each.get("uses") or 0),
        int(used[0][0] // DAY) if used else -1,
        sets.setdefault(own, len(sets)),
    ]


def _has_ends(each: Mapping[str, Any], names: Mapping[str, int]) -> bool:
    return each["source"] in names and each["target"] in names
