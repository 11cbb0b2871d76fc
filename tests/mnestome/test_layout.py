from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metnos.mnestome.layout import Box, Link, place

Point = tuple[float, float]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Box], list[Link]]:
    count = draw(st.integers(1, 24))
    sizes = st.floats(4, 180)
    boxes = draw(st.lists(st.builds(Box, sizes, sizes), min_size=count, max_size=count))
    ends = st.integers(0, count - 1)
    return boxes, draw(st.lists(st.builds(Link, ends, ends, st.floats(0, 1)), max_size=40))


def lapping(boxes: list[Box], points: list[Point]) -> list[tuple[int, int]]:
    return [
        (one, two)
        for one, two in combinations(range(len(boxes)), 2)
        if abs(points[one][0] - points[two][0]) < (boxes[one].width + boxes[two].width) / 2
        and abs(points[one][1] - points[two][1]) < (boxes[one].height + boxes[two].height) / 2
    ]


@settings(max_examples=settings().max_examples // 2)
@given(graphs(), st.floats(0.2, 3), st.booleans())
def test_no_two_names_overlap_and_nothing_lies_outside(
    graph: tuple[list[Box], list[Link]], aspect: float, down: bool
) -> None:
    boxes, links = graph
    points = place(boxes, links, aspect=aspect, down=down)
    assert lapping(boxes, points) == []
    assert min(x - box.width / 2 for box, (x, _) in zip(boxes, points, strict=True)) == pytest.approx(0, abs=0.1)
    assert min(y - box.height / 2 for box, (_, y) in zip(boxes, points, strict=True)) == pytest.approx(0, abs=0.1)


@pytest.mark.slow
def test_a_graph_of_sixty_has_room_for_every_name() -> None:
    boxes = [Box(60 + 7 * (number % 13), 40 + number % 20) for number in range(60)]
    links = [Link(number, (number * number + 3) % 60, (number % 10) / 10) for number in range(60)]
    links += [Link(number % 7, number, 0.9) for number in range(60)]
    for down in (False, True):
        assert lapping(boxes, place(boxes, links, aspect=1.5, down=down)) == []


def test_what_feeds_something_stands_before_it() -> None:
    boxes = [Box(60, 30)] * 4
    links = [Link(2, 0, 0.8), Link(0, 3, 0.8), Link(3, 1, 0.8)]
    across = [x for x, _ in place(boxes, links, aspect=1.5)]
    assert across[2] < across[0] < across[3] < across[1]
    downward = [y for _, y in place(boxes, links, aspect=0.5, down=True)]
    assert downward[2] < downward[0] < downward[3] < downward[1]


def test_what_is_joined_stands_closer_than_what_is_not() -> None:
    boxes = [Box(20, 20)] * 6
    links = [Link(0, 1, 0.9), Link(1, 2, 0.9), Link(2, 3, 0.1), Link(3, 4, 0.9), Link(4, 5, 0.9)]
    points = place(boxes, links, aspect=1.0)

    def apart(one: int, two: int) -> float:
        return sum((points[one][axis] - points[two][axis]) ** 2 for axis in (0, 1)) ** 0.5

    assert apart(0, 1) < apart(0, 2) < apart(0, 5)


def test_the_same_graph_gives_the_same_picture() -> None:
    boxes = [Box(50 + number, 30) for number in range(9)]
    links = [Link(number, (number + 2) % 9, 0.5) for number in range(7)]
    assert place(boxes, links, aspect=1.5) == place(boxes, links, aspect=1.5)


def test_nothing_and_one() -> None:
    assert place([], [], aspect=1.0) == []
    assert place([Box(40, 20)], [Link(0, 0, 1.0)], aspect=1.0) == [(20.0, 10.0)]
