"""Lines as a picture: well-formed, inside its box, and never a line of code from a name."""

import math
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from metnos.life.line_plot import Axes, Bound, Line, svg, ticks

AXES = Axes("ticks", "vitality", 0.0, 1.0)
_SVG = "{http://www.w3.org/2000/svg}"
numbers = st.floats(allow_nan=True, allow_infinity=True)
points = st.lists(st.tuples(numbers, numbers), max_size=30)
letters = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn", "Co"]), max_size=20)


def root(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text)


def coordinates(drawn: ElementTree.Element) -> list[tuple[float, float]]:
    pairs = [pair.split(",") for each in drawn.iter(f"{_SVG}polyline") for pair in each.attrib["points"].split()]
    return [(float(x), float(y)) for x, y in pairs]


@given(letters, points, st.booleans())
def test_whatever_is_given_is_drawn_inside_and_well_formed(name: str, given_points: list, banded: bool) -> None:  # type: ignore[type-arg]
    band = [(y - 1, y + 1) for _, y in given_points] if banded else []
    drawn = root(svg(name, [Line(name, given_points, band, is_main=True)], AXES, [Bound(name, 0.5)]))
    for x, y in coordinates(drawn):
        assert 0 <= x <= 860
        assert 0 <= y <= 420
    assert drawn.find(f"{_SVG}title") is not None


def test_a_name_is_text_and_nothing_else() -> None:
    text = svg("<script>", [Line("</text><script>alert(1)</script>", [(1, 0.5)])], AXES)
    assert "<script" not in text


def test_more_is_higher_and_later_is_further_right() -> None:
    drawn = root(svg("a life", [Line("vitality", [(1, 0.0), (2, 0.5), (3, 1.0)])], AXES))
    found = coordinates(drawn)
    assert [x for x, _ in found] == sorted(x for x, _ in found)
    assert [y for _, y in found] == sorted((y for _, y in found), reverse=True)


def test_there_are_no_halves_of_a_generation() -> None:
    drawn = root(svg("a line", [Line("bottleneck", [(1, 0.2), (2, 0.4), (4, 0.3)])], AXES))
    below = [each.text for each in drawn.iter(f"{_SVG}text") if each.get("text-anchor") == "middle"]
    assert [text for text in below if text and text[0].isdigit()] == ["1", "2", "3", "4"]


def test_what_is_uncertain_has_a_band() -> None:
    band = [(0.1, 0.3), (0.2, 0.6)]
    drawn = root(svg("an arm", [Line("arm", [(1, 0.2), (2, 0.4)], band)], AXES))
    (polygon,) = drawn.iter(f"{_SVG}polygon")
    assert len(polygon.attrib["points"].split()) == 4


@given(st.floats(-1e6, 1e6), st.floats(0.001, 1e6), st.integers(2, 12))
def test_the_grid_stands_on_round_numbers_within_its_bounds(low: float, span: float, wanted: int) -> None:
    found = ticks(low, low + span, wanted)
    assert found == sorted(found)
    assert len(found) <= 2 * wanted + 2
    assert all(low - span * 1e-6 <= each <= low + span * (1 + 1e-6) for each in found)


def test_nothing_at_all_can_be_drawn() -> None:
    assert "polyline" not in root(svg("empty", [Line("none", [])], Axes("x", "y"))).itertext()
    assert ticks(1.0, 1.0) == [1.0]
    assert ticks(0.0, math.inf) == [0.0]
