"""Writes rows as a table file: CSV, TSV, JSON, JSON lines, XLSX or SQLite."""

from metnos_kit import patterns, table_reading, table_writing, tables


def run(args, ctx):
    work = tables.Work(ctx, table_reading.Reader, patterns.guarded)
    path, rows = args["path"], work.rows(args)
    kind = table_writing.format_of(path, args["format"], ctx)
    names = args.get("columns") or table_writing.columns_of(rows)
    if not names:
        ctx.fail("invalid", "there is nothing to write: no rows and no `columns`")
    if "columns" in args:
        rows = [{name: row.get(name) for name in names} for row in rows]
    writer = table_writing.Writer(ctx, delimiter=args["delimiter"], table=args["table"], cpu_s=4.8)
    saved = writer.save(rows, names, kind)
    ctx.put(path, writer.local, overwrite=args["overwrite"])
    done = {"path": path, "format": kind, "rows": len(rows), "columns": len(names)}
    return {"results": [{**done, "bytes": saved.size, "guarded": saved.guarded}]}
