"""Plots: whatever finite comes in, well-formed SVG inside its box comes out."""

import math
from datetime import UTC, datetime
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from metnos.web.plot import BOXES, DAY, Box, Kind, Series, curve, day, over_time

NOW = datetime(2026, 8, 4, tzinfo=UTC).timestamp()
KINDS: tuple[Kind, ...] = ("line", "area", "bars", "dots", "bound")
numbers = st.floats(allow_nan=True, allow_infinity=True)
moments = st.one_of(numbers, st.floats(0, 4e9))
series = st.builds(
    Series,
    name=st.text(max_size=20),
    points=st.lists(st.tuples(moments, numbers), max_size=12),
    kind=st.sampled_from(KINDS),
    tone=st.sampled_from(("accent", "warn")),
    wide=st.floats(1, 400 * DAY),
)
ends = st.one_of(st.none(), st.floats(-1e9, 1e9))


def drawings(html: str) -> list[tuple[Box, ElementTree.Element]]:
    figure = ElementTree.fromstring(html)
    found = [each for each in figure if each.tag == "svg"]
    return list(zip(BOXES, found, strict=True))


def corners(element: ElementTree.Element) -> list[tuple[float, float]]:
    """All places that an element reaches."""
    given = dict(element.attrib)
    if "points" in given:
        return [(float(x), float(y)) for x, y in (pair.split(",") for pair in given["points"].split())]
    if "x1" in given:
        return [(float(given["x1"]), float(given["y1"])), (float(given["x2"]), float(given["y2"]))]
    if "cx" in given:
        return [(float(given["cx"]), float(given["cy"]))]
    if "width" in given and "x" in given:
        x, y = float(given["x"]), float(given["y"])
        return [(x, y), (x + float(given["width"]), y + float(given["height"]))]
    return [(float(given["x"]), float(given["y"]))] if "x" in given else []


@given(st.lists(series, max_size=4), ends, ends)
@example([Series("w", [(0.0, 5e-324)])], None, None)
@example([Series("w", [(-7e10, 1.0)], "bars", wide=1e9)], None, None)
def test_any_data_gives_well_formed_svg_inside_its_box(
    given: list[Series], low: float | None, high: float | None
) -> None:
    html = str(over_time(given, title="<what>", words='a "b"', low=low, high=high))
    if not html.startswith("<figure"):
        assert not any(math.isfinite(x) and math.isfinite(y) for one in given if one.kind != "bound"
                       for x, y in one.points)  # fmt: skip
        return
    for box, svg in drawings(html):
        assert svg.get("viewBox") == f"0 0 {box.width:g} {box.height:g}"
        for element in svg.iter():
            assert "style" not in element.attrib
            for x, y in corners(element):
                assert -0.1 <= x <= box.width + 0.2
                assert -0.1 <= y <= box.height + 0.2


@settings(max_examples=settings().max_examples // 2)
@given(st.lists(st.tuples(st.floats(0, 4e9), st.floats(0, 1)), min_size=2, max_size=30))
def test_what_is_higher_stands_higher_and_what_is_later_stands_further_right(points: list[tuple[float, float]]) -> None:
    _, svg = drawings(str(over_time([Series("w", points)], title="w", high=1)))[0]
    line = next(each for each in svg.iter() if each.get("class") == "curve accent")
    places = corners(line)
    assert [x for x, _ in places] == sorted(x for x, _ in places)
    for (_, value), (_, y) in zip(sorted(points, key=lambda each: each[0]), places, strict=True):
        for (_, other), (_, further) in zip(sorted(points, key=lambda each: each[0]), places, strict=True):
            assert value <= other + 0.002 or y <= further


@pytest.mark.parametrize("span", [600, DAY, 3 * DAY, 20 * DAY, 200 * DAY, 3000 * DAY, 300_000 * DAY])
def test_the_names_of_moments_do_not_lie_over_one_another(span: float) -> None:
    for box, svg in drawings(str(over_time([Series("w", [(NOW, 0), (NOW + span, 1)])], title="w"))):
        names = [each for each in svg.iter() if each.get("class") == "label middle"]
        assert names
        places = [(float(each.attrib["x"]), len(each.text or "") * 6.0 / 2) for each in names]
        for (at, half), (following, other) in pairwise(places):
            assert at + half < following - other
        assert places[0][0] - places[0][1] >= 0
        assert places[-1][0] + places[-1][1] <= box.width


def test_what_is_said_is_text() -> None:
    evil = "<script>alert(1)</script>\"'&"
    html = str(over_time([Series(evil, [(NOW, 1)], "bound"), Series("b", [(NOW, 1)])], title=evil, words=evil))
    assert "<script" not in html
    _, svg = drawings(html)[0]
    assert svg.get("aria-label") == f"{evil}. {evil}"


def test_a_plot_of_nothing_says_so() -> None:
    assert "nothing to draw" in over_time([], title="w")
    assert "nothing to draw" in over_time([Series("w", [(NOW, math.nan)])], title="w")
    assert "nothing to draw" in over_time([Series("bound", [(NOW, 1)], "bound")], title="w")


def test_a_day_without_a_bar_leaves_its_place_free() -> None:
    bars = Series("hits", [(NOW, 3), (NOW + 3 * DAY, 6)], "bars")
    _, svg = drawings(str(over_time([bars], title="hits")))[0]
    first, second = (each for each in svg.iter() if each.get("class") == "column accent")
    assert float(second.attrib["x"]) - float(first.attrib["x"]) > 2.5 * float(first.attrib["width"])
    assert float(second.attrib["height"]) == pytest.approx(2 * float(first.attrib["height"]), rel=0.01)
    assert [each.text for each in svg.iter() if each.tag == "title"][1:] == ["2026-08-04: 3", "2026-08-07: 6"]


def test_one_day_alone_does_not_fill_the_picture() -> None:
    _, svg = drawings(str(over_time([Series("hits", [(NOW, 3)], "bars")], title="hits")))[0]
    (only,) = (each for each in svg.iter() if each.get("class") == "column accent")
    assert float(only.attrib["width"]) < 120


@pytest.mark.slow
def test_a_long_curve_keeps_its_peak() -> None:
    points = [(NOW + number * 60, 0.1) for number in range(20_000)]
    points[7_777] = (points[7_777][0], 0.93)
    _, svg = drawings(str(over_time([Series("w", points)], title="w", high=1)))[0]
    places = corners(next(each for each in svg.iter() if each.get("class") == "curve accent"))
    assert len(places) < 2_000
    assert min(y for _, y in places) < 30


def test_several_things_have_a_legend_and_one_has_none() -> None:
    one, two = Series("weight", [(NOW, 1), (NOW + DAY, 0)]), Series("uses", [(NOW, 1)], "dots")
    assert "<figcaption>" not in over_time([one], title="w")
    assert "<figcaption>" in over_time([one, two], title="w")


def test_the_api_s_pairs_are_read_and_what_is_none_is_left_out() -> None:
    found = curve([["2026-08-04T00:00:00.000Z", 0.5], ["never", 1], ["2026-08-05T00:00:00.000Z", None], 7, [1, 2, 3]])
    assert found == [(NOW, 0.5)]
    assert day("2026-08-04") == NOW
    assert day("soon") is None
