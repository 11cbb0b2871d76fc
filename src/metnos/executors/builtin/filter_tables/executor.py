"""Keeps the rows that meet conditions. The conditions are data: nothing in them is ever run."""

import re
import time

from metnos_kit import patterns

CPU_S = 3.0  # a call has five seconds
WITHOUT_VALUE = ("empty", "not_empty")
ORDERS = {
    "greater": lambda one, other: one > other,
    "less": lambda one, other: one < other,
    "at_least": lambda one, other: one >= other,
    "at_most": lambda one, other: one <= other,
}
TEXTS = {
    "contains": lambda text, part: part in text,
    "not_contains": lambda text, part: part not in text,
    "starts": lambda text, part: text.startswith(part),
    "ends": lambda text, part: text.endswith(part),
}


def run(args, ctx):
    limit = min(args.get("limit", ctx.limit), ctx.limit)
    check_columns(args["entries"], args["conditions"], ctx)
    tests = [(each["column"], make_test(each, args["ignore_case"], ctx)) for each in args["conditions"]]
    meets = all if args["match"] == "all" else any
    kept, total = [], 0
    for number, row in enumerate(args["entries"], start=1):
        if time.process_time() > CPU_S:
            ctx.fail("too_large", f"there was only time for {number - 1} of the rows: give fewer")
        if meets(test(row.get(column)) for column, test in tests):
            total += 1
            if len(kept) < limit:
                kept.append(row)
    return {"entries": kept, "total": total}


def check_columns(rows, conditions, ctx):
    """A column that no row has is a mistake, not an empty answer."""
    known = {name for row in rows for name in row}
    for condition in conditions if rows else ():
        if condition["column"] not in known:
            names = ", ".join(sorted(known))[:500]
            ctx.fail("not_found", f"no row has the column {condition['column']!r}; there are: {names}")


def make_test(condition, ignore_case, ctx):
    """A function from a cell to whether it meets the condition."""
    how, value = condition["is"], condition.get("value")
    if how in WITHOUT_VALUE:
        return lambda cell: (cell is None or str(cell).strip() == "") == (how == "empty")
    if "value" not in condition:
        ctx.fail("invalid", f"the condition {how!r} needs a `value`")
    if how == "matches":
        return make_matcher(value, ignore_case, ctx)
    if how in ("in", "between"):
        return make_list_test(how, value, ignore_case, ctx)
    if isinstance(value, list):
        ctx.fail("invalid", f"the condition {how!r} takes one `value`, not a list")
    if how in ("equals", "not"):
        return lambda cell: same(cell, value, ignore_case) == (how == "equals")
    if how in TEXTS:
        part = folded(value, ignore_case)
        return lambda cell: TEXTS[how](folded(cell, ignore_case), part)
    return lambda cell: ordered(cell, value, ORDERS[how])


def make_list_test(how, value, ignore_case, ctx):
    if not isinstance(value, list) or (how == "between" and len(value) != 2):
        ctx.fail("invalid", f"the condition {how!r} takes a list" + (" of two values" if how == "between" else ""))
    if how == "in":
        return lambda cell: any(same(cell, each, ignore_case) for each in value)
    return lambda cell: ordered(cell, value[0], ORDERS["at_least"]) and ordered(cell, value[1], ORDERS["at_most"])


def same(cell, value, ignore_case):
    one, other = number(cell), number(value)
    if one is not None and other is not None:
        return one == other
    if cell is None or value is None:
        return cell is value
    return folded(cell, ignore_case).strip() == folded(value, ignore_case).strip()


def ordered(cell, value, order):
    """Numbers are compared as numbers, other text as text (ISO dates are in order so); a mixture meets nothing."""
    one, other = number(cell), number(value)
    if one is not None and other is not None:
        return order(one, other)
    if isinstance(cell, str) and isinstance(value, str) and cell.strip() and one is None and other is None:
        return order(cell.casefold(), value.casefold())
    return False


def number(value):
    """A number, or a text that is plainly one; not a code such as 00123."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    if isinstance(value, str) and re.fullmatch(r"-?(0|[1-9]\d{0,14})(\.\d{1,15})?", value.strip(), re.ASCII):
        return float(value)
    return None


def folded(value, ignore_case):
    text = "" if value is None else ("true" if value else "false") if isinstance(value, bool) else str(value)
    return text.casefold() if ignore_case else text


def make_matcher(text, ignore_case, ctx):
    if not isinstance(text, str) or len(text) > 1000:
        ctx.fail("invalid", "the condition 'matches' takes a regular expression of at most 1000 characters")
    try:
        search, longest = patterns.guarded(text, ignore_case=ignore_case)
    except patterns.Refused as error:
        ctx.fail("invalid", f"the expression {error}")

    def matches(cell):
        content = folded(cell, False)
        if len(content) > longest:
            ctx.fail("too_large", f"a cell is longer than the {longest} characters that this expression is tried on")
        return search.search(content) is not None

    return matches
