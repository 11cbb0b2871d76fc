"""Turns a table file into one of another format."""

from metnos_kit import table_reading, table_writing

MOST_ROWS = 200_000
LATE = "the table is too large to be converted in the time of one call; nothing was written"


def run(args, ctx):
    kind = table_writing.format_of(args["to"], args["to_format"], ctx)
    rows = all_rows(args, ctx)
    names = table_writing.columns_of(rows)
    if not names:
        ctx.fail("invalid", "the table has no rows; nothing was written")
    writer = table_writing.Writer(ctx, delimiter=args["to_delimiter"], table=args.get("table", "table"), late=LATE)
    saved = writer.save(rows, names, kind)
    ctx.put(args["to"], writer.local, overwrite=args["overwrite"])
    done = {"path": args["to"], "from": args["path"], "format": kind, "rows": len(rows), "columns": len(names)}
    return {"results": [{**done, "bytes": saved.size, "guarded": saved.guarded}]}


def all_rows(args, ctx):
    def broken(number):
        ctx.fail("unreadable", f"line {number} is not JSON; nothing was written")

    rows = []
    for row in table_reading.Reader(args["path"], args, ctx, broken, late=LATE).rows():
        if len(rows) >= MOST_ROWS:
            ctx.fail("too_large", f"the table has more than {MOST_ROWS} rows; nothing was written")
        rows.append(row)
    return rows
