"""``metnos ager``: let the mnestome age now instead of tonight."""

import sys
from typing import Any

import click

from metnos.app import ageing
from metnos.app.ageing import Report
from metnos.cli import Choice
from metnos.cli.opening import open_app
from metnos.cli.output import counted, inert, json_option, print_json
from metnos.core.clock import to_text


@click.group()
def ager() -> None:
    """Let the mnestome age."""


@ager.command()
@click.option("--dry-run", is_flag=True, help="Say what would happen, and change nothing.")
@json_option
@click.pass_obj
def run(choice: Choice, dry_run: bool, as_json: bool) -> None:
    """Do now what every night does: fade, sort out, ask, and keep a snapshot of the month.

    Once a day is enough: a second run finds nothing left to do. What is hardly there any more goes only if you say so
    (metnos inbox list).
    """
    app = open_app(choice)
    try:
        report = ageing.age(app, dry_run=dry_run, progress=_watch)
    finally:
        _clear()
        app.close()
    if as_json:
        print_json(_data(report))
    else:
        for line in _told(report):
            click.echo(inert(line))


def _told(report: Report) -> list[str]:
    aged, would = report.aged, report.aged.dry_run
    lines = [
        _line(aged.weighed, "mnest", "would fade a little", "faded a little", would),
        _line(aged.set_back, "mnest", "would be weighed anew: the clock had run ahead",
              "weighed anew: the clock had run ahead", would),
        _line(aged.faded, "mnest", "would be on the way out", "now on the way out", would),
        _line(len(aged.removed), "wish", "would be dropped", "dropped", would, aged.removed, "wishes"),
        _line(aged.archived, "mnest", "of the past would go to the archive", "of the past went to the archive", would),
        _line(report.asked, "question", "would be put to you", "for you: metnos inbox list", would),
        _line(len(aged.recurring), "recurring wish", "worth an executor", "worth an executor", would,
              tuple(each.dst for each in aged.recurring), "recurring wishes"),
        _line(report.moved, "event", "would move to the file of past years", "of past years moved to their own file",
              would),
    ]  # fmt: skip
    if report.snapshot:
        lines.append(f"A snapshot of {report.snapshot} {'would be' if would else 'was'} kept.")
    if report.packed:
        lines.append(f"Compressed: {', '.join(report.packed)}")
    found = [line for line in lines if line]
    if not aged.by_disuse and not aged.again and found:
        found.append("You asked for nothing since the last run, or this is the first: so nothing goes for want of use.")
    return found or ["Everything was weighed today already; there is nothing to do."]


def _line(
    count: int, noun: str, would: str, did: str, dry_run: bool, names: tuple[str, ...] = (), plural: str = ""
) -> str:
    if not count:
        return ""
    what = counted(count, noun) if not plural or count == 1 else f"{count} {plural}"
    named = f": {', '.join(names)}" if names else ""
    return f"{what} {would if dry_run else did}{named}"


def _data(report: Report) -> dict[str, Any]:
    aged = report.aged
    return {
        "dry_run": aged.dry_run,
        "again": aged.again,
        "by_disuse": aged.by_disuse,
        "weighed": aged.weighed,
        "set_back": aged.set_back,
        "fading": aged.faded,
        "removed": list(aged.removed),
        "archived": aged.archived,
        "proposals": [
            {
                "mnest": each.id,
                "from": each.source,
                "to": each.destination,
                "uses": each.uses,
                "last": to_text(each.used),
            }
            for each in aged.proposals
        ],
        "recurring": [each.dst for each in aged.recurring],
        "moved": report.moved,
        "snapshot": report.snapshot or None,
        "packed": list(report.packed),
        "saved_bytes": report.saved,
    }


def _watch(what: str, done: int, total: int) -> None:
    """That long work goes on, on a terminal; nothing in a pipe."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r{what}: {done:,}{f' of {total:,}' if total else ''}\033[K")
        sys.stderr.flush()


def _clear() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
        sys.stderr.flush()
