"""``metnos context``: what a language model saw."""

import click

from metnos.cli import Choice
from metnos.cli.opening import open_app
from metnos.cli.output import inert, json_option, print_json
from metnos.cli.turns import chosen
from metnos.context.assemble import Record
from metnos.core.errors import UsageError


@click.group()
def context() -> None:
    """See exactly what a language model was sent."""


@context.command()
@click.argument("turn", required=False)
@click.option("--figures", is_flag=True, help="Only the tokens of each block.")
@json_option
@click.pass_obj
def show(choice: Choice, turn: str | None, figures: bool, as_json: bool) -> None:
    """Print what a language model saw in a TURN, to the letter, with the tokens of each block.

    TURN is an id from `metnos turns list`, or its last letters; without it, the last one is meant.
    """
    trace = chosen(open_app(choice).medium, turn)
    if as_json:
        print_json(
            [
                {"task": each.task, "system": each.system, "body": each.body, "record": dict(each.record)}
                for each in trace.contexts
            ]
        )
        return
    if not trace.contexts:
        raise UsageError(
            f"no language model was asked in turn {trace.id}", fix="How it was answered says: metnos why " + trace.id
        )
    for number, each in enumerate(trace.contexts, start=1):
        click.secho(f"Call {number} of {len(trace.contexts)}: {each.task}", bold=True)
        click.echo(inert(str(Record.from_dict(each.record))))
        if not figures:
            click.secho("\nSystem", bold=True)
            click.echo(inert(each.system))
            click.secho("\nMessage", bold=True)
            click.echo(f"{inert(each.body)}\n")
