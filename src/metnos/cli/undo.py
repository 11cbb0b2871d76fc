"""``metnos undo`` and ``metnos redo``: take back what was done to files, and do it again."""

import contextlib
import sys
from dataclasses import asdict

import click

from metnos.app import learning
from metnos.cli import FAILED, FINE, Choice, person
from metnos.cli.opening import open_app
from metnos.cli.output import counted, inert, json_option, note, print_json, print_table
from metnos.core.errors import UsageError
from metnos.executors.undo import Undo
from metnos.executors.undo_rules import Action
from metnos.law.principal import Principal


@click.command()
@click.argument("action", required=False)
@click.option("--list", "listing", is_flag=True, help="Show what was done, the newest first; change nothing.")
@click.option("-n", "count", default=20, show_default=True, type=click.IntRange(1, 100_000), help="How many to list.")
@click.option("--dry-run", is_flag=True, help="Say what would be done; change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_obj
def undo(choice: Choice, action: str | None, listing: bool, count: int, dry_run: bool, yes: bool, as_json: bool) -> int:
    """Take back what was done to files.

    ACTION is an id from --list, or the beginning of one; without it, the last action is taken back. All of it is taken
    back or, if anything has changed since, nothing.
    """
    app = open_app(choice)
    undoing = app.undo
    if listing:
        if action is not None:
            raise click.UsageError("--list shows all actions; leave the ACTION away")
        _list(undoing.actions(count), as_json)
        return FINE
    code = _turn(undoing, action, redo=False, dry_run=dry_run, yes=yes, as_json=as_json)
    learning.catch_up_or_later(app)  # what a fast path did wrong it does not do again
    return code


@click.command()
@click.argument("action", required=False)
@click.option("--dry-run", is_flag=True, help="Say what would be done; change nothing.")
@json_option
@click.pass_obj
def redo(choice: Choice, action: str | None, dry_run: bool, as_json: bool) -> int:
    """Do again what was undone.

    Shows what that changes and asks; only a person can say yes. ACTION is an id from `metnos undo --list`, or the
    beginning of one; without it, what was undone last is done again.
    """
    return _turn(open_app(choice).undo, action, redo=True, dry_run=dry_run, yes=False, as_json=as_json)


def _turn(undoing: Undo, named: str | None, *, redo: bool, dry_run: bool, yes: bool, as_json: bool) -> int:
    found = undoing.last(redo=redo) if named is None else undoing.find(named)
    lines = undoing.show(found.id, redo=redo)
    if dry_run:
        if as_json:
            print_json({**_facts(found), "would": lines})
        else:
            _say(found, lines)
        return FINE
    if redo:
        done = undoing.redo(found.id, by=_agreed_again(found, lines))
    elif yes or _agreed(found, lines):
        done = undoing.undo(found.id, by=person.principal())
    else:
        note("nothing was changed")
        return FAILED
    if as_json:
        print_json({**_facts(done), "did": lines})
    else:
        click.echo(f"{done.state.capitalize()}: {inert(done.title)} ({counted(len(lines), 'change')})")
    return FINE


def _agreed_again(found: Action, lines: tuple[str, ...]) -> Principal:
    """Doing it again is an act that nothing else asks about: a person sees it and types the word."""
    what = "do again what was undone"
    person.require(what)
    with contextlib.redirect_stdout(sys.stderr):  # it is a question, and no part of what a program reads
        _say(found, lines)
    return person.confirm(what, "Do it again?")


def _agreed(found: Action, lines: tuple[str, ...]) -> bool:
    """Ask on a terminal. Where nobody can answer, nothing is changed unless --yes says so."""
    if not _on_a_terminal():
        raise UsageError("nobody is there to be asked", fix="Say --yes to go on without asking.")
    _say(found, lines)
    return click.confirm("Take it back?", err=True)


def _on_a_terminal() -> bool:
    return sys.stdin.isatty()


def _say(found: Action, lines: tuple[str, ...]) -> None:
    click.secho(f"{inert(found.title)} ({found.ts}, {found.state})", bold=True)
    for text in lines:
        click.secho(f"  {inert(text)}", fg="red" if text.startswith("cannot: ") else None)


def _list(actions: list[Action], as_json: bool) -> None:
    if as_json:
        print_json([_facts(each) for each in actions])
    elif actions:
        rows = [(each.id, each.ts, each.state, len(each.effects), each.title) for each in actions]
        print_table(("action", "time", "state", "changes", "what"), rows, drop=("changes", "time", "state"))
    else:
        click.echo("Nothing was changed yet.")


def _facts(action: Action) -> dict[str, object]:
    """An action for JSON; a name that is no text is shown as in a message."""
    facts = asdict(action)
    facts["effects"] = [[part.encode("utf-8", "backslashreplace").decode() for part in each] for each in action.effects]
    return facts
