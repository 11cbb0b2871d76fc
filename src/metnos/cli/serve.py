"""``metnos serve``: the daemon, in the foreground."""

import signal
import sys
from typing import TYPE_CHECKING

import click

from metnos.cli import FAILED, FINE, Choice
from metnos.cli.output import counted, inert, json_option, print_json
from metnos.core.clock import Clock
from metnos.core.errors import DaemonError, SettingsError, UsageError
from metnos.core.log import Log
from metnos.core.workspace import Workspace

if TYPE_CHECKING:
    from metnos.app import App


@click.command()
@click.option("--status", is_flag=True, help="Say whether it runs, and what it does.")
@click.option("--stop", is_flag=True, help="End the one that runs. What goes on may finish first.")
@json_option
@click.pass_obj
def serve(choice: Choice, status: bool, stop: bool, as_json: bool) -> int:
    """Keep Metnos running: warm, reminding, working at night.

    Runs in the foreground, one for each workspace, until Ctrl-C, SIGTERM or --stop. Other commands find it by
    themselves and work alone when it does not run.
    """
    if status and stop:
        raise UsageError("--status and --stop do not go together")
    if as_json and not status:
        raise UsageError("--json goes with --status")
    if status:
        return _show_status(choice, as_json)
    if stop:
        return _stop(choice)
    return _serve(choice)


def _serve(choice: Choice) -> int:
    from metnos.api.daemon import Daemon, Household  # heavy, and --status does not need it
    from metnos.app.house import refuse_missing
    from metnos.cli.faces import faces
    from metnos.core.clock import SystemClock

    workspace, clock = choice.workspace(), SystemClock()
    refuse_missing(workspace)
    log = _logger(workspace, clock)
    daemon = Daemon(
        workspace,
        lambda: Household(_open(workspace, clock, log), log),
        clock,
        log,
        faces=lambda counter: faces(counter, workspace, clock, log),
    )
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: daemon.stop())
    daemon.run()
    return FINE


def _open(workspace: Workspace, clock: Clock, log: Log) -> "App":
    """The workspace; the log says if nothing may act in it."""
    from metnos.app import App

    app = App.open(workspace, clock)
    if (stop := app.own.halt()) is not None:
        log(f"nothing acts: {stop.why}. {stop.fix}")
    return app


def _show_status(choice: Choice, as_json: bool) -> int:
    from metnos.api.client import connect

    client = connect(choice.workspace())
    if client is None:
        if as_json:
            print_json(None)
        else:
            click.echo("It does not run. Start it: metnos serve")
        return FAILED
    found = client.status()
    if as_json:
        print_json(found)
        return FINE
    click.echo(f"Process {found['pid']} serves {inert(str(found['workspace']))} since {found['since']}.")
    click.echo(
        f"{counted(found['turns'], 'turn')} running, {found['waiting']} waiting, {counted(found['clients'], 'client')};"
        f" {counted(found['unseen'], 'notice')} unseen; next: {found['next']}"
    )
    return FINE


def _stop(choice: Choice) -> int:
    from metnos.api.client import connect

    client = connect(choice.workspace())
    if client is None:
        raise DaemonError("no daemon runs for this workspace")
    client.stop()
    click.echo("It ends as soon as what goes on has finished.")
    return FINE


def _logger(workspace: Workspace, clock: Clock) -> Log:
    """How the owner wants it. While the settings cannot be read it is text: what is wrong is said a moment later."""
    from metnos.core.settings import load

    try:
        form = load(workspace.settings).settings.log.format
    except SettingsError:
        form = "text"
    return Log(_write, form, clock)


def _write(line: str) -> None:
    click.echo(line, err=True)
    sys.stderr.flush()
