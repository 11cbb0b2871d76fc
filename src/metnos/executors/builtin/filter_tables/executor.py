"""Keeps the rows that meet conditions. The conditions are data: nothing in them is ever run."""

from metnos_kit import patterns, table_reading, tables


def run(args, ctx):
    work = tables.Work(ctx, table_reading.Reader, patterns.guarded)
    kept = work.filter(work.rows(args), args)
    return {"entries": work.shown(kept, args), "total": len(kept)}
