"""Records as a markdown table, which models read better than prose or JSON (seed 003).

Rules: columns are in the order in which they first appear; a column that nothing fills is left out; a cell is one line,
and no content can end its cell or begin a row. What is too much is left out by rows, from the end, and it is said how
many. Does not decide what belongs into a table: records of one shape do, a single one does not.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

LEAST_ROWS = 2  # of a single record its fields are clearer
MOST_COLUMNS = 12  # beyond that rows no longer fit a line


def is_tabular(rows: Sequence[Any]) -> bool:
    """Whether these are records that a table shows well: several, flat, with mostly the same fields."""
    if len(rows) < LEAST_ROWS or not all(isinstance(row, Mapping) for row in rows):
        return False
    names = _columns(rows)
    if not names or len(names) > MOST_COLUMNS:
        return False
    flat = all(not isinstance(value, Mapping | list | tuple) or not value for row in rows for value in row.values())
    filled = sum(name in row for row in rows for name in names)
    return flat and 2 * filled >= len(rows) * len(names)


def table(rows: Sequence[Mapping[str, Any]], most: int | None = None) -> str:
    """The records as a table of at most ``most`` rows; nothing for none."""
    names = _columns(rows)
    if not names:
        return ""
    shown = rows if most is None else rows[: max(most, 0)]
    lines = [_line(names), f"|{'|'.join('---' for _ in names)}|"]
    lines += [_line([row.get(name) for name in names]) for row in shown]
    if len(shown) < len(rows):
        lines.append(f"({len(rows) - len(shown)} more rows)")
    return "\n".join(lines)


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(
        dict.fromkeys(str(name) for row in rows for name, value in row.items() if value not in (None, "", [], {}))
    )


def _line(cells: Sequence[Any]) -> str:
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|")
