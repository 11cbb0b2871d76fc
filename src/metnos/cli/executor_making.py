"""``metnos executor new|test|sign|rebuild``: make executors of your own."""

from typing import TYPE_CHECKING

import click

from metnos.app import App
from metnos.cli import FAILED, FINE, Choice, person
from metnos.cli.opening import open_app
from metnos.cli.output import counted, inert
from metnos.core import files
from metnos.core.errors import ExecutorError, UsageError, Waiting
from metnos.executors import template, words
from metnos.law.inbox import State

if TYPE_CHECKING:
    from metnos.executors.verdict import Executor


@click.command()
@click.argument("name")
@click.pass_obj
def new(choice: Choice, name: str) -> None:
    """Make a folder with a small executor that works, to be changed into what you want.

    NAME is verb_object or verb_object_qualifier, such as count_lines.
    """
    catalog = open_app(choice).catalog
    contents = template.files(name)
    folder = catalog.folder_of(name)
    if folder.exists():
        raise UsageError(f"there is a folder {folder} already", fix="Choose another name.")
    folder.mkdir(mode=0o700)
    for file, content in contents.items():
        files.create(folder / file, content, mode=files.PRIVATE_FILE)
        click.echo(folder / file)
    click.echo(f"Change them, then: metnos executor test {name}")


@click.command(name="test")
@click.argument("name")
@click.pass_obj
def test_(choice: Choice, name: str) -> int:
    """Check an executor's code and run its birth tests in the sandbox. Signs nothing."""
    app = open_app(choice)
    passed = _examine(app, _draft(app, name))
    if passed:
        click.echo(f"All well. To make it usable: metnos executor sign {name}")
    return FINE if passed else FAILED


@click.command()
@click.argument("name")
@click.option("--reason", default="signed by the owner", help="Why; kept with the executor.")
@click.pass_obj
def sign(choice: Choice, name: str, reason: str) -> int:
    """Check an executor, show what it may do, and sign it once you have typed its name.

    Only a person can. Where nobody can type, the question waits in the inbox; then it exits with 3.
    """
    from metnos.app import adopting, answering

    app = open_app(choice)
    draft = _draft(app, name)
    if not _examine(app, draft):
        raise ExecutorError(f"{name} was not signed", fix="Mend what is named above.")
    click.secho(f"\n{name} may", bold=True)
    for line in words.capabilities(draft.manifest):
        click.echo(f"  {inert(line)}")
    click.echo(f"Effect: {words.effect(draft.manifest)}.")
    by = person.principal()
    item = adopting.ask(app, draft, by, reason=reason)
    if not by.may_answer:
        raise Waiting("Only a person may sign an executor", item=item.id, fix=f"metnos inbox approve {item.id}")
    if item.state is State.WAITING:
        by = person.confirm("sign an executor", f"Sign {item.word}?", item.word)
        item = app.inbox.approve(item.id, by, seen=item.yes_count, typed=item.word)
    click.echo(answering.carry_out(app, item, by).said)
    return FINE


@click.command()
@click.pass_obj
def rebuild(choice: Choice) -> None:
    """Make the index of executors anew from their folders."""
    entered = open_app(choice).catalog.rebuild()
    click.echo(f"{counted(len(entered), 'executor')} entered.")


def _draft(app: App, name: str) -> "Executor":
    from metnos.executors import adopt  # the gate and the birth tests; few commands need them

    return adopt.draft(app.catalog, name)


def _examine(app: App, draft: "Executor") -> bool:
    from metnos.executors import adopt

    passed = True
    for step in adopt.examine(draft, app.pool, app.settings.executors):
        passed = passed and not step.problem
        mark, colour = ("✗", "red") if step.problem else ("✓", "green")
        click.secho(f" {mark} ", fg=colour, bold=True, nl=False)
        click.echo(inert(step.name))
        for line in step.problem.splitlines():
            click.echo(f"   {inert(line)}")
    return passed
