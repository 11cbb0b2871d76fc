"""The mnestome, packed for the script that draws it."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from metnos.web.graph import STATES, packed
from web.knowing import MNEST, mnestome, small

names = st.text(min_size=1, max_size=12)
mnests = st.fixed_dictionaries(
    {
        "id": names,
        "source": names,
        "target": names,
        "state": st.sampled_from([*STATES, "unheard of"]),
        "weight": st.floats(0, 1),
        "uses": st.integers(0, 10**6),
        "last_used": st.sampled_from(["2026-04-21T22:14:00.000Z", "", "never"]),
        "tags": st.lists(names, max_size=3, unique=True),
    }
)


def unpacked(found: dict[str, Any]) -> list[dict[str, Any]]:
    """What the script makes of it."""
    return [
        {"id": key, "source": found["nodes"][source][0], "target": found["nodes"][target][0],
         "state": found["states"][state][0], "weight": weight / 1000, "uses": uses,
         "tags": [found["tags"][tag] for tag in found["sets"][tags]]}
        for key, source, target, state, weight, uses, _, tags in found["mnests"]
    ]  # fmt: skip


@given(st.lists(mnests, max_size=8))
def test_what_is_packed_is_what_was_said(given: list[dict[str, Any]]) -> None:
    every = sorted({each[end] for each in given for end in ("source", "target")})
    told = {"nodes": [{"name": name, "x": 0.5, "y": -0.25} for name in every], "mnests": given, "total": len(given)}
    for one, other in zip(given, unpacked(packed(told)), strict=True):
        assert {name: one[name] for name in ("id", "source", "target", "uses", "tags")} == {
            name: other[name] for name in ("id", "source", "target", "uses", "tags")
        }
        assert abs(one["weight"] - other["weight"]) <= 0.0005
        assert other["state"] == (one["state"] if one["state"] in STATES else "superseded")


def test_a_mnest_without_its_ends_is_left_out_and_a_node_without_a_place_has_none() -> None:
    told = small()
    told["nodes"] = [each for each in told["nodes"] if each["name"] != "wish_me"]
    del told["nodes"][1]["x"]
    found = packed(told)
    assert "01WISH" not in {each[0] for each in found["mnests"]}
    assert found["nodes"][1][-2:] == [None, None]
    assert MNEST in {each[0] for each in found["mnests"]}


def test_five_thousand_mnests_are_small_enough_for_the_page() -> None:
    import json

    assert len(json.dumps(packed(mnestome(5000)), separators=(",", ":"))) < 330_000
