"""``metnos audit``: read and prove the record of what was done."""

import contextlib
import itertools
import time
from collections.abc import Iterator
from dataclasses import asdict

import click

from metnos import app
from metnos.cli import FAILED, FINE, Choice, person
from metnos.cli.opening import look_after
from metnos.cli.output import counted, inert, json_option, note, print_json, print_table
from metnos.core.errors import MetnosError, StoreError
from metnos.core.workspace import Workspace
from metnos.law import audit_log
from metnos.law.audit import Audit
from metnos.law.audit_line import AuditLine
from metnos.law.founding import Seat

_POLL_S = 0.5
_LONG = 64  # characters: a key among the names, which `audit show` gives whole


@click.group()
def audit() -> None:
    """Read and prove the record of what was done."""


@audit.command()
@click.option("-n", "count", default=20, show_default=True, type=click.IntRange(1, 1_000_000), help="How many lines.")
@click.option("--follow", is_flag=True, help="Go on printing new lines until interrupted.")
@json_option
@click.pass_obj
def tail(choice: Choice, count: int, follow: bool, as_json: bool) -> None:
    """Show the newest lines, the newest last."""
    workspace = _open(choice)
    lines = list(itertools.islice(audit_log.backwards(workspace.audit), count))[::-1]
    if as_json:
        print_json([line.as_dict() for line in lines])
    elif lines:
        print_table(("line", "time", "kind", "what"), [_row(line) for line in lines], drop=("time",))
    else:
        click.echo("The audit is empty.")
    if follow:
        for line in _coming(workspace, lines[-1].seq if lines else 0):
            click.echo("  ".join(str(cell) for cell in _row(line)))


@audit.command()
@click.argument("line", type=click.IntRange(1, 1 << 53))
@json_option
@click.pass_obj
def show(choice: Choice, line: int, as_json: bool) -> None:
    """Show one LINE whole, by its number."""
    workspace = _open(choice)
    found = next((each for each in audit_log.backwards(workspace.audit) if each.seq == line), None)
    if found is None:
        raise MetnosError(
            f"the audit has no readable line {line}", fix="metnos audit verify   says whether one is missing."
        )
    if as_json:
        print_json(found.as_dict())
        return
    entry = found.entry
    rows = [("line", found.seq), ("time", found.ts), ("kind", found.kind)]
    rows += [(name, value) for part in (entry.names, entry.digests, entry.counts) for name, value in part.items()]
    rows += [("hash", found.hash), ("hash before", found.prev)]
    rows += [("signature", found.signature)] if found.signature else []
    print_table(("field", "value"), rows)


@audit.command()
@json_option
@click.pass_obj
def verify(choice: Choice, as_json: bool) -> int:
    """Prove that no line was changed, removed, reordered or cut off.

    Names every fault and where it stands. Exits with 1 if there is any.
    """
    report = app.verify_audit(_open(choice))
    if as_json:
        print_json({"sound": report.sound, **asdict(report)})
        return FINE if report.sound else FAILED
    for text in report.notes:
        note(text)
    if report.sound:
        click.secho("sound: ", fg="green", bold=True, nl=False)
        lines, files = counted(report.lines, "line"), counted(report.files, "file")
        click.echo(f"{lines} in {files}, {counted(report.checkpoints, 'signed checkpoint')}, none missing")
        return FINE
    click.secho("broken: ", fg="red", bold=True, nl=False)
    click.echo(f"{counted(len(report.faults), 'fault')} in {counted(report.lines, 'line')}")
    print_table(("wrong", "where", "line", "what"), [(f.wrong, f.place, f.seq, f.detail) for f in report.faults])
    return FAILED


@audit.command()
@click.pass_obj
def accept(choice: Choice) -> None:
    """Take the audit as it is, after lines were lost or an older copy of the workspace was put back.

    While the audit is in doubt nothing acts. Shows what is wrong and asks for a typed word.
    """
    with contextlib.ExitStack() as stack:
        workspace = _open(choice)
        log: Audit | Seat = stack.enter_context(contextlib.closing(app.open_audit(workspace)))
        with contextlib.suppress(StoreError):  # a store that is broken is none that was put back
            log = stack.enter_context(contextlib.closing(app.take_seat(workspace)))
        doubts = log.doubts()
        if not doubts:
            click.echo("Nothing about the audit is in doubt.")
            return
        for doubt in doubts:
            click.secho("in doubt: ", fg="red", bold=True, nl=False)
            click.echo(inert(doubt))
        click.echo(
            "What was recorded in missing lines is lost, halts and revocations among it. Look at the newest ones"
        )
        click.echo("(metnos audit tail), at grants (metnos policy grants) and at devices (metnos device list) first.")
        by = person.confirm("accept the audit", "Things act again if you take it as it is.", "accept")
        log.accept(by)
        click.echo("Accepted. The audit says so.")


def _open(choice: Choice) -> Workspace:
    """The audit must stay readable when nothing else works."""
    look_after(choice)
    return choice.workspace()


def _row(line: AuditLine) -> tuple[object, ...]:
    entry = line.entry
    words = [f"{name}={value if len(value) < _LONG else value[:12] + '…'}" for name, value in entry.names.items()]
    words += [f"{name}={value[:12]}…" for name, value in entry.digests.items()]
    words += [f"{name}={value}" for name, value in entry.counts.items()]
    return line.seq, line.ts, line.kind, " ".join(words)


def _coming(workspace: Workspace, seen: int) -> Iterator[AuditLine]:
    """New lines as they come, until the caller has enough."""
    while True:
        fresh: list[AuditLine] = []
        for line in audit_log.backwards(workspace.audit):
            if line.seq <= seen:
                break
            fresh.append(line)
        yield from reversed(fresh)
        seen = fresh[0].seq if fresh else seen
        time.sleep(_POLL_S)
