"""Joins two tables on columns with equal values."""

from metnos_kit import patterns, table_reading, tables


def run(args, ctx):
    work = tables.Work(ctx, table_reading.Reader, patterns.guarded)
    joined = work.join(work.rows(args), work.rows(args, "right"), args)
    return {"entries": work.shown(joined.rows(), args), "total": joined.total}
