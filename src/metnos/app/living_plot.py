"""A life as a drawing: vitality and its clocks over ticks, with the bounds of the phases."""

from collections.abc import Mapping
from typing import Any

from metnos.life.line_plot import Axes, Bound, Line, svg
from metnos.life.vitality_rules import ORDER, RULES

_CLOCKS = {"economic": "money", "epistemic": "knowledge", "stochastic": "age"}


def picture(status: Mapping[str, Any]) -> str:
    """The SVG of what `Living.status` found. Clocks that do not run are left out."""
    points = status["points"]
    running = [name for name in _CLOCKS if status["clocks"][name]["runs"]]
    lines = [Line("vitality", [(each["tick"], each["vitality"]) for each in points], is_main=True)]
    lines += [Line(_CLOCKS[name], [(each["tick"], each[name]) for each in points]) for name in running]
    bounds = [Bound(str(phase), bound) for phase, bound in zip(ORDER[:-1], RULES.bounds, strict=True)]
    title = f"A life: {status['tick']} ticks, {status['phase']}"
    return svg(title, lines, Axes("tick", "vitality", 0.0, 1.0), bounds)
