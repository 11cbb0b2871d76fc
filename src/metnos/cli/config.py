"""``metnos config``: show or change settings."""

import json
from typing import Any

import click

from metnos.app import adjusting
from metnos.app.adjusting import value_of
from metnos.cli import Choice, person
from metnos.cli.opening import open_app
from metnos.cli.output import json_option, note, print_json, print_table
from metnos.core import settings


@click.group()
def config() -> None:
    """Show or change settings."""


@config.command()
@click.argument("key", required=False)
@json_option
@click.pass_obj
def show(choice: Choice, key: str | None, as_json: bool) -> None:
    """Show every setting in force and where it comes from, or the value of one KEY."""
    loaded = settings.load(choice.workspace().settings)
    wanted = [settings.require_key(key)] if key else list(settings.keys())
    rows = [(each.name, value_of(loaded.settings, each.name), loaded.origin(each.name)) for each in wanted]
    if as_json:
        print_json([{"key": name, "value": value, "origin": origin} for name, value, origin in rows])
    elif key:
        click.echo(_text(rows[0][1]))
    else:
        styles = {index: "bold" for index, row in enumerate(rows) if row[2] != "default"}
        print_table(
            ("setting", "value", "from"), [(name, _text(value) or '""', origin) for name, value, origin in rows], styles
        )


@config.command(name="set")
@click.argument("key")
@click.argument("value")
@click.pass_obj
def set_(choice: Choice, key: str, value: str) -> None:
    """Set KEY to VALUE in metnos.toml; comments and all other lines stay as they are.

    What raises the level, moves a limit, opens a door or sends anything out of the home only a person can set.
    """
    settings.require_key(key)
    app = open_app(choice)
    by = person.principal()
    if adjusting.needs_person(app, key, value):
        by = person.confirm(f"set {key} to that", f"Set {key} to {value}?")
    stored = app.set_setting(key, value, by)
    click.echo(f"{key} = {json.dumps(stored)}")
    if app.loaded.origin(key) == "environment":
        note(f"the environment variable {settings.require_key(key).variable} still wins over this")


@config.command()
@click.pass_obj
def path(choice: Choice) -> None:
    """Print where the settings file is."""
    click.echo(choice.workspace().settings)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
