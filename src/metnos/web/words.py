"""Figures, times and sizes as a person reads them: the filters that every template has.

Rules: whatever cannot be read is shown as it is, never an error: a page with an odd figure is better than none. All are
pure but for the clock that they are given. Times are shown in the zone of the machine that Metnos runs on.
"""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from metnos.core.clock import from_text

_STEPS = ((60, 1, "s"), (3600, 60, "min"), (48 * 3600, 3600, "h"), (60 * 86400, 86400, "days"))
_MONTH, _YEAR = 30.44 * 86400, 365.25 * 86400
_UNITS = ("bytes", "KB", "MB", "GB", "TB", "PB")
_SHORT = 8  # the last letters of an id are the ones that differ


def ago(moment: Any, now: datetime) -> str:
    """``3 min ago``, ``in 2 h``, ``just now``."""
    try:
        passed = (now - from_text(str(moment))).total_seconds()
    except ValueError:
        return str(moment or "never")
    if abs(passed) < 5:
        return "just now"
    text = _span(abs(passed))
    return f"{text} ago" if passed > 0 else f"in {text}"


def moment(text: Any, form: str = "%Y-%m-%d %H:%M") -> str:
    """A time of the API's as a clock on the wall shows it."""
    try:
        return from_text(str(text)).astimezone().strftime(form)
    except ValueError:
        return str(text or "")


def milliseconds(value: Any) -> str:
    """``34 ms``, ``2.5 s``, ``3 min 20 s``."""
    number = _number(value)
    if number is None:
        return str(value or "")
    if number < 1000:
        return f"{number:.0f} ms" if number >= 10 or not number else f"{number:.1f} ms"
    if number < 60_000:
        return f"{number / 1000:.1f} s"
    minutes, seconds = divmod(int(number / 1000), 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s" if seconds else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def size(value: Any) -> str:
    """``685 bytes``, ``2.0 MB``."""
    number = _number(value)
    if number is None:
        return str(value or "")
    for unit in _UNITS[:-1]:
        if abs(number) < 1000:
            return f"{number:.0f} {unit}" if unit == _UNITS[0] else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} {_UNITS[-1]}"


def money(value: Any) -> str:
    """``$0.0042``, or ``nothing``."""
    number = _number(value)
    if not number:
        return "nothing"
    return f"${number:,.2f}" if number >= 1 else f"${number:.4f}"


def percent(value: Any, digits: int = 0) -> str:
    number = _number(value)
    return "" if number is None else f"{number:.{digits}%}"


def figure(value: Any, digits: int = 2) -> str:
    """A number with so many digits after the point; whole ones with their thousands apart."""
    number = _number(value)
    if number is None:
        return str(value if value is not None else "")
    return f"{number:,.0f}" if isinstance(value, int) else f"{number:,.{digits}f}"


def counted(number: Any, noun: str, many: str = "") -> str:
    """``1 line``, ``2 lines``."""
    value = _number(number) or 0
    return f"{value:,.0f} {noun if value == 1 else many or noun + 's'}"


def short(key: Any) -> str:
    """An id for a list: its last letters, by which every command finds it again."""
    return str(key)[-_SHORT:]


def plain(value: Any) -> str:
    """Any value of the API's as a line of text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, list) and not any(isinstance(each, dict | list) for each in value):
        return ", ".join(map(plain, value))
    return json.dumps(value, ensure_ascii=False)


def pretty(value: Any) -> str:
    """Any value of the API's as JSON that can be read and edited."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def points(values: Iterable[Any], width: float = 100, height: float = 24) -> str:
    """Where a line through ``values`` goes, for the ``points`` of an SVG polyline."""
    numbers = [number for number in map(_number, values) if number is not None]
    if not numbers:
        return ""
    numbers = numbers * 2 if len(numbers) == 1 else numbers
    low, high = min(numbers), max(numbers)
    across, up = width / (len(numbers) - 1), (height - 4) / (high - low or 1)
    level = height / 2 if high == low else height - 2
    return " ".join(f"{place * across:.1f},{level - (value - low) * up:.1f}" for place, value in enumerate(numbers))


def _span(seconds: float) -> str:
    for below, unit, name in _STEPS:
        if seconds < below:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds / _MONTH:.0f} months" if seconds < 2 * _YEAR else f"{seconds / _YEAR:.0f} years"


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
