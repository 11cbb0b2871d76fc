"""Puts rows into order: numbers before text, text without regard to case and accents, what is missing always last."""

from metnos_kit import patterns, table_reading, tables


def run(args, ctx):
    work = tables.Work(ctx, table_reading.Reader, patterns.guarded)
    rows = work.sort(work.rows(args), args)
    return {"entries": work.shown(rows, args), "total": len(rows)}
