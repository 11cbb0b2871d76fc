"""Reads a table from CSV, JSON, JSON lines, SQLite or XLSX: the entries are its rows."""

from metnos_kit import table_reading, tables


def run(args, ctx):
    limit, offset, wanted = min(args.get("limit", ctx.limit), ctx.limit), args["offset"], args.get("columns")
    first, failures, total, known = [], [], 0, {}
    reader = table_reading.Reader(args["path"], args, ctx, table_reading.forgiving(failures, ctx))
    for row in reader.rows():
        total += 1
        if wanted:
            known.update(dict.fromkeys(row))
        if offset < total <= offset + limit:
            first.append({name: row.get(name) for name in wanted} if wanted else row)
    unknown = [name for name in wanted or () if total and name not in known]
    if unknown:
        ctx.fail("not_found", f"the table has no column {unknown[0]!r}; it has: {', '.join(known)[:500]}")
    entries = list(tables.fitting(first))
    if first and not entries:
        ctx.fail("too_large", "one row alone holds more than an answer can show: say which `columns`")
    return {"entries": entries, "total": total, "failures": failures}
