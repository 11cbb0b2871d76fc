"""Groups rows by equal values, and works out counts, sums and the like of each group."""

from metnos_kit import patterns, table_reading, tables


def run(args, ctx):
    work = tables.Work(ctx, table_reading.Reader, patterns.guarded)
    groups, left_out = work.group(work.rows(args), args)
    failures = [
        ctx.failure(column, "invalid", f"{count} values are no numbers and were left out")
        for column, count in left_out.items()
    ]
    return {"entries": work.shown(groups, args), "total": len(groups), "failures": failures}
