"""Lines over a whole number, as an SVG: how alive an agent was over its ticks, how an arm did over generations.

Rules: pure, the same data gives the same text; legible on light and dark ground; nothing in it loads or runs; whatever
text is given is escaped; what is a number of any use is drawn inside its box, and what is not is left out. Lines are
told apart by colour and have their names in the legend.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

_WIDE, _HIGH = 860, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 24, 52, 92
_COLOURS = ("#2f7ed8", "#d9822b", "#5b9f5b", "#8a6fc9", "#c0392b", "#9aa5b1")
_STEPS = 5  # of the grid, about
_LETTER = 7.2  # pixels
_MOST = 1e12  # beyond it nothing here is counted, and drawing stays exact


@dataclass(frozen=True, slots=True)
class Line:
    """Points from left to right. ``band`` is how uncertain each is: its lowest and highest value."""

    name: str
    points: Sequence[tuple[float, float]]
    band: Sequence[tuple[float, float]] = ()
    is_main: bool = False  # drawn thicker


@dataclass(frozen=True, slots=True)
class Bound:
    """A dashed line across, with its name at the right."""

    name: str
    y: float


@dataclass(frozen=True, slots=True)
class Axes:
    """What the axes are called, and from where to where they go; without values, as far as there are points."""

    x: str
    y: str
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True, slots=True)
class _Frame:
    left: float
    right: float
    low: float
    high: float

    def x(self, value: float) -> float:
        return _LEFT + (value - self.left) / (self.right - self.left) * (_WIDE - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        inside = min(max(value, self.low), self.high)
        return _HIGH - _BOTTOM - (inside - self.low) / (self.high - self.low) * (_HIGH - _TOP - _BOTTOM)


def svg(title: str, lines: Sequence[Line], axes: Axes, bounds: Sequence[Bound] = ()) -> str:
    """The drawing, as a file of its own."""
    lines = [_sound(line) for line in lines]
    frame = _frame(lines, axes)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {_HIGH}" role="img" aria-labelledby="t" '
        "font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\" font-size=\"13\">",
        f'  <title id="t">{escape(title)}</title>',
        "  <style>",
        "    :root { --ink: #1d2733; --soft: #8595a5; --back: #f4f7fa; }",
        "    @media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #6b7b8b; --back: #11171f; } }",
        "    text { fill: var(--ink); } .back { fill: var(--back); } .grid { stroke: var(--soft); opacity: .35; }",
        "    .bound { stroke: var(--ink); stroke-dasharray: 5 4; opacity: .6; } polyline { fill: none; }",
        "    .band { opacity: .18; } .small { font-size: 11px; }",
        "  </style>",
        f'  <rect class="back" width="{_WIDE}" height="{_HIGH}" rx="14"/>',
        f'  <text x="{_LEFT}" y="28" font-size="15">{escape(title)}</text>',
        *_grid(frame, axes),
    ]
    for number, line in enumerate(lines):
        parts += _drawn(line, _COLOURS[number % len(_COLOURS)], frame)
    for bound in bounds:
        y = frame.y(bound.y)
        parts.append(f'  <line class="bound" x1="{_LEFT}" x2="{_WIDE - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(
            f'  <text class="small" x="{_WIDE - _RIGHT}" y="{y - 4:.1f}" text-anchor="end">{escape(bound.name)}</text>'
        )
    return "\n".join([*parts, *_legend([line.name for line in lines]), "</svg>", ""])


def _sound(line: Line) -> Line:
    """A line without what cannot be drawn."""
    fine = [place for place, point in enumerate(line.points) if _fits(*point)]
    banded = [place for place in fine if place < len(line.band) and _fits(*line.band[place])]
    band = [line.band[place] for place in banded] if banded == fine else []
    return Line(line.name, [line.points[place] for place in fine], band, line.is_main)


def _fits(*values: float) -> bool:
    return all(abs(value) <= _MOST for value in values)  # what is no number fits nowhere


def _frame(lines: Sequence[Line], axes: Axes) -> _Frame:
    xs = [x for line in lines for x, _ in line.points] or [0.0]
    ys = [y for line in lines for _, y in line.points] + [y for line in lines for pair in line.band for y in pair]
    low = min(ys, default=0.0) if axes.least is None else axes.least
    high = max(ys, default=1.0) if axes.most is None else axes.most
    left, right = min(xs), max(xs)
    return _Frame(left, right if right > left else left + 1, low, high if high > low else low + 1)


def ticks(low: float, high: float, wanted: int = _STEPS) -> list[float]:
    """Round numbers from ``low`` to ``high``, about so many."""
    rough = (high - low) / max(wanted, 1)
    if not 1e-300 < rough < math.inf:
        return [low]
    magnitude = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * magnitude for factor in (1, 2, 2.5, 5, 10) if factor * magnitude >= rough * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]


def _grid(frame: _Frame, axes: Axes) -> list[str]:
    parts = []
    for value in ticks(frame.low, frame.high):
        y = frame.y(value)
        parts.append(f'  <line class="grid" x1="{_LEFT}" x2="{_WIDE - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'  <text class="small" x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
    foot = _HIGH - _BOTTOM
    parts += [
        f'  <text class="small" x="{frame.x(value):.1f}" y="{foot + 18}" text-anchor="middle">{value:g}</text>'
        for value in ticks(frame.left, frame.right, 8)
        if value == round(value)  # what is counted there, ticks and generations, has no halves
    ]
    parts.append(
        f'  <text x="{(_LEFT + _WIDE - _RIGHT) / 2}" y="{foot + 36}" text-anchor="middle">{escape(axes.x)}</text>'
    )
    parts.append(f'  <text class="small" x="{_LEFT - 40}" y="{_TOP - 8}">{escape(axes.y)}</text>')
    return parts


def _drawn(line: Line, colour: str, frame: _Frame) -> list[str]:
    if not line.points:
        return []
    parts = []
    if line.band:
        xs = [x for x, _ in line.points]
        upper = zip(xs, [high for _, high in line.band], strict=True)
        lower = reversed(list(zip(xs, [low for low, _ in line.band], strict=True)))
        parts.append(f'  <polygon class="band" fill="{colour}" points="{_places((*upper, *lower), frame)}"/>')
    wide = 3 if line.is_main else 1.8
    places = _places(line.points, frame)
    parts.append(f'  <polyline points="{places}" stroke="{colour}" stroke-width="{wide}"/>')
    x, y = line.points[-1]
    parts.append(f'  <circle cx="{frame.x(x):.1f}" cy="{frame.y(y):.1f}" r="3.5" fill="{colour}"/>')
    return parts


def _places(points: Iterable[tuple[float, float]], frame: _Frame) -> str:
    return " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in points)


def _legend(names: Sequence[str]) -> list[str]:
    parts, x = [], float(_LEFT)
    for number, name in enumerate(names):
        colour = _COLOURS[number % len(_COLOURS)]
        parts.append(f'  <rect x="{x:.0f}" y="{_HIGH - 34}" width="12" height="12" rx="2" fill="{colour}"/>')
        parts.append(f'  <text x="{x + 18:.0f}" y="{_HIGH - 24}">{escape(name)}</text>')
        x += 40 + _LETTER * len(name)
    return parts
