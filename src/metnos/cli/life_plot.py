"""A life as a picture made of letters: vitality over ticks, one column for some ticks, the phases at the side. Pure.

Rules: ten rows, so that the bounds of the phases lie between two of them; the height of a column is the lowest vitality
of its ticks, because a fall is what one looks for; columns take the colour of their phase. Where the terminal has no
such letters, a full row is a ``#``.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ROWS = 10
COLOURS: Mapping[str, str] = {
    "thriving": "green",
    "stable": "cyan",
    "conservation": "yellow",
    "declining": "magenta",
    "terminal": "red",
}
_NAMES = {9: "thriving", 6: "stable", 4: "conservation", 2: "declining", 0: "terminal"}  # at the top row of each
_EIGHTHS = " ▁▂▃▄▅▆▇█"
_BROAD = 4  # columns, at most
_SIDE = max(map(len, COLOURS))


@dataclass(frozen=True, slots=True)
class Cell:
    """One letter, and its colour."""

    letter: str
    colour: str


@dataclass(frozen=True, slots=True)
class Row:
    """What stands at the side, and the cells."""

    side: str
    cells: tuple[Cell, ...]


def rows(points: Sequence[Mapping[str, Any]], width: int, *, fine: bool) -> list[Row]:
    """The picture from top to bottom, at most ``width`` cells wide."""
    columns = _columns(points, width)
    made = []
    for level in reversed(range(ROWS)):
        cells = tuple(Cell(_letter(value * ROWS - level, fine), COLOURS[phase]) for value, phase in columns)
        made.append(Row(f"{_NAMES.get(level, ''):>{_SIDE}} ", cells))
    return made


def _columns(points: Sequence[Mapping[str, Any]], width: int) -> list[tuple[float, str]]:
    """Lowest vitality and latest phase of each part of a life; a tick of a short one is some columns wide."""
    count = min(len(points), max(width, 1))
    parts = [points[len(points) * place // count : len(points) * (place + 1) // count] for place in range(count)]
    found = [(min(float(each["vitality"]) for each in part), str(part[-1]["phase"])) for part in parts]
    return [column for column in found for _ in range(min(_BROAD, max(1, width // count)))]


def _letter(filled: float, fine: bool) -> str:
    """How full one row is: not at all below 0, wholly above 1. What is not nothing is seen."""
    if not fine:
        return "#" if filled >= 0.5 else " "
    return _EIGHTHS[min(8, max(0, math.ceil(filled * 8 - 1e-9)))]
