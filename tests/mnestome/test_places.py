import math
from statistics import mean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metnos.mnestome.places import MOST, Point, extended, placed

names = st.text(min_size=1, max_size=6)
pairs = st.lists(st.tuples(names, names), max_size=30)


def of(joined: list[tuple[str, str]]) -> list[str]:
    return [end for pair in joined for end in pair]


def apart(places: dict[str, Point], one: str, two: str) -> float:
    return math.dist(places[one], places[two])


@settings(max_examples=settings().max_examples // 2)
@given(pairs)
def test_everything_has_a_place_of_its_own_within_the_map(joined: list[tuple[str, str]]) -> None:
    found = placed(of(joined), joined)
    assert set(found) == set(of(joined))
    assert len(set(found.values())) == len(found)
    assert all(math.hypot(x, y) <= 1.001 for x, y in found.values())


@settings(max_examples=settings().max_examples // 2)
@given(pairs, st.randoms(use_true_random=False))
def test_a_map_does_not_depend_on_the_order_in_which_it_is_told(joined: list[tuple[str, str]], order: object) -> None:
    mixed = [pair[::-1] for pair in joined] * 2
    order.shuffle(mixed)  # type: ignore[attr-defined]
    assert placed(of(mixed), mixed) == placed(of(joined), joined)


def test_what_is_joined_stands_closer_than_what_is_not() -> None:
    groups = [[f"{group}{number}" for number in range(8)] for group in "abc"]
    joined = [(one, two) for group in groups for one in group for two in group if one < two]
    joined += [("a0", "b0"), ("b1", "c0")]
    found = placed(of(joined), joined)
    inside = [apart(found, one, two) for group in groups for one in group for two in group if one < two]
    across = [apart(found, one, two) for one in groups[0] for two in groups[2]]
    assert 2 * mean(inside) < mean(across)


def test_what_comes_later_moves_nothing() -> None:
    known = placed("abcd", [("a", "b"), ("b", "c"), ("c", "d")])
    found = extended(known, [*"abcd", "new", "far", "alone"], [("new", "a"), ("far", "new")])
    assert {name: found[name] for name in "abcd"} == known
    assert apart(found, "new", "a") < 0.1
    assert apart(found, "far", "new") < 0.1
    assert math.hypot(*found["alone"]) > 0.99


@pytest.mark.slow
def test_a_very_large_graph_is_placed_whole() -> None:
    everybody = [f"n{number}" for number in range(3 * MOST)]
    joined = [(name, everybody[(number * 7 + 1) % 50]) for number, name in enumerate(everybody)]
    found = placed(everybody, joined)
    assert len(found) == len(set(found.values())) == len(everybody)
    others = [(name, everybody[number * 11 % 50]) for number, name in enumerate(everybody)]
    near, far = (mean(apart(found, *pair) for pair in some) for some in (joined, others))
    assert 2 * near < far


def test_nothing_and_one() -> None:
    assert placed([], []) == {}
    assert placed(["a"], [("a", "a")]) == {"a": (0.0, 0.0)}
