"""Entries as plain text: a list, a few aligned columns, or the text that they hold.

Rules: everything here is content and stays content; whoever prints it makes it inert. What is left out is counted. A
size is shown as people write it, a time in the zone of whoever asked.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from pathlib import PurePath
from typing import Any

_COLUMNS = 5
_WIDEST = 70
_LONGEST_TEXT = 4000
_SIZES = frozenset(
    {"size", "bytes", "content_size", "first_size", "second_size", "memory_total", "memory_free", "disk"}
)
_TIMES = frozenset({"modified", "due", "made", "started", "taken"})
_DULL = frozenset({"encoding", "digest_of", "characters", "cut", "asked", "column", "guarded", "of", "kind", "more"})
_BODIES = ("text", "sentence", "diff", "difference")

Entry = Mapping[str, Any]


def render(entries: Sequence[Any], *, most: int, zone: tzinfo | None, home: str) -> list[str]:
    """The entries as lines; at most ``most`` of them, and how many more there are."""
    rows = [each for each in entries if isinstance(each, Mapping)]
    shown, more = rows[:most], len(rows) - most
    lines = _lines(shown, zone, home) if shown else []
    return [*lines, f"… +{more}"] if more > 0 else lines


def size(value: float) -> str:
    """A number of bytes as people write it."""
    for unit in ("bytes", "KB", "MB", "GB", "TB"):
        if abs(value) < 1000 or unit == "TB":
            return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError  # the last unit always returns


def _lines(rows: Sequence[Entry], zone: tzinfo | None, home: str) -> list[str]:
    if all(isinstance(row.get("says"), str) for row in rows):
        return [str(row["says"]) for row in rows]
    if all("path" in row and "to" in row for row in rows):
        return [f"{_tilde(str(row['path']), home)} → {_tilde(str(row['to']), home)}" for row in rows]
    if all("expression" in row and "result" in row for row in rows):
        return [f"{row['expression']} = {row['result']}" for row in rows]
    if all({"path", "line", "text"} <= set(row) for row in rows):
        return [f"{_tilde(str(row['path']), home)}:{row['line']}: {str(row['text']).strip()}" for row in rows]
    body = next((name for name in _BODIES if all(isinstance(row.get(name), str) for row in rows)), None)
    if body and any("\n" in row[body] or len(row[body]) > _WIDEST for row in rows):
        return [line for row in rows for line in _with_body(row, body, len(rows), home)]
    return _table(rows, zone, home)


def _with_body(row: Entry, body: str, of: int, home: str) -> list[str]:
    """A text under a line that says where it comes from; a single one needs no such line."""
    text = str(row[body]).rstrip()
    left_out = len(text) - _LONGEST_TEXT
    lines = text[:_LONGEST_TEXT].splitlines() + ([f"… +{left_out} characters"] if left_out > 0 else [])
    if of == 1:
        return lines
    where = [_tilde(str(row[name]), home) for name in ("path", "url", "title") if row.get(name)]
    where += [f"{name} {row[name]}" for name in ("page", "part") if row.get(name) not in (None, "")]
    return [f"— {', '.join(where)}", *lines] if where else lines


def _table(rows: Sequence[Entry], zone: tzinfo | None, home: str) -> list[str]:
    names = _choose(rows)
    if not names:
        return []
    cells = [[_cell(name, row.get(name), zone, home) for name in names] for row in rows]
    if len(names) == 1:
        return [row[0] for row in cells]
    if len(rows) == 1 and _needs_head(names):
        wide = max(len(name) for name in names)
        return [f"{name:<{wide}}  {cell}" for name, cell in zip(names, cells[0], strict=True)]
    widths = [max(len(row[place]) for row in [list(names), *cells]) for place in range(len(names))]
    lines = [list(names), *cells] if _needs_head(names) else cells
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in lines]


def _choose(rows: Sequence[Entry]) -> list[str]:
    """The columns worth showing: those that say something, the first few."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    plain = [name for name in names if all(not isinstance(row.get(name), Mapping | list) for row in rows)]
    known = "path" in plain and all(PurePath(str(row.get("path"))).name == row.get("name") for row in rows)
    plain = [name for name in plain if not (known and name == "name")]
    telling = [name for name in plain if name not in _DULL or (name == "kind" and _differ(rows, name))]
    return (telling or plain or names)[:_COLUMNS]


def _differ(rows: Sequence[Entry], name: str) -> bool:
    return len({str(row.get(name)) for row in rows}) > 1


def _needs_head(names: Sequence[str]) -> bool:
    """A list of files explains itself; a table does not."""
    return not set(names) <= {"path", "size", "modified", "kind"}


def _cell(name: str, value: Any, zone: tzinfo | None, home: str) -> str:
    if value is None:
        return ""
    if name in _SIZES and isinstance(value, int) and not isinstance(value, bool):
        return size(value)
    if name in _TIMES and isinstance(value, str):
        return _time(value, zone)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.12g}"
    text = " ".join(str(value).split())
    text = _tilde(text, home) if name in ("path", "first", "to") else text
    return text if len(text) <= _WIDEST or name == "path" else f"{text[: _WIDEST - 1]}…"


def _time(text: str, zone: tzinfo | None) -> str:
    try:
        moment = datetime.fromisoformat(text)
        return f"{moment.astimezone(zone) if moment.tzinfo and zone else moment:%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):  # no time, or none that the calendar has in this zone
        return text


def _tilde(path: str, home: str) -> str:
    return f"~{path[len(home) :]}" if home != "/" and (path == home or path.startswith(f"{home}/")) else path
