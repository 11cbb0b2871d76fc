"""``metnos memory fit``: what it takes for something learnt to be kept, fitted from what became of what was."""

from dataclasses import asdict
from typing import Any

import click

from metnos.app import weighing
from metnos.cli import Choice
from metnos.cli.opening import open_app
from metnos.cli.output import counted, json_option, note, print_json, print_table
from metnos.core.errors import UsageError
from metnos.grimoire.fitting import ENOUGH, Fitted


@click.command()
@click.option("--keep", is_flag=True, help="Let the fitted weights count from now on.")
@click.option("--default", "default", is_flag=True, help="Go back to the weights of the settings.")
@json_option
@click.pass_obj
def fit(choice: Choice, keep: bool, default: bool, as_json: bool) -> None:
    """Fit what it takes for something learnt to be kept, from what helped, did harm or was never of use.

    Shows the weights now and fitted, and changes nothing without --keep. What you set in the settings stays.
    """
    if keep and default:
        raise UsageError("--keep and --default say the opposite of one another", fix="Choose one.")
    app = open_app(choice)
    if default:
        click.echo("The settings count again." if weighing.drop(app) else "The settings count already.")
        return
    found = weighing.fit(app, keep=keep)
    if as_json:
        print_json(_data(found, kept=keep and found.is_enough))
        return
    facts = counted(found.good + found.bad, "fact")
    click.echo(f"Of {facts} it is known what became of them: {found.good} proved worth it, {found.bad} did not.")
    if not found.is_enough:
        note(f"that is too little to fit anything by: it takes {ENOUGH}, and some of both")
        return
    before, after = asdict(found.before), asdict(found.after)
    rows = [(name, f"{before[name]:.2f}", f"{after[name]:.2f}", _whose(name, found)) for name in after]
    print_table(("what speaks for it", "now", "fitted", ""), rows)
    for when, (good, bad) in (("now", found.in_before), ("fitted", found.in_after)):
        click.echo(f"Let in, {when}: {good} of the {found.good} that were worth it, {bad} of the {found.bad} others.")
    click.echo(
        "These weights count from now on." if keep else "Nothing was changed. To keep it: metnos memory fit --keep"
    )


def _whose(name: str, found: Fitted) -> str:
    return "yours, from the settings" if name in found.own else ""


def _data(found: Fitted, *, kept: bool) -> dict[str, Any]:
    return asdict(found) | {"enough": found.is_enough, "kept": kept}
