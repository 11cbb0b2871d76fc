"""``metnos jobs``: what Metnos does by itself, when it did it last, and doing it now."""

from datetime import datetime

import click

from metnos.app import night as building
from metnos.cli import FAILED, FINE, INTERRUPTED, Choice
from metnos.cli.opening import open_app
from metnos.cli.output import inert, json_option, note, print_json, print_table
from metnos.cli.stopping import watched
from metnos.core.errors import Refused, UsageError
from metnos.night.jobs import Night, Outlook, Watcher
from metnos.night.records import Run, State
from metnos.night.schedule import Verdict


@click.group()
def jobs() -> None:
    """See and run what Metnos does by itself."""


@jobs.command(name="list")
@json_option
@click.pass_obj
def list_(choice: Choice, as_json: bool) -> None:
    """List the jobs of the night in their order, with the last and the next run of each."""
    app = open_app(choice)
    night, now = building.build(app), app.clock.now()
    night.runs.settle()
    found = night.outlook(now)
    if as_json:
        print_json([building.outlook_data(each) for each in found])
        return
    rows = [(each.job.name, each.job.what, _last(each.last), _next(each)) for each in found]
    print_table(("job", "what", "last", "next"), rows, drop=("what", "last"))
    due = sum(each.verdict is Verdict.DUE for each in found)
    if due:
        which = "is 1 job" if due == 1 else f"are {due} jobs"
        note(f"there {which} due: the daemon does them by itself (metnos serve), metnos jobs run does them now")
    coming = night.next_reminder(now)
    if coming is not None:
        note(f"the next reminder is due at {_local(coming)}")


@jobs.command()
@click.argument("name", required=False)
@click.option("--night", "whole", is_flag=True, help="All of them, in their order, whether they are due or not.")
@json_option
@click.pass_obj
def run(choice: Choice, name: str | None, whole: bool, as_json: bool) -> int:
    """Run jobs now, also without the daemon: NAME, all of them, or else what is due.

    While everything is halted only those run that check: audit, code and executors. What is running elsewhere already
    is not run a second time. Ctrl-C stops a long one at its next safe place; the next run goes on with it.
    """
    if name is not None and whole:
        raise UsageError("name a job, or say --night, not both")
    app = open_app(choice)
    try:
        night = building.build(app)
        with watched(shows=not as_json) as watcher:
            made = _run(night, name, whole, app.clock.now(), watcher)
            stopped = watcher.stop()
        halt = night.halted() if name is None else None
    finally:
        app.close()
    if as_json:
        print_json([building.run_data(each) for each in made])
    elif made:
        _show(made)
    else:
        click.echo("Nothing was done." if stopped or halt else "Nothing is due.")
    if stopped:
        note("it was stopped; what is done is kept, and the same command goes on with the rest")
        return INTERRUPTED
    if halt is not None:
        raise Refused(f"only jobs that check are run: {halt.why}", fix=halt.fix)
    return FINE if all(each.state is State.DONE for each in made) else FAILED


@jobs.command()
@click.option("-n", "count", default=20, show_default=True, type=click.IntRange(1, 100_000), help="How many.")
@json_option
@click.pass_obj
def log(choice: Choice, count: int, as_json: bool) -> None:
    """Show the last runs, the newest first."""
    night = building.build(open_app(choice))
    night.runs.settle()
    found = night.runs.newest(count)
    if as_json:
        print_json([building.run_data(each) for each in found])
    elif found:
        _show(found)
    else:
        click.echo("Nothing ran yet.")


def _run(night: Night, name: str | None, whole: bool, now: datetime, watcher: Watcher) -> list[Run]:
    if name is not None:
        return [night.run_now(name, watcher)]
    return night.run_all(watcher) if whole else night.tick(now, watcher.stop, watcher.progress)


def _show(runs: list[Run]) -> None:
    rows = [
        (each.id, each.job, each.night, _local(each.started), _state(each), f"{each.cpu_ms} ms", _said(each))
        for each in runs
    ]
    styles = {index: "red" for index, each in enumerate(runs) if each.state in (State.FAILED, State.INTERRUPTED)}
    head = ("run", "job", "night", "started", "state", "cpu", "what came of it")
    print_table(head, rows, styles, drop=("cpu", "night", "run", "started"))


def _said(run: Run) -> str:
    counts = ", ".join(f"{count:,} {name}" for name, count in run.counts.items())
    return "; ".join(part for part in (counts, inert(run.message)) if part)


def _state(run: Run) -> str:
    return f"{run.state}, by hand" if run.by_hand else str(run.state)


def _last(run: Run | None) -> str:
    return "never" if run is None else f"{_local(run.started)} {run.state}"


def _next(each: Outlook) -> str:
    word = {Verdict.DUE: "due", Verdict.PAUSED: f"{_local(each.next)} (again)"}.get(each.verdict)
    return word or _local(each.next)


def _local(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"
