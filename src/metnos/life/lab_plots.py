"""The lab's plots: for each stream how every arm did from generation to generation, with its interval. Pure."""

from collections.abc import Callable

from metnos.life import line_plot
from metnos.life.lab_report import OURS, Found, Share, whole, youth
from metnos.life.line_plot import Axes, Line

_MEASURES: tuple[tuple[str, str, Share], ...] = (
    ("youth", "wrong before the first consolidation", youth),
    ("whole", "wrong in whole lives", whole),
)


def plots(found: Found) -> dict[str, str]:
    """File names and what is in them."""
    return {
        f"{stream}-{name}.svg": _plot(found, stream, f"{stream}: {said}", of)
        for stream in found.streams
        for name, said, of in _MEASURES
    }


def _plot(found: Found, stream: str, title: str, of: Callable[..., float]) -> str:
    lines = []
    for arm in found.main:
        means = [found.mean(stream, arm, of, generation) for generation in range(1, found.size.generations + 1)]
        points = [(float(place + 1), each.mean) for place, each in enumerate(means)]
        band = [(max(0.0, each.low), min(100.0, each.high)) for each in means]
        lines.append(Line(arm, points, band, is_main=arm == OURS))
    return line_plot.svg(title, lines, Axes("generation", "% wrong", 0.0, 100.0))
