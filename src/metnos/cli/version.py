"""``metnos version``."""

import platform
import sqlite3

import click

from metnos import __version__
from metnos.cli.output import json_option, print_json


@click.command()
@json_option
def version(as_json: bool) -> None:
    """Print the version."""
    if as_json:
        print_json({"metnos": __version__, "python": platform.python_version(), "sqlite": sqlite3.sqlite_version})
    else:
        click.echo(f"metnos {__version__}")
