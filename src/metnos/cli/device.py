"""``metnos device``: who may come in from elsewhere than this terminal."""

import click

from metnos.cli import Choice, person
from metnos.cli.opening import open_app
from metnos.cli.output import json_option, print_json, print_table, short
from metnos.core.clock import to_text
from metnos.law.pairing import MAX_DAYS, MAX_MINUTES, Device
from metnos.law.principal import Autonomy, Channel, Principal

_LEVELS = click.Choice([str(each) for each in Autonomy])
_level = click.option(
    "--level",
    type=_LEVELS,
    default=str(Autonomy.SUPERVISED),
    show_default=True,
    help="What it may do: only look and ask, act with your yes, or all you may.",
)
_days = click.option("--days", type=float, default=90, show_default=True, help=f"For how long; at most {MAX_DAYS}.")
_name = click.option("--name", default="", help="What to call it, such as: phone.")


@click.group()
def device() -> None:
    """Let browsers, programs and messengers in, and end them."""


@device.command()
@click.option("--channel", type=click.Choice(["web", "telegram"]), default="web", help="What it is. Default: web.")
@_level
@click.option(
    "--minutes", type=float, default=10, show_default=True, help=f"How long the code is good; at most {MAX_MINUTES}."
)
@_days
@_name
@json_option
@click.pass_obj
def pair(choice: Choice, channel: str, level: str, minutes: float, days: float, name: str, as_json: bool) -> None:
    """Make a code that lets one other device in, once. Only a person can.

    A browser brings it to the page /pair of Metnos; for Telegram it is sent to your bot as: /pair CODE.
    """
    app = open_app(choice)
    by = _confirm(level, f"a device on {channel}", name)
    code = app.pairing.offer(Channel(channel), Autonomy(level), minutes, by, name=name, days=days)
    if as_json:
        print_json({"code": code, "channel": channel, "level": level, "minutes": minutes})
        return
    click.echo(f"Good once, for {minutes:g} minutes, for {channel} with the level {level}:\n")
    click.secho(code, bold=True)
    where = "Send it to your bot: /pair CODE" if channel == "telegram" else "On that device, open the page /pair."
    click.echo(f"\n{where}")


@device.command()
@_level
@_days
@_name
@json_option
@click.pass_obj
def token(choice: Choice, level: str, days: float, name: str, as_json: bool) -> None:
    """Make a secret for a program: for the HTTP API, MCP, or as an OpenAI-style key. It is shown this once.

    Only a person can.
    """
    pairing = open_app(choice).pairing
    by = _confirm(level, "a program", name)
    code = pairing.offer(Channel.API, Autonomy(level), 1, by, name=name, days=days)
    made, secret = pairing.redeem(code, Channel.API)
    if as_json:
        print_json({"secret": secret, "id": made.id, "level": level, "expires": to_text(made.expires)})
        return
    click.echo("The program sends this as `Authorization: Bearer …`, or as its API key:\n")
    click.secho(secret, bold=True)
    click.echo(f"\nIt ends on {made.expires:%Y-%m-%d}; to end it earlier: metnos device revoke {short(made.id)}")


@device.command(name="list")
@json_option
@click.pass_obj
def list_(choice: Choice, as_json: bool) -> None:
    """List who may come in."""
    found = open_app(choice).pairing.devices()
    if as_json:
        print_json([_data(each) for each in found])
    elif found:
        rows = [
            (short(each.id), each.channel, each.name or each.sender, each.level, f"{each.seen.astimezone():%Y-%m-%d}",
             f"{each.expires.astimezone():%Y-%m-%d}")
            for each in found
        ]  # fmt: skip
        print_table(("id", "channel", "name", "level", "last here", "until"), rows, drop=("until", "last here"))
    else:
        click.echo("Nobody but this terminal. To let a browser in: metnos open")


@device.command()
@click.argument("device_id", metavar="ID")
@click.pass_obj
def revoke(choice: Choice, device_id: str) -> None:
    """End a device now; the last letters of its ID are enough."""
    ended = open_app(choice).pairing.revoke(device_id, person.principal())
    click.echo(f"Ended: {ended.channel} {ended.name or ended.sender}")


def _confirm(level: str, what: str, name: str) -> Principal:
    called = f" called {name}" if name else ""
    return person.confirm("let a device in", f"Let {what}{called} in, with the level {level}?")


def _data(found: Device) -> dict[str, str]:
    plain = {name: str(getattr(found, name)) for name in ("id", "channel", "sender", "name", "level")}
    return plain | {name: to_text(getattr(found, name)) for name in ("created", "expires", "seen")}
