"""Reads a table from CSV, JSON, JSON lines, SQLite or XLSX: the entries are its rows."""

from metnos_kit import table_reading

MOST_TOGETHER = 700_000  # characters of the whole reply
LONGEST = 20_000  # characters of one cell


def run(args, ctx):
    limit, offset, wanted = min(args.get("limit", ctx.limit), ctx.limit), args["offset"], args.get("columns")
    entries, failures, total, left, known = [], [], 0, MOST_TOGETHER, {}
    reader = table_reading.Reader(args["path"], args, ctx, table_reading.forgiving(failures, ctx))
    for row in reader.rows():
        total += 1
        if wanted:
            known.update(dict.fromkeys(row))
        if total <= offset or len(entries) >= limit or left <= 0:
            continue
        entry = {name: shortened(row.get(name)) for name in wanted or row}
        left -= sum(len(name) + len(str(value)) for name, value in entry.items())
        entries.append(entry)
    unknown = [name for name in wanted or () if total and name not in known]
    if unknown:
        ctx.fail("not_found", f"the table has no column {unknown[0]!r}; it has: {', '.join(known)[:500]}")
    return {"entries": entries, "total": total, "failures": failures}


def shortened(value):
    return value[:LONGEST] if isinstance(value, str) else value
