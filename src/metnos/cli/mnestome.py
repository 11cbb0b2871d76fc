"""``metnos mnestome``: what works together, what is fading, and what was wished for and does not exist."""

import difflib
from datetime import datetime
from typing import Any

import click

from metnos.cli import Choice
from metnos.cli.live import clip
from metnos.cli.mnestome_months import export, snapshot
from metnos.cli.mnestome_one import history, tag_
from metnos.cli.mnestome_tree import Branch, grow, print_tree
from metnos.cli.mnests import EMPTY, data, print_mnests
from metnos.cli.opening import open_app
from metnos.cli.output import json_option, print_json, print_table
from metnos.core.clock import to_text
from metnos.core.errors import UsageError
from metnos.mnestome import graph as reading
from metnos.mnestome import lists
from metnos.mnestome import proto as protos
from metnos.mnestome.mnest import Mnest
from metnos.mnestome.rules import State
from metnos.store.db import Database

_SUMMARY = 80  # columns


@click.group()
def mnestome() -> None:
    """See what works together, what fades, and what was wished for."""


@mnestome.command(name="list")
@click.option("--tag", metavar="TAG", help="Only those with this tag.")
@click.option("--state", type=click.Choice([each.value for each in State]), help="Only those in this state.")
@json_option
@click.pass_obj
def list_(choice: Choice, tag: str | None, state: str | None, as_json: bool) -> None:
    """List the living mnests, the heaviest first.

    A mnest says that one executor's output fed another. Wishes and what was superseded are listed only when their state
    is asked for: proto, superseded.
    """
    app = open_app(choice)
    now = app.clock.now()
    found = lists.listing(app.catalog.db, now, tag, State(state) if state else None)
    if as_json:
        print_json([data(each, now) for each in found])
    elif found:
        print_mnests(found, now)
    else:
        click.echo("No mnest is like that." if tag or state else EMPTY)


@mnestome.command()
@click.argument("n", default=20, type=click.IntRange(1, 100_000))
@json_option
@click.pass_obj
def top(choice: Choice, n: int, as_json: bool) -> None:
    """List the N heaviest mnests, 20 if N is not given."""
    app = open_app(choice)
    now = app.clock.now()
    found = reading.top(app.catalog.db, n, now)
    if as_json:
        print_json([data(each, now) for each in found])
    elif found:
        print_mnests(found, now)
    else:
        click.echo(EMPTY)


@mnestome.group()
def graph() -> None:
    """See what surrounds an executor."""


@graph.command(name="executor")
@click.argument("name")
@click.option("--depth", default=2, show_default=True, type=click.IntRange(1, 5), help="How many passings away.")
@click.option("--most", default=8, show_default=True, type=click.IntRange(1, 100), help="How many at each executor.")
@json_option
@click.pass_obj
def graph_executor(choice: Choice, name: str, depth: int, most: int, as_json: bool) -> None:
    """Show what executor NAME gives to and takes from, as a tree with weights."""
    app = open_app(choice)
    db, now = app.catalog.db, app.clock.now()
    gives = grow(db, name, depth, most, now, out=True)
    takes = grow(db, name, depth, most, now, out=False)
    if not gives and not takes:
        _refuse_unknown(db, name, app.catalog.names(), now)
    if as_json:
        print_json({"name": name, "gives_to": _branches(gives), "takes_from": _branches(takes)})
    elif gives or takes:
        print_tree(name, gives, takes)
    else:
        click.echo(f"Nothing passed through {name} yet.")


@mnestome.command(name="proto")
@json_option
@click.pass_obj
def proto_(choice: Choice, as_json: bool) -> None:
    """List the executors that were wished for and do not exist, the last wish first.

    Each time a request needs one the wish gains weight, and it fades when it is not needed. Those that come back often
    are worth making.
    """
    app = open_app(choice)
    now = app.clock.now()
    found = protos.protos(app.catalog.db)
    often = {each.id for each in protos.recurring(app.catalog.db, now)}
    if as_json:
        print_json([_data(each, now, each.id in often) for each in found])
    elif found:
        rows = [
            (each.dst, each.src, each.uses, f"{each.at(now):.2f}", "yes" if each.id in often else "",
             f"{each.used.astimezone():%Y-%m-%d %H:%M}", clip(" ".join(each.summary.split()), _SUMMARY))
            for each in found
        ]  # fmt: skip
        print_table(("name", "from", "uses", "weight", "often", "last", "what it should do"), rows)
    else:
        click.echo("Nothing was wished for that does not exist.")


for command in (history, tag_, snapshot, export):
    mnestome.add_command(command)


def _refuse_unknown(db: Database, name: str, executors: list[str], now: datetime) -> None:
    """Nothing is known of it: then it should at least exist."""
    if name in executors:
        return
    wished = [each.dst for each in protos.protos(db)]
    known = {*executors, *wished, *(end for each in lists.listing(db, now) for end in (each.src, each.dst))}
    close = difflib.get_close_matches(name, sorted(known), 3)
    meant = f"Did you mean {', '.join(close)}?" if close else "metnos executor list   shows those that there are."
    raise UsageError(f"there is no executor {name!r}", fix=meant)


def _branches(branches: list[Branch]) -> list[dict[str, Any]]:
    return [
        {"name": each.name, "weight": round(each.weight, 4), "uses": each.uses, "state": each.state,
         "tags": list(each.tags), "mnest": each.id, "next": _branches(each.next)}
        for each in branches
    ]  # fmt: skip


def _data(each: Mnest, now: datetime, often: bool) -> dict[str, Any]:
    return {
        "id": each.id,
        "name": each.dst,
        "from": each.src,
        "from_version": each.src_version,
        "uses": each.uses,
        "weight": round(each.at(now), 4),
        "recurring": often,
        "first": to_text(each.first),
        "last": to_text(each.used),
        "tags": list(each.tags),
        "signature": dict(each.signature),
    }
