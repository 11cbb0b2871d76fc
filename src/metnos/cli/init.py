"""``metnos init``: make a workspace."""

import click

from metnos import app
from metnos.cli import Choice
from metnos.cli.output import json_option, print_json


@click.command()
@json_option
@click.pass_obj
def init(choice: Choice, as_json: bool) -> None:
    """Make a workspace, or what is missing of it.

    Safe to run again: what is there already is never touched. Makes SOUL.md with the four Laws, the other files of
    long memory, metnos.toml with every setting explained, the agent's key (mode 0600) and the first lines of the audit.
    """
    workspace = choice.workspace()
    made = app.found(workspace)
    if as_json:
        print_json({"workspace": str(workspace.root), "made": made})
    elif made:
        click.echo(f"Workspace ready at {workspace.root}")
        click.echo(f"Made: {', '.join(made)}")
        click.echo("Next: metnos doctor")
    else:
        click.echo(f"Workspace at {workspace.root} is complete; nothing was changed.")
