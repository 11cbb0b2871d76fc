"""``metnos stats``: what was asked, who planned it, and what fast paths saved."""

import sys
from datetime import timedelta
from typing import Any

import click

from metnos.app import figures
from metnos.cli import Choice
from metnos.cli.live import columns, lasted
from metnos.cli.opening import open_app
from metnos.cli.output import counted, json_option, print_json, print_table, say

_WIDTH, _NARROW = 30, 6  # columns of the longest bar, and how many it gets at least
_BESIDE = 34  # columns of the date and the figures
_WAYS = {
    "fast": "fast paths",
    "router": "fixed rules",
    "model": "a language model",
    "react": "a language model, step by step",
    "": "nobody: it was over before",
}


@click.command()
@click.option("--days", type=click.IntRange(1, 3650), default=30, show_default=True, help="How far to look back.")
@json_option
@click.pass_obj
def stats(choice: Choice, days: int, as_json: bool) -> None:
    """See what was asked lately, and what fast paths saved.

    What is saved is what planning took before a fast path was there, on average, less what it takes now.
    """
    app = open_app(choice)
    found = figures.figures(app, app.clock.now() - timedelta(days=days))
    if as_json:
        print_json({"last_days": days, **figures.data(found)})
        return
    if not found.turns:
        click.echo(f"Nothing was asked in the last {counted(days, 'day')}.")
        return
    click.secho(f"The last {counted(days, 'day')}: {counted(found.turns, 'request')}", bold=True)
    rows = [_way(found, each) for each in found.ways]
    print_table(("planned by", "requests", "share", "planning took"), rows, drop=("share",))
    click.echo()
    _saved(found)
    _days(found)


def _way(found: figures.Figures, way: figures.Way) -> tuple[Any, ...]:
    share = f"{way.turns / found.turns:.0%}"
    return _WAYS.get(way.path, way.path), way.turns, share, lasted(way.plan_ms / way.turns) if way.turns else ""


def _saved(found: figures.Figures) -> None:
    if not found.hits:
        say("No fast path answered in this time. What is being learnt: metnos fastpath list")
        return
    money = f", and {found.saved_usd:.4f} USD" if found.saved_usd else ""
    say(
        f"Fast paths answered {counted(found.hits, 'request')} and called no language model for it:"
        f" {lasted(found.saved_ms)} of planning saved{money}."
    )
    share = found.wrong / found.hits
    say(
        f"{found.wrong} of these answers {'was' if found.wrong == 1 else 'were'} wrong ({share:.1%});"
        f" the bound is {found.bound:.1%}."
    )


def _days(found: figures.Figures) -> None:
    """Hits by day, as bars: the eye sees a trend sooner than figures show it."""
    most = max((day.hits for day in found.days), default=0)
    if most == 0:
        return
    click.echo()
    click.secho("Answers by fast paths", bold=True)
    width = max(_NARROW, min(_WIDTH, columns(sys.stdout) - _BESIDE))
    for day in found.days:
        bar = "█" * max(1, round(width * day.hits / most))
        click.echo(f"  {day.day:%Y-%m-%d} {bar} {day.hits}  {lasted(day.ms)} saved")
