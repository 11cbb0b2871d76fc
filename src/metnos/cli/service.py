"""``metnos service``: have systemd keep Metnos running."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from metnos.cli import FAILED, FINE, Choice
from metnos.cli.output import inert, json_option, note, print_json

if TYPE_CHECKING:
    from metnos.api.service import Service

_LINGER = "It runs while you are logged in. To have it run from the start of the machine: loginctl enable-linger"


@click.group()
def service() -> None:
    """Have systemd keep Metnos running."""


@service.command()
@click.option("--print", "only_print", is_flag=True, help="Only show the unit that would be written.")
@click.option("--replace", is_flag=True, help="Also in the place of a unit that is not ours, or was changed by hand.")
@click.pass_obj
def install(choice: Choice, only_print: bool, replace: bool) -> None:
    """Write a systemd user unit for this workspace, and start it.

    It runs `metnos serve` with this very Python and workspace, is started again if it fails, and ends gracefully. API
    keys in environment variables are not in it: add them with `systemctl --user edit`.
    """
    from metnos.app.house import refuse_missing

    made = _service(choice)
    if only_print:
        click.echo(inert(made.unit.text), nl=False)
        return
    refuse_missing(made.workspace)
    started = made.install(replace=replace)
    click.echo(f"Written: {inert(str(made.path))}")
    if started:
        click.echo(f"Started: {made.unit.name}; what it says: journalctl --user -u {made.unit.name}")
        note(_LINGER)
        return
    click.echo("Your systemd cannot be reached from here. When you are logged in, type:")
    for command in made.commands:
        click.echo(f"  {command}")


@service.command()
@click.option("--replace", is_flag=True, help="Also a unit that is not ours, or was changed by hand.")
@click.pass_obj
def remove(choice: Choice, replace: bool) -> int:
    """Stop the service and take its unit away. The workspace stays as it is."""
    made = _service(choice)
    if not made.remove(replace=replace):
        click.echo(f"There is no {made.unit.name}.")
        return FAILED
    click.echo(f"Removed: {inert(str(made.path))}")
    return FINE


@service.command()
@json_option
@click.pass_obj
def status(choice: Choice, as_json: bool) -> int:
    """Say whether the service is installed and runs. Exits with 0 if a daemon answers."""
    found = _service(choice).status()
    if as_json:
        print_json(asdict(found))
        return FINE if found.answers else FAILED
    if found.installed:
        click.echo(f"{found.unit}: {found.active}, {found.enabled} ({inert(found.path)})")
    else:
        click.echo(f"{found.unit} is not installed. To install it: metnos service install")
    if found.changed:
        note("the unit is not ours, or was changed by hand since it was written")
    click.echo("A daemon answers." if found.answers else "No daemon answers.")
    return FINE if found.answers else FAILED


def _service(choice: Choice) -> "Service":
    from metnos.api.service import Service  # heavy, and --help does not need it

    return Service(choice.workspace())
