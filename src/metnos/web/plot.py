"""Small plots as SVG: curves, bars, dots and bounds over time. Pure: the same data gives the same text.

Rules: no style of its own, only classes (``plots.css`` knows both themes); every text that is given is escaped, and no
character in it can break the drawing; whatever is finite is drawn inside its box, and what is not is left out. A plot
is made twice, for a desk and for a phone, and the style sheet shows one of them: text that shrinks with a drawing
cannot be read. Each says in words what it shows.
Does not guarantee that every point can be told from its neighbour: it is for the eye, and figures stand beside it.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from markupsafe import Markup, escape

from metnos.core.clock import from_text

DAY = 86400.0
_MOST = 1e12  # beyond it nothing here is counted, and drawing stays exact
_FIRST, _LAST = -62135596800.0 + 366 * DAY, 253402300799.0 - 366 * DAY  # seconds: years that a calendar has
_LETTER = 6.6  # pixels of a letter at the style sheet's size, generously
_DOT = 3.0
_HOURS, _DAYS, _MONTHS = (1, 3, 6, 12), (1, 2, 7, 14), (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400)
_UNSOUND = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_MANY = 1500  # points of a curve, beyond which nobody sees a difference
_FEWEST = 7  # bars that there is room for, however few there are

Kind = Literal["line", "area", "bars", "dots", "bound"]


@dataclass(frozen=True, slots=True)
class Series:
    """What is drawn of one thing: (seconds since 1970, value). ``wide`` is how long a bar lasts, in seconds."""

    name: str
    points: Sequence[tuple[float, float]]
    kind: Kind = "line"
    tone: str = "accent"
    wide: float = DAY


@dataclass(frozen=True, slots=True)
class Box:
    """How large a drawing is, and what its edges leave free for words."""

    name: str
    width: float
    height: float
    left: float = 46.0
    right: float = 12.0
    top: float = 12.0
    foot: float = 26.0


BOXES = (Box("desk", 720, 220), Box("phone", 340, 190))


@dataclass(frozen=True, slots=True)
class _Scale:
    """From data to pixels of a box. ``end`` is where the first of what is drawn ends."""

    box: Box
    x: tuple[float, float]
    y: tuple[float, float]
    end: float

    def across(self, value: float) -> float:
        inner = self.box.width - self.box.left - self.box.right
        return self.box.left + inner * _share(value, self.x)

    def down(self, value: float) -> float:
        inner = self.box.height - self.box.top - self.box.foot
        return self.box.height - self.box.foot - inner * _share(value, self.y)


def over_time(
    series: Sequence[Series],
    *,
    title: str,
    words: str = "",
    low: float | None = 0.0,
    high: float | None = None,
    says: Callable[[float], str] | None = None,
    legend: bool = True,
) -> Markup:
    """A figure with all ``series``. ``low`` and ``high`` are values that the scale reaches at least; ``says`` puts a
    value into words. Without a point there is nothing to show, and the figure says so."""
    title, words = _sound(title), _sound(words)
    clean = [Series(_sound(each.name), _clean(each.points), each.kind, each.tone, each.wide) for each in series]
    clean = [each for each in clean if each.points]
    drawn = [each for each in clean if each.kind != "bound"]
    if not drawn:
        return Markup('<p class="nothing">{}</p>').format("There is nothing to draw yet.")
    say = says or _plain
    x, y, end = _x_range(drawn), _y_range(clean, low, high), drawn[0].points[-1][1]
    pictures = Markup("").join(_svg(clean, _Scale(box, x, y, end), title, words, say) for box in BOXES)
    below = _legend(clean) if legend and len({each.name for each in clean}) > 1 else Markup("")
    return Markup('<figure class="plot">{}{}</figure>').format(pictures, below)


def curve(pairs: Iterable[Any]) -> list[tuple[float, float]]:
    """Points from the API's ``[time, value]`` pairs; what cannot be read as such is left out."""
    found = []
    for pair in pairs:
        try:
            moment, value = pair
            found.append((from_text(str(moment)).timestamp(), float(value)))
        except (TypeError, ValueError):
            continue
    return found


def day(text: Any) -> float | None:
    """The beginning of a day of the API's (``2026-08-04``), in seconds."""
    try:
        return datetime.fromisoformat(str(text)).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None


# -- ranges


def _clean(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    kept = [
        (min(max(x, _FIRST), _LAST), min(max(y, -_MOST), _MOST))
        for x, y in points
        if math.isfinite(x) and math.isfinite(y)
    ]
    kept.sort(key=lambda point: point[0])
    return kept if len(kept) <= _MANY else _thinned(kept)


def _thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Of each stretch the lowest and the highest: a peak is what one looks for."""
    stretch = math.ceil(2 * len(points) / _MANY)
    found = [points[0]]
    for start in range(0, len(points), stretch):
        part = points[start : start + stretch]
        found += sorted({min(part, key=lambda each: each[1]), max(part, key=lambda each: each[1])})
    return [*found, points[-1]]


def _x_range(series: Sequence[Series]) -> tuple[float, float]:
    first = min(each.points[0][0] for each in series)
    last = max(each.points[-1][0] + (each.wide if each.kind == "bars" else 0) for each in series)
    last = min(last, _LAST + DAY)
    # One bar alone would fill the whole picture and say nothing.
    first = max(min([first, *(last - _FEWEST * each.wide for each in series if each.kind == "bars")]), _FIRST - DAY)
    return (first, last) if last - first >= 60 else (first - DAY / 2, last + DAY / 2)


def _y_range(series: Sequence[Series], low: float | None, high: float | None) -> tuple[float, float]:
    values = [value for each in series for _, value in each.points]
    values += [0.0] if any(each.kind in ("bars", "area") for each in series) else []
    values += [each for each in (low, high) if each is not None]
    least, most = min(values), max(values)
    if most - least < 1e-9 * max(1.0, abs(most)):
        least, most = (0.0, 1.0) if abs(most) < 1e-9 else sorted((most - abs(most) / 2, most + abs(most) / 2))
    step = _step(most - least)
    return math.floor(least / step + 1e-9) * step, math.ceil(most / step - 1e-9) * step


def _step(span: float) -> float:
    """A round number that divides ``span`` into two to five parts."""
    size = 10.0 ** math.floor(math.log10(span))
    return next((size * part for part in (0.2, 0.25, 0.5, 1.0, 2.0) if span / (size * part) <= 5), size * 2)


def _share(value: float, span: tuple[float, float]) -> float:
    low, high = span
    return min(max((value - low) / (high - low), 0.0), 1.0)


# -- drawing


def _svg(series: Sequence[Series], scale: _Scale, title: str, words: str, say: Callable[[float], str]) -> Markup:
    box = scale.box
    parts = [*_levels(scale, say), *_moments(scale)]
    order = ("area", "bars", "line", "bound", "dots")
    for each in sorted(series, key=lambda one: order.index(one.kind)):
        parts += _DRAWN[each.kind](each, scale, say)
    label = f"{title}. {words}" if words else title
    return Markup(
        '<svg class="drawing {}" viewBox="0 0 {} {}" role="img" aria-label="{}">'
        "<title>{}</title><desc>{}</desc>{}</svg>"
    ).format(box.name, _n(box.width), _n(box.height), label, title, words, Markup("").join(parts))


def _levels(scale: _Scale, say: Callable[[float], str]) -> list[Markup]:
    box, (low, high) = scale.box, scale.y
    step = _step(high - low)
    count = round((high - low) / step)
    parts = []
    for number in range(count + 1):
        y, text = scale.down(low + number * step), say(low + number * step)
        parts.append(_line("grid", box.left, y, box.width - box.right, y))
        parts.append(_text(box.left - 6, min(y + 4, box.height - 4), "end", text[: int((box.left - 6) / _LETTER)]))
    return parts


def _moments(scale: _Scale) -> list[Markup]:
    box = scale.box
    parts, free = [], box.left - 20.0
    for moment, text in _ticks(scale.x, most=int((box.width - box.left) / 70)):
        x, half = scale.across(moment), len(text) * _LETTER / 2
        at = min(max(x, half), box.width - half)
        if at - half < free:
            continue
        parts += [_line("tick", x, box.height - box.foot, x, box.height - box.foot + 4)]
        parts += [_text(at, box.height - 7, "middle", text)]
        free = at + half + 8
    return parts


def _ticks(span: tuple[float, float], most: int) -> list[tuple[float, str]]:
    """Moments that a calendar knows, at most so many, with their names."""
    start, end = (datetime.fromtimestamp(0, UTC) + timedelta(seconds=each) for each in span)
    days = (end - start) / timedelta(days=1)
    if days * 24 / _HOURS[-1] <= most and days <= 3:
        step = next((each for each in _HOURS if days * 24 / each <= most), _HOURS[-1])
        first = start.replace(minute=0, second=0, microsecond=0, hour=start.hour - start.hour % step)
        return _every(first, timedelta(hours=step), start, end, "%H:%M")
    if days / _DAYS[-1] <= most:
        step = next((each for each in _DAYS if days / each <= most), _DAYS[-1])
        first = start.replace(minute=0, second=0, microsecond=0, hour=0)
        return _every(first, timedelta(days=step), start, end, "%-d %b")
    step = next((each for each in _MONTHS if days / 30.4 / each <= most), _MONTHS[-1])
    form = "%b %Y" if step < 12 else "%Y"
    months = range(start.year * 12, end.year * 12 + 12, step)
    firsts = [datetime(max(each // 12, 1), each % 12 + 1, 1, tzinfo=UTC) for each in months if each // 12 <= 9999]
    return [(each.timestamp(), each.strftime(form)) for each in firsts if start <= each <= end]


def _every(at: datetime, step: timedelta, start: datetime, end: datetime, form: str) -> list[tuple[float, str]]:
    found = []
    while at <= end:
        if at >= start:
            found.append((at.timestamp(), at.strftime(form)))
        at += step
    return found


def _draw_line(series: Series, scale: _Scale, _say: Callable[[float], str]) -> list[Markup]:
    points = " ".join(f"{_n(scale.across(x))},{_n(scale.down(y))}" for x, y in series.points)
    if len(series.points) == 1:
        return _draw_dots(series, scale, _say)
    return [Markup('<polyline class="curve {}" points="{}"/>').format(series.tone, points)]


def _draw_area(series: Series, scale: _Scale, say: Callable[[float], str]) -> list[Markup]:
    ground = _n(scale.down(0.0))
    first, last = (_n(scale.across(series.points[place][0])) for place in (0, -1))
    points = " ".join(f"{_n(scale.across(x))},{_n(scale.down(y))}" for x, y in series.points)
    filled = Markup('<polygon class="under {}" points="{}"/>')
    return [filled.format(series.tone, f"{first},{ground} {points} {last},{ground}"), *_draw_line(series, scale, say)]


def _draw_bars(series: Series, scale: _Scale, say: Callable[[float], str]) -> list[Markup]:
    parts = []
    for x, y in series.points:
        left, right = scale.across(x), scale.across(min(x + series.wide, _LAST + DAY))
        gap = min((right - left) * 0.2, 4.0)
        top, ground = sorted((scale.down(y), scale.down(0.0)))
        wide = min(max(right - left - gap, 1.0), scale.box.width - left)
        when = f"{datetime.fromtimestamp(0, UTC) + timedelta(seconds=x):%Y-%m-%d}"
        parts.append(
            Markup('<rect class="column {}" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>').format(
                series.tone, _n(left), _n(top), _n(wide), _n(ground - top), f"{when}: {say(y)}"
            )
        )
    return parts


def _draw_dots(series: Series, scale: _Scale, _say: Callable[[float], str]) -> list[Markup]:
    return [
        Markup('<circle class="dot {}" cx="{}" cy="{}" r="{}"/>').format(
            series.tone, _n(scale.across(x)), _n(scale.down(y)), _n(_DOT)
        )
        for x, y in series.points
    ]


def _draw_bound(series: Series, scale: _Scale, say: Callable[[float], str]) -> list[Markup]:
    """A level from edge to edge, with its name: the one thing that a curve is held against."""
    box, value = scale.box, series.points[-1][1]
    y = scale.down(value)
    text = f"{series.name} {say(value)}"[: int((box.width - box.left - box.right) / _LETTER)]
    below = scale.end > value or y - 5 < box.top  # its name keeps out of the curve's way
    return [
        _line(f"bound {series.tone}", box.left, y, box.width - box.right, y),
        _text(
            box.width - box.right, min(y + 13, box.height - 4) if below else y - 5, "end", text, f"name {series.tone}"
        ),
    ]


_DRAWN: dict[Kind, Callable[[Series, _Scale, Callable[[float], str]], list[Markup]]] = {
    "line": _draw_line,
    "area": _draw_area,
    "bars": _draw_bars,
    "dots": _draw_dots,
    "bound": _draw_bound,
}


def _legend(series: Sequence[Series]) -> Markup:
    named = {each.name: each for each in series if each.kind != "bound"}
    if len(named) < 2:
        return Markup("")
    entries = Markup("").join(
        Markup('<li><svg class="key" viewBox="0 0 20 10" aria-hidden="true">{}</svg>{}</li>').format(
            _sign(each), each.name
        )
        for each in named.values()
    )
    return Markup('<figcaption><ul class="keys">{}</ul></figcaption>').format(entries)


def _sign(series: Series) -> Markup:
    if series.kind == "dots":
        return Markup('<circle class="dot {}" cx="10" cy="5" r="3"/>').format(series.tone)
    if series.kind == "bars":
        return Markup('<rect class="column {}" x="4" y="0" width="12" height="10"/>').format(series.tone)
    return Markup('<polyline class="curve {}" points="1,5 19,5"/>').format(series.tone)


def _line(kind: str, x1: float, y1: float, x2: float, y2: float) -> Markup:
    return Markup('<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>').format(kind, _n(x1), _n(y1), _n(x2), _n(y2))


def _text(x: float, y: float, anchor: str, text: str, kind: str = "label") -> Markup:
    return Markup('<text class="{} {}" x="{}" y="{}">{}</text>').format(kind, anchor, _n(x), _n(y), escape(text))


def _sound(text: str) -> str:
    """Text without what no drawing may hold: control characters and halves of characters."""
    return _UNSOUND.sub("\N{REPLACEMENT CHARACTER}", text)


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.3g}"
