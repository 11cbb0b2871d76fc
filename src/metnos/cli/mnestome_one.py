"""``metnos mnestome history|tag``: one mnest, how its weight came to be, and its tags."""

import math
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta

import click

from metnos.app import ageing
from metnos.app.mnests import change, data, uses
from metnos.cli import Choice
from metnos.cli.live import columns
from metnos.cli.mnests import WORDS
from metnos.cli.opening import open_app
from metnos.cli.output import counted, inert, json_option, print_json, print_table, say
from metnos.core.errors import UsageError
from metnos.mnestome import lists, tags
from metnos.mnestome.curve import steps, weight_at
from metnos.mnestome.lists import Change
from metnos.mnestome.mnest import Mnest
from metnos.mnestome.rules import Event, Kind, Rules, State

_COLUMNS, _LINES = 60, 6  # of the plot
_LEAST = 24  # columns that two dates need
_SCALE = 8  # columns to the left of it
_BLOCKS = " ▁▂▃▄▅▆▇█"


@click.command()
@click.argument("mnest", metavar="ID")
@click.option("--all", "every", is_flag=True, help="Every night of fading by itself, not in one line.")
@json_option
@click.pass_obj
def history(choice: Choice, mnest: str, every: bool, as_json: bool) -> None:
    """Show all that happened to a mnest, and its weight over time.

    ID is an id from `metnos mnestome list`, or its beginning or end.
    """
    app = open_app(choice)
    db, now = app.catalog.db, app.clock.now()
    found = lists.find(db, mnest)
    told = lists.history(db, found.id, ageing.past(app))
    if as_json:
        print_json(data(found, now) | {"events": [change(each) for each in told]})
        return
    _print_head(found, now)
    if told:
        room = columns(sys.stdout) - _SCALE if sys.stdout.isatty() else _COLUMNS
        events = [each.event for each in told]
        click.echo("\n".join(["", *plot(events, now, max(_LEAST, min(_COLUMNS, room))), ""]))
    lines = [[each] for each in told] if every else folded(told)
    print_table(("when", "what", "by", "weight", "why"), [_row(each) for each in lines], drop=("by", "why"))


@click.command(name="tag")
@click.argument("mnest", metavar="ID")
@click.option("--add", "added", multiple=True, metavar="TAG", help="Give it this tag; may be repeated.")
@click.option("--remove", "removed", multiple=True, metavar="TAG", help="Take this tag away; may be repeated.")
@click.option("--clear", is_flag=True, help="Take every tag away first.")
@json_option
@click.pass_obj
def tag_(
    choice: Choice, mnest: str, added: tuple[str, ...], removed: tuple[str, ...], clear: bool, as_json: bool
) -> None:
    """Change the tags of a mnest.

    ID is an id from `metnos mnestome list`, or its beginning or end. Tags find mnests again; where the setting
    mnestome.fading names one, they also say how fast a mnest fades from now on.
    """
    if not added and not removed and not clear:
        raise UsageError("nothing to change was said", fix="Say --add TAG, --remove TAG or --clear.")
    app = open_app(choice)
    db, now = app.catalog.db, app.clock.now()
    rules = Rules(lambdas=app.settings.mnestome.lambdas)
    done = tags.retag(db, lists.find(db, mnest).id, now, add=added, remove=removed, clear=clear, rules=rules)
    if as_json:
        print_json(data(done, now))
        return
    listed = ", ".join(done.tags) or "none"
    click.echo(f"{inert(done.src)} → {inert(done.dst)} has the tags: {inert(listed)}")


# -- weight over time


def plot(events: Sequence[Event], now: datetime, width: int = _COLUMNS) -> list[str]:
    """The weight from the first event until now, as lines of text."""
    taken = steps(events)
    first = min(step.at for step in taken)
    last = max(now, first + timedelta(seconds=1))
    moments = [first + (last - first) * (column / (width - 1)) for column in range(width)]
    weights = [weight_at(taken, moment) for moment in moments]
    lines = []
    for line in range(_LINES - 1, -1, -1):
        scale = {_LINES - 1: "1.0", 0: "0.0"}.get(line, "   ")
        cells = (max(0, min(8, round((weight * _LINES - line) * 8))) for weight in weights)
        lines.append(f"  {scale} ┤{''.join(_BLOCKS[cell] for cell in cells)}".rstrip())
    start, end = (f"{moment.astimezone():%Y-%m-%d}" for moment in (first, last))
    return [*lines, f"      └{'─' * width}", f"       {start}{end.rjust(width - len(start))}"]


# -- events


def folded(told: Sequence[Change]) -> list[list[Change]]:
    """The same in fewer lines: nights of fading that follow one another are one."""
    lines: list[list[Change]] = []
    for each in told:
        if lines and _is_night(each) and _is_night(lines[-1][-1]) and each.event.reason == lines[-1][-1].event.reason:
            lines[-1].append(each)
        else:
            lines.append([each])
    return lines


def _is_night(change: Change) -> bool:
    event = change.event
    return event.kind is Kind.DECAY and event.decay_lambda is None and not event.sets_back


def _row(changes: Sequence[Change]) -> tuple[object, ...]:
    first, last = changes[0], changes[-1]
    when = f"{first.event.ts.astimezone():%Y-%m-%d %H:%M}"
    what = {Kind.REINFORCE: "used", Kind.DECAY: "faded"}.get(first.event.kind, "became")
    if len(changes) > 1:
        when, what = f"{when} to {last.event.ts.astimezone():%Y-%m-%d}", f"faded, {counted(len(changes), 'time')}"
    elif first.new_state:
        verb = "born" if first.event.kind is Kind.REINFORCE else "became"
        what = f"{verb} {WORDS.get(first.new_state, first.new_state)}"
    deltas = [each.event.delta for each in changes if each.event.delta is not None]
    why = first.event.reason + (f" (turn {first.turn})" if first.turn else "")
    return when, what, f"{sum(deltas):+.3f}" if deltas else "", f"{last.weight:.3f}", why


def _print_head(found: Mnest, now: datetime) -> None:
    click.secho(f"{inert(found.src)} → {inert(found.dst)}", bold=True, nl=False)
    click.echo(f"  {found.id}")
    versions = f"{found.src_version or 'no version'} → {found.dst_version or 'does not exist yet'}"
    half = int(math.log(2) / found.decay_lambda)
    say(f"{WORDS.get(found.state, found.state)}, weighs {found.at(now):.3f}, {counted(uses(found), 'use')}, {versions}")
    listed = f"; tags: {', '.join(found.tags)}" if found.tags else ""
    say(f"fades to half in {half} days{listed}")
    if found.state is State.PROTO and found.summary:
        say(f"should: {' '.join(found.summary.split())}")
