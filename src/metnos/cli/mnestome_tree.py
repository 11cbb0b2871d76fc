"""What surrounds an executor, as a tree in the terminal: who it gives to, and who it takes from.

Rules: the heaviest first; on the way from the root to a leaf no executor comes twice, so a circle ends where it closes,
and is marked there. What was wished for stands among what an executor gives to. What is left out is counted.
"""

import sys
from dataclasses import dataclass, field
from datetime import datetime

import click

from metnos.app.mnests import uses
from metnos.cli.live import clip, columns
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
    next: "Branches"


@dataclass(frozen=True, slots=True)
class Branches:
    """What grows at one place: the heaviest, and how many more there are."""

    shown: list[Branch] = field(default_factory=list)
    more: int = 0

    def __bool__(self) -> bool:
        return bool(self.shown)


MOST = 100  # branches at one place: more are no picture


def grow(db: Database, name: str, depth: int, most: int, now: datetime, *, out: bool) -> Branches:
    """The branches of an executor, outwards along what it gives or what it takes."""
    wishes = lists.listing(db, now, state=State.PROTO)

    def step(here: str, path: frozenset[str], left: int) -> Branches:
        read, count = (
            (graph.top_k_outgoing, graph.count_outgoing) if out else (graph.top_k_incoming, graph.count_incoming)
        )
        wished = [each for each in wishes if (each.src if out else each.dst) == here]
        found = read(db, here, most, now) + wished
        found.sort(key=lambda each: (-each.at(now), each.dst if out else each.src))
        shown = [branch(each, path, left) for each in found[:most]]
        return Branches(shown, count(db, here) + len(wished) - len(shown))

    def branch(each: Mnest, path: frozenset[str], left: int) -> Branch:
        there = each.dst if out else each.src
        closes = there in path
        onward = step(there, path | {there}, left - 1) if left > 1 and not closes else Branches()
        return Branch(each.id, there, each.at(now), uses(each), each.state, each.tags, closes, onward)

    return step(name, frozenset({name}), depth)


def print_tree(name: str, gives: Branches, takes: Branches) -> None:
    """Both trees, one below the other."""
    click.secho(inert(name), bold=True)
    width = max(_widths(gives, 0) + _widths(takes, 0))
    for title, branches in (("gives to", gives), ("takes from", takes)):
        click.secho(f"\n{title}", fg="cyan")
        if not branches:
            click.echo("  nothing yet")
        _print_branches(branches, "  ", width)


def _print_branches(branches: Branches, indent: str, width: int) -> None:
    for place, each in enumerate(branches.shown):
        last = place == len(branches.shown) - 1 and not branches.more
        arm, onward = ("└─ ", "   ") if last else ("├─ ", "│  ")
        label = f"{indent}{arm}{inert(each.name)}{' ↺' if each.closes else ''}".ljust(width)
        click.echo(f"{label}  ", nl=False)
        click.secho(_facts(each, width + 2), fg=STYLES.get(each.state))
        _print_branches(each.next, indent + onward, width)
    if branches.more:
        wanted = min(len(branches.shown) + branches.more, MOST)
        click.secho(f"{indent}└─ … {branches.more} more: --most {wanted}", dim=True)


def _facts(each: Branch, taken: int) -> str:
    """Weight, uses, state and tags; on a narrow terminal without the line that shows the weight once more."""
    facts = inert(", ".join([counted(each.uses, "use"), WORDS.get(each.state, str(each.state)), *each.tags]))
    whole = f"{each.weight:.2f} {bar(each.weight)}  {facts}"
    room = columns(sys.stdout) - taken
    if not sys.stdout.isatty() or len(whole) <= room:
        return whole
    return clip(f"{each.weight:.2f}  {facts}", room)


def _widths(branches: Branches, level: int) -> list[int]:
    """How wide each label is: indent, arm, name and mark."""
    own = [2 + 3 * level + 3 + len(inert(each.name)) + 2 * each.closes for each in branches.shown]
    return own + [width for each in branches.shown for width in _widths(each.next, level + 1)]
