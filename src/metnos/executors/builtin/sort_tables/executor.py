"""Puts rows into order: numbers before text, text without regard to case and accents, what is missing always last."""

import re
import unicodedata


def run(args, ctx):
    rows = list(args["entries"])
    known = {name for row in rows for name in row}
    for each in args["by"] if rows else ():
        if each["column"] not in known:
            names = ", ".join(sorted(known))[:500]
            ctx.fail("not_found", f"no row has the column {each['column']!r}; there are: {names}")
    # Sorting keeps the order of equals, so the weightiest column comes last.
    for each in reversed(args["by"]):
        rows = by_column(rows, each["column"], each.get("descending", False))
    return {"entries": rows[: min(args.get("limit", ctx.limit), ctx.limit)], "total": len(rows)}


def by_column(rows, column, descending):
    full = [row for row in rows if not missing(row.get(column))]
    lacking = [row for row in rows if missing(row.get(column))]
    # `reverse` keeps the order of equals too.
    return sorted(full, key=lambda row: rank(row[column]), reverse=descending) + lacking


def missing(value):
    return value is None or (isinstance(value, str) and not value.strip())


def rank(value):
    """A key that any two values can be compared by."""
    if isinstance(value, bool):
        return (0, int(value), "", "")
    if isinstance(value, int | float):
        return (1, value, "", "")
    text = str(value).strip()
    if re.fullmatch(r"-?(0|[1-9]\d{0,14})(\.\d{1,15})?", text, re.ASCII):
        return (1, float(text), "", text)
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    letters = "".join(char for char in decomposed if not unicodedata.combining(char))
    return (2, 0, letters, text)
