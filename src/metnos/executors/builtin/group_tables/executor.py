"""Groups rows by equal values, and works out counts, sums and the like of each group."""

import json
import math
import re
import statistics


def run(args, ctx):
    rows, wanted = args["entries"], args["aggregates"]
    check_columns(rows, [*args["by"], *(each["column"] for each in wanted)], ctx)
    names = [each.get("as") or f"{each['do']}_{each['column']}" for each in wanted]
    taken = [*args["by"], "count", *names]
    if len(set(taken)) < len(taken):
        ctx.fail("invalid", "two columns of the answer would have one name: name the aggregates with `as`")
    groups = {}
    for row in rows:
        groups.setdefault(tuple(identity(row.get(column)) for column in args["by"]), []).append(row)
    left_out = {}
    entries = []
    for members in groups.values():
        entry = {column: members[0].get(column) for column in args["by"]}
        entry["count"] = len(members)
        for name, each in zip(names, wanted, strict=True):
            values = [row.get(each["column"]) for row in members]
            entry[name] = work_out(each["do"], values, each["column"], left_out)
        entries.append(entry)
    failures = [
        ctx.failure(column, "invalid", f"{count} values are no numbers and were left out")
        for column, count in left_out.items()
    ]
    limit = min(args.get("limit", ctx.limit), ctx.limit)
    return {"entries": entries[:limit], "total": len(entries), "failures": failures}


def check_columns(rows, columns, ctx):
    known = {name for row in rows for name in row}
    for column in columns if rows else ():
        if column not in known:
            names = ", ".join(sorted(known))[:500]
            ctx.fail("not_found", f"no row has the column {column!r}; there are: {names}")


def identity(value):
    """What makes two values the same group: 1 and 1.0 are, 1, true and the text 1 are not."""
    if isinstance(value, bool):
        return "boolean", value
    if isinstance(value, int | float):
        return "number", value
    if value is None or (isinstance(value, str) and not value.strip()):
        return "empty", ""
    return "text", value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def work_out(what, values, column, left_out):
    """One aggregate; nothing (null) if the group has no value for it."""
    full = [value for value in values if value is not None and not (isinstance(value, str) and not value.strip())]
    if what == "count":
        return len(full)
    numbers = [each for each in map(number, full) if each is not None]
    if what in ("min", "max") and not numbers:
        texts = [str(value) for value in full]
        return (min if what == "min" else max)(texts, default=None)
    if len(numbers) < len(full):
        left_out[column] = left_out.get(column, 0) + len(full) - len(numbers)
    if not numbers:
        return None
    return CALCULATIONS[what](numbers)


def number(value):
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value if abs(value) < 1e300 else None  # so that no sum of them overflows
    if isinstance(value, str) and re.fullmatch(r"-?(0|[1-9]\d{0,14})(\.\d{1,15})?", value.strip(), re.ASCII):
        return float(value) if "." in value else int(value)
    return None


def total(numbers):
    """Whole numbers add up exactly, others without the errors of adding one by one."""
    if all(isinstance(each, int) for each in numbers):
        return sum(numbers)
    return round(math.fsum(numbers), 9)


def mean(numbers):
    return round(total(numbers) / len(numbers), 9)


CALCULATIONS = {"sum": total, "mean": mean, "min": min, "max": max, "median": statistics.median}
