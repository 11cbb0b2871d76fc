"""``metnos mnestome``: what works together, what is fading, and what was wished for and does not exist."""

from datetime import datetime
from typing import Any

import click

from metnos.app import learning
from metnos.app.mnests import data
from metnos.cli import Choice
from metnos.cli.live import clip
from metnos.cli.mnestome_months import export, snapshot
from metnos.cli.mnestome_one import history, tag_
from metnos.cli.mnestome_tree import MOST, Branches, grow, print_tree
from metnos.cli.mnests import EMPTY, print_mnests
from metnos.cli.opening import open_app
from metnos.cli.output import json_option, print_json, print_table, say
from metnos.core.clock import to_text
from metnos.core.errors import UsageError
from metnos.core.nearest import nearest
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
@click.option("--decaying", is_flag=True, help="Only those on their way out; the same as --state decaying.")
@click.option("--all", "every", is_flag=True, help="Also the seeds: what may be expected and was not seen yet.")
@json_option
@click.pass_obj
def list_(choice: Choice, tag: str | None, state: str | None, decaying: bool, every: bool, as_json: bool) -> None:
    """List the living mnests, the heaviest first.

    A mnest says that one executor's output fed another. Seeds, wishes and what was superseded are listed only when
    their state is asked for (seed, proto, superseded); --all lists the seeds too.
    """
    if decaying and state:
        raise click.UsageError("--decaying is a state; leave --state away")
    app = open_app(choice)
    now, wanted = app.clock.now(), State(state) if state else None
    found = _listed(app.catalog.db, now, tag, State.DECAYING if decaying else wanted)
    shown = found if every or wanted else [each for each in found if each.state is not State.SEED]
    if as_json:
        print_json([data(each, now) for each in shown])
        return
    if shown:
        print_mnests(shown, now)
    else:
        say("No mnest is like that." if tag or wanted or decaying else EMPTY)
    if len(shown) < len(found):
        hidden = len(found) - len(shown)
        what = "1 that is only expected (seed) is" if hidden == 1 else f"{hidden} that are only expected (seed) are"
        say(f"{what} hidden: --all")


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
@click.option("--most", default=8, show_default=True, type=click.IntRange(1, MOST), help="How many at each executor.")
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
    unused = [called for _, called in learning.unused_calls(app, name)]
    if as_json:
        print_json(
            {"name": name, "gives_to": _branches(gives), "gives_to_more": gives.more, "takes_from": _branches(takes),
             "takes_from_more": takes.more, "never_called": unused}
        )  # fmt: skip
        return
    if gives or takes:
        print_tree(name, gives, takes)
    else:
        click.echo(f"Nothing passed through {name} yet.")
    for called in unused:
        say(f"It may call {called}, but never did.")


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
        head = ("name", "from", "uses", "weight", "often", "last", "what it should do")
        print_table(head, rows, drop=("from", "weight", "last", "often", "uses"))
    else:
        click.echo("Nothing was wished for that does not exist.")


for command in (history, tag_, snapshot, export):
    mnestome.add_command(command)


def _listed(db: Database, now: datetime, tag: str | None, state: State | None) -> list[Mnest]:
    if state is State.DECAYING and tag is None:
        return lists.decaying(db, now)
    if state is None and tag is not None:
        return lists.by_tag(db, tag, now)
    return lists.listing(db, now, tag, state)


def _refuse_unknown(db: Database, name: str, executors: list[str], now: datetime) -> None:
    """Nothing is known of it: then it should at least exist."""
    if name in executors:
        return
    wished = [each.dst for each in protos.protos(db)]
    known = {*executors, *wished, *(end for each in lists.listing(db, now) for end in (each.src, each.dst))}
    close = nearest(name, sorted(known), 3)
    meant = f"Did you mean {', '.join(close)}?" if close else "metnos executor list   shows those that there are."
    raise UsageError(f"there is no executor {name!r}", fix=meant)


def _branches(branches: Branches) -> list[dict[str, Any]]:
    return [
        {"name": each.name, "weight": round(each.weight, 4), "uses": each.uses, "state": each.state,
         "tags": list(each.tags), "mnest": each.id, "next": _branches(each.next), "more": each.next.more}
        for each in branches.shown
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
