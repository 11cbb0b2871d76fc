"""Wrong predictions of each arm on each stream, drawn as an SVG that is legible on light and dark ground."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDE, _HIGH = 860, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 20, 46, 96
_COLOURS = ("#2f7ed8", "#d9822b", "#9aa5b1", "#8a6fc9", "#5b9f5b")
_GAP = 0.25  # of a stream's room, between it and the next


@dataclass(frozen=True, slots=True)
class Bar:
    """A stream, and how many per cent each arm had wrong."""

    name: str
    wrong: dict[str, float]


def svg(title: str, bars: Sequence[Bar], least: float) -> str:
    """``least`` is what even whoever knows the regime has wrong."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {_HIGH}" role="img" aria-labelledby="t" '
        "font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\" font-size=\"13\">",
        f'  <title id="t">{escape(title)}</title>',
        "  <style>",
        "    :root { --ink: #1d2733; --soft: #8595a5; --back: #f4f7fa; }",
        "    @media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #6b7b8b; --back: #11171f; } }",
        "    text { fill: var(--ink); } .back { fill: var(--back); } .grid { stroke: var(--soft); opacity: .35; }",
        "    .least { stroke: var(--ink); stroke-dasharray: 5 4; }",
        "  </style>",
        f'  <rect class="back" width="{_WIDE}" height="{_HIGH}" rx="14"/>',
        f'  <text x="{_LEFT}" y="26" font-size="15">{escape(title)}</text>',
        *_grid(),
    ]
    room = (_WIDE - _LEFT - _RIGHT) / len(bars)
    for place, bar in enumerate(bars):
        parts += _group(bar, _LEFT + place * room, room)
    y = _y(least)
    parts.append(f'  <line class="least" x1="{_LEFT}" x2="{_WIDE - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
    parts.append(f'  <text x="{_WIDE - _RIGHT}" y="{y - 5:.1f}" text-anchor="end" font-size="11">noise</text>')
    return "\n".join([*parts, *_legend(list(bars[0].wrong)), "</svg>", ""])


def _y(wrong: float) -> float:
    return _HIGH - _BOTTOM - wrong / 100 * (_HIGH - _TOP - _BOTTOM)


def _grid() -> list[str]:
    parts = []
    for wrong in range(0, 101, 20):
        y = _y(wrong)
        parts.append(f'  <line class="grid" x1="{_LEFT}" x2="{_WIDE - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'  <text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{wrong} %</text>')
    return parts


def _group(bar: Bar, left: float, room: float) -> list[str]:
    wide = room * (1 - _GAP) / len(bar.wrong)
    parts = []
    for number, wrong in enumerate(bar.wrong.values()):
        x, y = left + room * _GAP / 2 + number * wide, _y(wrong)
        parts.append(
            f'  <rect x="{x:.1f}" y="{y:.1f}" width="{wide - 2:.1f}" height="{_y(0) - y:.1f}" '
            f'fill="{_COLOURS[number % len(_COLOURS)]}"/>'
        )
        middle = x + wide / 2 - 1
        parts.append(f'  <text x="{middle:.1f}" y="{y - 4:.1f}" text-anchor="middle" font-size="10">{wrong:.0f}</text>')
    parts.append(f'  <text x="{left + room / 2:.1f}" y="{_y(0) + 18}" text-anchor="middle">{escape(bar.name)}</text>')
    return parts


def _legend(names: Sequence[str]) -> list[str]:
    parts, x = [], _LEFT
    for number, name in enumerate(names):
        colour = _COLOURS[number % len(_COLOURS)]
        parts.append(f'  <rect x="{x}" y="{_HIGH - 44}" width="12" height="12" fill="{colour}"/>')
        parts.append(f'  <text x="{x + 18}" y="{_HIGH - 34}">{escape(name)}</text>')
        x += 40 + 8 * len(name)
    return parts
