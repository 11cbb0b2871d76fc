"""Deletes reminders by their numbers. Every other line of the file stays as it is, to the byte."""

from metnos_kit import reminders


def run(args, ctx):
    wanted, content = set(args["ids"]), reminders.read(ctx)
    kept, results = [], []
    for line in content.splitlines(keepends=True):
        reminder = reminders.understood(line)
        if reminder is not None and reminder["id"] in wanted:
            told = {key: reminder[key] for key in ("text", "due") if reminders.is_text(reminder.get(key))}
            results.append({"id": reminder["id"], **told})
        else:
            kept.append(line)
    missing = sorted(wanted - {result["id"] for result in results})
    failures = [ctx.failure(number, "not_found", f"there is no reminder {number}") for number in missing]
    if results:
        remember(content, b"".join(kept), ctx)
        ctx.write(str(reminders.file_of(ctx)), b"".join(kept), overwrite=True)
    return {"results": results[: ctx.limit], "total": len(results), "failures": failures}


def remember(before, after, ctx):
    """Where the greatest number goes, it is written down first, so that no other reminder ever gets it."""
    greatest = reminders.greatest(before)
    if greatest > max(reminders.greatest(after), reminders.last_deleted(ctx)):
        ctx.write(str(reminders.last_file_of(ctx)), f"{greatest}\n", overwrite=True)
