"""The curve of answered requests against wrong answers, drawn as an SVG that is legible on light and dark ground."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

_WIDE, _HIGH = 720, 500
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 30, 40, 130
_MOST = 5.0  # per cent of wrong answers: beyond it nobody wants to be
_COLOURS = ("#2f7ed8", "#d9822b", "#8a6fc9", "#5b9f5b")


@dataclass(frozen=True, slots=True)
class Line:
    """A system: shares of requests answered and of answers wrong, in per cent, and the points where it is run."""

    name: str
    answered: Iterable[float]
    wrong: Iterable[float]
    points: Sequence[tuple[float, float, str]] = ()


def svg(title: str, lines: Sequence[Line], delta: float) -> str:
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {_HIGH}" role="img" aria-labelledby="t" '
        "font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\" font-size=\"13\">",
        f'  <title id="t">{escape(title)}</title>',
        "  <style>",
        "    :root { --ink: #1d2733; --soft: #8595a5; --back: #f4f7fa; }",
        "    @media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #6b7b8b; --back: #11171f; } }",
        "    text { fill: var(--ink); } .back { fill: var(--back); } .grid { stroke: var(--soft); opacity: .35; }",
        "    .bound { stroke: var(--ink); stroke-dasharray: 5 4; } polyline { fill: none; stroke-width: 2.5; }",
        "  </style>",
        f'  <rect class="back" width="{_WIDE}" height="{_HIGH}" rx="14"/>',
        f'  <text x="{_LEFT}" y="24" font-size="15">{escape(title)}</text>',
        *_grid(),
        f'  <line class="bound" x1="{_LEFT}" x2="{_WIDE - _RIGHT}" y1="{_y(delta):.1f}" y2="{_y(delta):.1f}"/>',
        f'  <text x="{_WIDE - _RIGHT}" y="{_y(delta) - 6:.1f}" text-anchor="end">the bound, {delta:g} %</text>',
    ]
    for number, line in enumerate(lines):
        parts += _line(line, _COLOURS[number % len(_COLOURS)], number)
    return "\n".join([*parts, "</svg>", ""])


def _x(answered: float) -> float:
    return _LEFT + answered / 100 * (_WIDE - _LEFT - _RIGHT)


def _y(wrong: float) -> float:
    return _HIGH - _BOTTOM - min(wrong, _MOST) / _MOST * (_HIGH - _TOP - _BOTTOM)


def _grid() -> list[str]:
    parts = []
    for share in range(0, 101, 20):
        x = _x(share)
        parts.append(f'  <line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_HIGH - _BOTTOM}"/>')
        parts.append(f'  <text x="{x:.1f}" y="{_HIGH - _BOTTOM + 18}" text-anchor="middle">{share} %</text>')
    for wrong in range(int(_MOST) + 1):
        y = _y(wrong)
        parts.append(f'  <line class="grid" x1="{_LEFT}" x2="{_WIDE - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'  <text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{wrong} %</text>')
    middle = (_TOP + _HIGH - _BOTTOM) / 2
    parts.append(f'  <text x="{_x(50):.1f}" y="{_HIGH - _BOTTOM + 40}" text-anchor="middle">requests answered</text>')
    parts.append(
        f'  <text transform="translate(20 {middle:.0f}) rotate(-90)" text-anchor="middle">answers wrong</text>'
    )
    return parts


def _line(line: Line, colour: str, number: int) -> list[str]:
    shown = [(a, w) for a, w in zip(line.answered, line.wrong, strict=True) if w <= _MOST]
    every = max(1, len(shown) // 400)
    dots = " ".join(f"{_x(a):.1f},{_y(w):.1f}" for a, w in shown[::every])
    y = _HIGH - _BOTTOM + 66 + 20 * number
    parts = [
        f'  <polyline points="{dots}" stroke="{colour}"/>',
        f'  <line x1="{_LEFT + 12}" x2="{_LEFT + 36}" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" stroke-width="2.5"/>',
        f'  <text x="{_LEFT + 42}" y="{y}">{escape(line.name)}</text>',
    ]
    for answered, wrong, label in line.points:
        x, at = _x(answered), _y(wrong)
        beyond = f", {wrong:.0f} % wrong" if wrong > _MOST else ""
        parts.append(f'  <circle cx="{x:.1f}" cy="{at:.1f}" r="5" fill="{colour}"/>')
        parts.append(f'  <text x="{x + 8:.1f}" y="{at + 16:.1f}" font-size="12">{escape(label)}{beyond}</text>')
    return parts
