"""Moves files and folders into a folder, or one of them to a new name. Nothing is ever replaced."""

from metnos_kit import targets

ITSELF = {"onto_itself": "it is there already", "into_itself": "a folder cannot be put into itself"}


def run(args, ctx):
    places = targets.Targets(args, ctx)
    if places.missing:
        ctx.make_folder(args["to"])
    results, failures = [], []
    for source in places.sources:
        try:
            target = places.free(source, **ITSELF)
            ctx.move(source, target)
        except ctx.Failure as error:
            failures.append(ctx.failure(source, error.kind, error.message))
        else:
            places.taken.add(target)
            results.append({"path": source, "to": target})
    return {"results": results[: ctx.limit], "total": len(results), "failures": failures}
