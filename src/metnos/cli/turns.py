"""``metnos turns`` and ``metnos feedback``: what was asked and done, and what you thought of it."""

import json
from dataclasses import asdict
from typing import Any

import click

from metnos.app import learning
from metnos.app.reasons import GONE, data, found
from metnos.cli import Choice, person
from metnos.cli.live import clip, lasted
from metnos.cli.opening import open_app
from metnos.cli.output import inert, json_option, print_json, print_table, short
from metnos.core.clock import to_text
from metnos.core.errors import TurnError
from metnos.grimoire.medium import Glance, Medium
from metnos.grimoire.trace import Kept, State, StepTrace, Trace

_ASKED = 60  # columns of a request in a list
_SHOWN = 200  # characters of an argument
_COLOURS = {State.DONE: "green", State.PARTLY: "yellow", State.FAILED: "red", State.INTERRUPTED: "red"}


@click.group()
def turns() -> None:
    """List and show what was asked and done."""


@turns.command(name="list")
@click.option("-n", "count", default=20, show_default=True, type=click.IntRange(1, 100_000), help="How many.")
@click.option("--state", type=click.Choice([each.value for each in State]), help="Only those that ended so.")
@click.option("--conversation", metavar="ID", help="Only those of one conversation.")
@json_option
@click.pass_obj
def list_(choice: Choice, count: int, state: str | None, conversation: str | None, as_json: bool) -> None:
    """List the newest turns, the newest first."""
    found = open_app(choice).medium.newest(count, conversation, State(state) if state else None)
    if as_json:
        print_json([_glance(each) for each in found])
    elif found:
        rows = [
            (short(each.id), when(each), each.state, _said(each), " ".join(each.executors), asked(each))
            for each in found
        ]
        styles = {place: _COLOURS[each.state] for place, each in enumerate(found) if each.state in _COLOURS}
        head = ("turn", "asked", "state", "you said", "used", "request")
        print_table(head, rows, styles, drop=("you said", "used", "asked"))
    else:
        click.echo("Nothing like that was asked." if state or conversation else "Nothing was asked yet.")


@turns.command()
@click.argument("turn")
@json_option
@click.pass_obj
def show(choice: Choice, turn: str, as_json: bool) -> None:
    """Show one TURN: the request, the steps and the answer. The last letters of its id are enough."""
    medium = open_app(choice).medium
    trace = medium.find(turn)
    opinion = medium.opinion(trace.id)
    if as_json:
        print_json(data(trace, opinion))
        return
    click.secho(f"Turn {trace.id}", bold=True, nl=False)
    click.echo(f"  {when(trace)}, {inert(trace.channel or 'unknown channel')}, {trace.state}")
    if trace.kept is not Kept.WHOLE:
        click.secho(GONE[trace.kept], fg="yellow")
    _paragraph("You", trace.text)
    for step in trace.steps:
        _step(step)
    _paragraph("Metnos", trace.answer)
    if trace.error:
        _paragraph("Error", trace.error)
    if opinion:
        _paragraph("Feedback", " ".join(filter(None, ("good" if opinion.good else "bad", opinion.note))))
    click.secho(f"\nHow it came about: metnos why {trace.id}", fg="cyan")


@turns.command()
@click.argument("turn")
@click.pass_obj
def forget(choice: Choice, turn: str) -> None:
    """Forget what was said and found in a TURN, for good. Only a person can.

    Which executors ran, when and how it ended stays known, and so does what was changed on disk. Backups that were made
    before still have it; an open question and what `metnos undo` keeps are not touched.
    """
    app = open_app(choice)
    trace = app.medium.find(turn)
    if trace.kept is Kept.FORGOTTEN:
        learning.forget_turn(app, trace.id, person.require("forget for good"))  # in case that was cut short
        click.echo(f"Turn {trace.id} was forgotten before.")
        return
    by = person.confirm("forget for good", f"Forget turn {trace.id} for good?")
    learning.forget_turn(app, trace.id, by)
    click.echo(f"Forgotten: turn {trace.id}")


@click.command()
@click.argument("opinion", type=click.Choice(["good", "bad"]), metavar="good|bad")
@click.argument("turn", required=False)
@click.option("--note", default="", help="Why; kept with it.")
@click.pass_obj
def feedback(choice: Choice, opinion: str, turn: str | None, note: str) -> None:
    """Say whether an answer was good or bad.

    TURN is an id from `metnos turns list`, or its last letters; without it, the last answer is meant. Your last word
    on a turn is the one that counts, and a bad weighs more than a good.
    """
    app = open_app(choice)
    trace = chosen(app.medium, turn)
    app.medium.feedback(trace.id, opinion == "good", note)
    learning.catch_up_or_later(app)  # what a fast path did wrong it does not do again
    about = asked(trace)
    click.echo(f"Noted: {opinion}, turn {trace.id}{f' ({inert(about)})' if about else ''}")


# -- shared with `metnos why`


def chosen(medium: Medium, part: str | None) -> Trace:
    """The turn that was named, or the last one."""
    if part is not None:
        return medium.find(part)
    last = medium.last()
    if last is None:
        raise TurnError("nothing was asked yet", fix='Ask for something: metnos ask "what time is it"')
    return last


def when(turn: Trace | Glance) -> str:
    return f"{turn.asked.astimezone():%Y-%m-%d %H:%M}"


def asked(turn: Trace | Glance) -> str:
    """The request in one line."""
    return clip(" ".join(turn.text.split()), _ASKED)


def _step(step: StepTrace) -> None:
    mark, colour = ("✓", "green") if step.ok else ("✗", "red")
    click.secho(f"\n {mark} ", fg=colour, nl=False)
    click.echo(f"{step.number}. {inert(step.executor)}  {inert(found(step))}  {lasted(step.wall_ms)}")
    for name, value in step.args.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        click.echo(f"      {inert(name)}: {inert(text[:_SHOWN])}{'…' if len(text) > _SHOWN else ''}")
    if step.action:
        click.secho(f"      To take it back: metnos undo {inert(step.action)}", fg="cyan")


def _paragraph(who: str, text: str) -> None:
    if text:
        click.secho(f"\n{who}: ", bold=True, nl=False)
        click.echo(inert(text))


def _said(each: Glance) -> str:
    return "" if each.good is None else "good" if each.good else "bad"


def _glance(each: Glance) -> dict[str, Any]:
    return asdict(each) | {"asked": to_text(each.asked), "closed": to_text(each.closed)}
