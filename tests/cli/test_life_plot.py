"""The picture of a life in a terminal."""

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from metnos.cli.life_plot import COLOURS, ROWS, rows
from metnos.life.vitality_rules import ORDER

points = st.lists(
    st.fixed_dictionaries({"vitality": st.floats(0, 1), "phase": st.sampled_from([str(each) for each in ORDER])}),
    min_size=1,
    max_size=300,
)


def point(vitality: float, phase: str = "thriving") -> dict[str, Any]:
    return {"vitality": vitality, "phase": phase}


def test_every_phase_has_a_colour() -> None:
    assert set(COLOURS) == {str(each) for each in ORDER}


@given(points, st.integers(1, 200), st.booleans())
def test_it_is_a_rectangle_that_fits(found: list[dict[str, Any]], width: int, fine: bool) -> None:
    drawn = rows(found, width, fine=fine)
    assert len(drawn) == ROWS
    (wide,) = {len(row.cells) for row in drawn}
    assert 1 <= wide <= width
    assert len({len(row.side) for row in drawn}) == 1
    for above, below in pairwise(drawn):  # a column stands on what is below it
        for upper, lower in zip(above.cells, below.cells, strict=True):
            assert upper.letter == " " or lower.letter in "█#"


@given(points, st.integers(1, 200))
def test_the_height_is_the_vitality(found: list[dict[str, Any]], width: int) -> None:
    drawn = rows(found, width, fine=True)
    lowest = min(each["vitality"] for each in found)
    heights = [
        sum(" ▁▂▃▄▅▆▇█".index(row.cells[place].letter) for row in drawn) / 80 for place in range(len(drawn[0].cells))
    ]
    assert lowest <= min(heights) + 1e-9 <= lowest + 1 / 80 + 2e-9


def test_a_fall_within_a_column_is_seen() -> None:
    drawn = rows([point(1.0), point(0.0), point(1.0), point(1.0)], 2, fine=False)
    assert [row.cells[0].letter for row in drawn] == [" "] * ROWS
    assert [row.cells[1].letter for row in drawn] == ["#"] * ROWS


def test_the_phases_stand_where_they_begin() -> None:
    sides = [row.side.strip() for row in rows([point(1.0)], 10, fine=True)]
    assert [each for each in sides if each] == [str(phase) for phase in ORDER]
    assert sides.index("stable") == 3  # below 0.7
    assert sides.index("terminal") == 9  # below 0.1
