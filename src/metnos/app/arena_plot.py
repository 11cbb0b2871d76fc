"""An arena as a picture: the goal in the middle, executors around it, and what each does to the gap.

Rules: an SVG that is legible on light and dark ground, with nothing in it that loads or runs. A green arrow is a gap
that shrinks, the thicker the more; a dashed red one a gap that grows; who is not used has none. Names are escaped.
"""

import math
from collections.abc import Sequence
from html import escape

from metnos.app.arena import Arena, Fighter, Place

_WIDE, _HIGH, _LEGEND = 820, 560, 60
_X, _Y = _WIDE / 2, _HIGH / 2
_ACROSS, _DOWN = 300, 205  # how far from the middle executors stand
_CENTRE = (120, 46)
_MOST = 14  # executors: more would cover one another
_STRENGTH = 4  # of the thickest arrow, beyond the thinnest
_COLOURS = {
    Place.FIT: "#2e8b57",
    Place.UNFIT: "#c0392b",
    Place.QUARANTINED: "#c0392b",
    Place.HIDDEN: "#d9822b",
}
_NEUTRAL = "#8595a5"
_OUT = (Place.DISABLED, Place.QUARANTINED, Place.ARCHIVED, Place.EXTINCT)
_MEANINGS = (
    (Place.FIT, "fit: the gap shrinks"),
    (Place.NEUTRAL, "neutral: not used"),
    (Place.UNFIT, "unfit: the gap grows"),
    (Place.HIDDEN, "hidden from planners"),
    (Place.EXTINCT, "out: off or extinct"),
)


def svg(arena: Arena) -> str:
    """The picture of an arena."""
    shown = arena.fighters[:_MOST]
    title = f"The arena of: {arena.goal}"
    high = _HIGH + _LEGEND
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {high}" role="img" aria-labelledby="t" '
        "font-family=\"system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif\" font-size=\"13\">",
        f'  <title id="t">{escape(title)}</title>',
        "  <style>",
        "    :root { --ink: #1d2733; --soft: #8595a5; --back: #f4f7fa; }",
        "    @media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #6b7b8b; --back: #11171f; } }",
        "    text { fill: var(--ink); text-anchor: middle; } .back { fill: var(--back); }",
        "    .box { fill: var(--back); stroke-width: 1.6; } .out { opacity: .55; } .soft { font-size: 12px; }",
        "  </style>",
        *(_marker(place) for place in (Place.FIT, Place.UNFIT)),
        f'  <rect class="back" width="{_WIDE}" height="{high}" rx="14"/>',
    ]
    spots = _spots(len(shown) + len(arena.proposals))
    most = max((abs(each.fitness) for each in shown), default=0.0) or 1.0
    for each, spot in zip(shown, spots[len(arena.proposals) :], strict=True):
        parts += _fighter(each, spot, most)
    for (name, state), spot in zip(arena.proposals, spots, strict=False):
        parts += _box(spot, name, f"proposal, {state}", "var(--ink)", dashed=True)
    parts += [
        f'  <ellipse class="box" cx="{_X:.0f}" cy="{_Y:.0f}" rx="{_CENTRE[0]}" ry="{_CENTRE[1]}" stroke="var(--ink)"/>',
        f'  <text x="{_X:.0f}" y="{_Y - 6:.0f}" class="soft">goal</text>',
        f'  <text x="{_X:.0f}" y="{_Y + 14:.0f}" font-size="16">{escape(arena.goal)}</text>',
        *_legend(len(arena.fighters) - len(shown)),
    ]
    return "\n".join([*parts, "</svg>", ""])


def _spots(count: int) -> list[tuple[float, float]]:
    """Places around the goal, from the top on, evenly."""
    angles = [-math.pi / 2 + 2 * math.pi * number / max(1, count) for number in range(count)]
    return [(_X + _ACROSS * math.cos(angle), _Y + _DOWN * math.sin(angle)) for angle in angles]


def _marker(place: Place) -> str:
    return (
        f'  <marker id="{place}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="12" markerHeight="12"'
        f' markerUnits="userSpaceOnUse" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{_COLOURS[place]}"/></marker>'
    )


def _fighter(each: Fighter, spot: tuple[float, float], most: float) -> list[str]:
    colour = _COLOURS.get(each.place, _NEUTRAL)
    said = f"fit: {each.fitness:+.2f}" if each.signals else "not used for this" if not each.uses else "on trial"
    if each.place not in (Place.FIT, Place.UNFIT, Place.NEUTRAL):
        said += f", {each.place}"
    if each.strikes:
        said += f", {each.strikes} strike{'' if each.strikes == 1 else 's'}"
    parts = [] if not each.signals or each.place in _OUT else [_arrow(spot, each.fitness, most)]
    return [*parts, *_box(spot, each.name, said, colour, out=each.place in _OUT)]


def _arrow(spot: tuple[float, float], fitness: float, most: float) -> str:
    """From an executor to the goal's edge."""
    angle = math.atan2((spot[1] - _Y) / _CENTRE[1], (spot[0] - _X) / _CENTRE[0])
    end = (_X + (_CENTRE[0] + 6) * math.cos(angle), _Y + (_CENTRE[1] + 6) * math.sin(angle))
    place = Place.FIT if fitness > 0 else Place.UNFIT
    wide = 1 + _STRENGTH * abs(fitness) / most
    dash = ' stroke-dasharray="7 5"' if place is Place.UNFIT else ""
    return (
        f'  <line class="{place}" x1="{spot[0]:.1f}" y1="{spot[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"'
        f' stroke="{_COLOURS[place]}" stroke-width="{wide:.2f}" marker-end="url(#{place})"{dash}/>'
    )


def _box(
    spot: tuple[float, float], name: str, said: str, colour: str, *, dashed: bool = False, out: bool = False
) -> Sequence[str]:
    x, y = spot
    wide = max(110, 7.4 * max(len(name), len(said)) + 18)
    x = min(max(x, wide / 2 + 8), _WIDE - wide / 2 - 8)
    dash = ' stroke-dasharray="4 4"' if dashed else ""
    return (
        f"  <g{' class=' + chr(34) + 'out' + chr(34) if out else ''}>",
        f'    <rect class="box" x="{x - wide / 2:.1f}" y="{y - 22:.1f}" width="{wide:.1f}" height="44" rx="8"'
        f' stroke="{colour}"{dash}/>',
        f'    <text x="{x:.1f}" y="{y - 3:.1f}">{escape(name)}</text>',
        f'    <text x="{x:.1f}" y="{y + 14:.1f}" class="soft">{escape(said)}</text>',
        "  </g>",
    )


def _legend(left_out: int) -> list[str]:
    parts, x = [], 24.0
    for place, meaning in _MEANINGS:
        colour = _COLOURS.get(place, _NEUTRAL)
        parts.append(f'  <circle cx="{x:.0f}" cy="{_HIGH + 22}" r="5" fill="{colour}"/>')
        parts.append(
            f'  <text x="{x + 10:.0f}" y="{_HIGH + 26}" class="soft" style="text-anchor: start">{meaning}</text>'
        )
        x += 26 + 6.2 * len(meaning)
    if left_out > 0:
        more = f"and {left_out} more"
        parts.append(f'  <text x="{_WIDE / 2:.0f}" y="{_HIGH + 48}" class="soft">{more}</text>')
    return parts
