"""Describes the columns of a table: types, counts, least and greatest values, empty cells."""

import math
import re
from collections import Counter

from metnos_kit import patterns, table_reading, tables

MOST_DISTINCT = 10_000  # values of one column that are counted each for itself
MOST_COLUMNS = 1_000
SHOWN = 200  # characters of a value
DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:?\d\d)?)?", re.ASCII)


def run(args, ctx):
    failures, columns, rows = [], {}, 0
    for row in rows_of(args, failures, ctx):
        rows += 1
        for name, value in row.items():
            if name not in columns:
                if len(columns) >= MOST_COLUMNS:
                    ctx.fail("too_large", f"the table has more than {MOST_COLUMNS} columns")
                columns[name] = {"types": Counter(), "distinct": set(), "sum": 0.0, "least": {}, "greatest": {}}
            note(columns[name], value)
    entries = [summary(name, seen, rows) for name, seen in columns.items()]
    return {"entries": entries[: ctx.limit], "total": len(entries), "failures": failures}


def rows_of(args, failures, ctx):
    if "entries" in args:
        work = tables.Work(ctx, table_reading.Reader, patterns.guarded)
        return map(table_reading.json_row, work.rows(args))
    return table_reading.Reader(args["path"], args, ctx, table_reading.forgiving(failures, ctx)).rows()


def note(seen, value):
    """Takes one value into account."""
    kind = type_of(value)
    if kind == "empty":
        return
    seen["types"][kind] += 1
    if len(seen["distinct"]) < MOST_DISTINCT:
        seen["distinct"].add(value if kind != "text" else value[:SHOWN])
    if kind == "number":
        seen["sum"] += value
    if kind not in seen["least"] or value < seen["least"][kind]:
        seen["least"][kind] = value
    if kind not in seen["greatest"] or value > seen["greatest"][kind]:
        seen["greatest"][kind] = value


def type_of(value):
    if value is None or value == "":
        return "empty"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "date" if DATE.fullmatch(value) else "text"


def summary(name, seen, rows):
    full = sum(seen["types"].values())
    kinds = sorted(seen["types"])
    kind = kinds[0] if len(kinds) == 1 else "mixed" if kinds else "empty"
    entry = {
        "column": name,
        "type": kind,
        "rows": rows,
        "filled": full,
        "empty": rows - full,
        "distinct": len(seen["distinct"]),
        "all_distinct_counted": len(seen["distinct"]) < MOST_DISTINCT,
        "types": dict(seen["types"]),
    }
    if len(kinds) == 1:
        least, greatest = seen["least"][kind], seen["greatest"][kind]
        entry["min"], entry["max"] = (each[:SHOWN] if isinstance(each, str) else each for each in (least, greatest))
    if kind == "number" and math.isfinite(seen["sum"]):
        entry["mean"] = round(seen["sum"] / full, 6)
    return entry
