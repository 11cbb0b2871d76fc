"""``metnos telegram``: a bot of your own; its token, who may write to it, whether it works."""

import re

import click

from metnos.app import adjusting
from metnos.cli import FAILED, FINE, Choice, person
from metnos.cli.opening import open_app
from metnos.cli.output import inert, json_option, print_json, print_table, short
from metnos.core.clock import to_text
from metnos.core.errors import MetnosError, UsageError
from metnos.law.principal import Autonomy, Channel

TOKEN_STORED = "telegram token stored"  # noqa: S105 -- the name of a line in the audit

_NAME = "telegram"
_TOKEN = re.compile(r"[0-9]{1,20}:[A-Za-z0-9_-]{20,200}")


@click.group()
def telegram() -> None:
    """Talk to Metnos through a Telegram bot of your own.

    Make a bot with @BotFather, store its token, switch it on (`metnos config set telegram.enabled true`), start
    `metnos serve` and pair your account.
    """


@telegram.command("token")
@click.option("--keyring", is_flag=True, help="Keep it in the system's keyring, not in the workspace.")
@click.pass_obj
def token(choice: Choice, keyring: bool) -> int:
    """Store the bot's token, typed unseen. Only a person can: whoever has that bot reads what it is told."""
    app = open_app(choice)
    by = person.require("store the token of a bot")
    secret: str = click.prompt("Token from @BotFather", hide_input=True, err=True).strip()
    if _TOKEN.fullmatch(secret) is None:
        raise UsageError("that is no token of a bot", fix="It is a number, a colon and some thirty letters and digits.")
    place = adjusting.store_secret(app, TOKEN_STORED, _NAME, secret, by, keyring=keyring)
    if app.settings.telegram.token != place:
        app.set_setting("telegram.token", place, by)
    click.echo(f"Stored as {place}.")
    if not app.settings.telegram.enabled:
        click.secho("metnos config set telegram.enabled true", fg="cyan")
    return FINE


@telegram.command("pair")
@click.option(
    "--level",
    type=click.Choice([str(each) for each in Autonomy]),
    default=str(Autonomy.SUPERVISED),
    show_default=True,
    help="What this account may do without asking; with read_only it cannot answer questions either.",
)
@click.option(
    "--minutes", type=click.FloatRange(1, 60), default=10, show_default=True, help="How long the code is good."
)
@json_option
@click.pass_obj
def pair(choice: Choice, level: str, minutes: float, as_json: bool) -> int:
    """Make a code that lets one Telegram account in. It is good once. Only a person can."""
    app = open_app(choice)
    by = person.confirm("let a device in", f"Let one Telegram account in, with the level {level}?")
    code = app.pairing.offer(Channel.TELEGRAM, Autonomy(level), minutes, by)
    if as_json:
        print_json({"code": code, "say": f"/pair {code}", "level": level, "minutes": minutes})
        return FINE
    click.echo(f"Send this to your bot within {minutes:g} minutes, from the account that is to be let in:", err=True)
    click.echo(f"/pair {code}")
    return FINE


@telegram.command("status")
@click.option("--test", is_flag=True, help="Ask Telegram whether the token is good.")
@json_option
@click.pass_obj
def status(choice: Choice, test: bool, as_json: bool) -> int:
    """Say whether the bot is set up, and who may write to it."""
    from metnos.api.telegram.build import find_token, refuse_open_address

    app = open_app(choice)
    settings = app.settings.telegram
    wrong, name = "", ""
    try:
        refuse_open_address(settings)
        secret = find_token(settings, app.workspace.keys)
        if test:
            from metnos.api.telegram.transport import meet  # heavy

            name = meet(secret, settings)
    except MetnosError as error:
        wrong = f"{error.what}. {error.fix}".strip()
    devices = [each for each in app.pairing.devices() if each.channel is Channel.TELEGRAM]
    if as_json:
        paired = [
            {"id": each.id, "sender": each.sender, "level": each.level, "seen": to_text(each.seen)} for each in devices
        ]
        print_json(
            {
                "enabled": settings.enabled,
                "token": settings.token,
                "wrong": wrong,
                "bot": name or None,
                "paired": paired,
            }
        )
        return FAILED if wrong else FINE
    click.echo(f"Telegram is {'on' if settings.enabled else 'off'}; the token is at {settings.token}.")
    if name:
        click.echo(f"Telegram knows it as @{inert(name)}.")
    if wrong:
        click.secho(wrong, fg="yellow")
    if devices:
        rows = [
            (short(each.id), each.sender, each.level, f"{each.seen.astimezone():%Y-%m-%d %H:%M}") for each in devices
        ]
        print_table(("device", "account", "level", "last seen"), rows)
    else:
        click.echo("Nobody is paired: metnos telegram pair")
    return FAILED if wrong else FINE
