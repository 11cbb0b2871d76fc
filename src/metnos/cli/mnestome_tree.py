"""What surrounds an executor, as a tree in the terminal: who it gives to, and who it takes from.

Rules: the heaviest first; on the way from the root to a leaf no executor comes twice, so a circle ends where it closes,
and is marked there. What was wished for stands among what an executor gives to.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import click

from metnos.cli.mnests import STYLES, WORDS, bar
from metnos.cli.output import counted, inert
from metnos.mnestome import graph, lists
from metnos.mnestome.mnest import Mnest
from metnos.mnestome.rules import State
from metnos.store.db import Database


@dataclass(frozen=True, slots=True)
class Branch:
    """One mnest, seen from one of its ends: the executor at the other, and what follows from there."""

    id: str
    name: str
    weight: float
    uses: int
    state: State
    tags: tuple[str, ...]
    closes: bool  # the executor stands higher up already
    next: "list[Branch]"


def grow(db: Database, name: str, depth: int, most: int, now: datetime, *, out: bool) -> list[Branch]:
    """The branches of an executor, outwards along what it gives or what it takes."""
    wishes = lists.listing(db, now, state=State.PROTO)

    def step(here: str, path: frozenset[str], left: int) -> list[Branch]:
        read = graph.top_k_outgoing if out else graph.top_k_incoming
        found = read(db, here, most, now) + [each for each in wishes if (each.src if out else each.dst) == here]
        found.sort(key=lambda each: (-each.at(now), each.dst if out else each.src))
        return [branch(each, path, left) for each in found[:most]]

    def branch(each: Mnest, path: frozenset[str], left: int) -> Branch:
        there = each.dst if out else each.src
        closes = there in path
        onward = step(there, path | {there}, left - 1) if left > 1 and not closes else []
        return Branch(each.id, there, each.at(now), each.uses, each.state, each.tags, closes, onward)

    return step(name, frozenset({name}), depth)


def print_tree(name: str, gives: Sequence[Branch], takes: Sequence[Branch]) -> None:
    """Both trees, one below the other."""
    click.secho(inert(name), bold=True)
    width = max(_widths(gives, 0) + _widths(takes, 0))
    for title, branches in (("gives to", gives), ("takes from", takes)):
        click.secho(f"\n{title}", fg="cyan")
        if not branches:
            click.echo("  nothing yet")
        _print_branches(branches, "  ", width)


def _print_branches(branches: Sequence[Branch], indent: str, width: int) -> None:
    for place, each in enumerate(branches):
        last = place == len(branches) - 1
        arm, onward = ("└─ ", "   ") if last else ("├─ ", "│  ")
        label = f"{indent}{arm}{inert(each.name)}{' ↺' if each.closes else ''}"
        facts = [counted(each.uses, "use"), WORDS.get(each.state, str(each.state)), *each.tags]
        click.echo(f"{label.ljust(width)}  ", nl=False)
        click.secho(f"{each.weight:.2f} {bar(each.weight)}  {inert(', '.join(facts))}", fg=STYLES.get(each.state))
        _print_branches(each.next, indent + onward, width)


def _widths(branches: Sequence[Branch], level: int) -> list[int]:
    """How wide each label is: indent, arm, name and mark."""
    own = [2 + 3 * level + 3 + len(inert(each.name)) + 2 * each.closes for each in branches]
    return own + [width for each in branches for width in _widths(each.next, level + 1)]
