"""What the commands about mnests share: how one is shown in a line. As JSON it is `metnos.app.mnests.data`."""

from collections.abc import Sequence
from datetime import datetime

from metnos.app.mnests import uses
from metnos.cli.output import print_table
from metnos.mnestome.mnest import Mnest
from metnos.mnestome.rules import State

EMPTY = (
    "The mnestome is empty. It fills by itself: whenever one executor's output feeds another, and that one succeeds,"
    " the two are remembered together."
)
WORDS: dict[str, str] = {State.PROTO: "wished for", State.SEED: "expected"}  # all others are called as they are
STYLES = {State.SEED: "green", State.DECAYING: "yellow", State.PROTO: "magenta", State.SUPERSEDED: "bright_black"}
SHORT = 8  # the last letters of an id are the ones that differ
_BAR = 10


def print_mnests(found: Sequence[Mnest], now: datetime) -> None:
    """A table, in the order given."""
    rows = [
        (each.id[-SHORT:], each.src, each.dst, f"{each.at(now):.2f}", bar(each.at(now)), uses(each),
         last(each), WORDS.get(each.state, each.state), ", ".join(each.tags))
        for each in found
    ]  # fmt: skip
    styles = {place: STYLES[each.state] for place, each in enumerate(found) if each.state in STYLES}
    head = ("id", "from", "to", "weight", "", "uses", "last", "state", "tags")
    print_table(head, rows, styles, drop=("", "last", "tags", "uses", "state", "weight"))


def last(each: Mnest) -> str:
    """When it was last seen."""
    return "not yet" if each.state == State.SEED else f"{each.used.astimezone():%Y-%m-%d}"


def bar(weight: float) -> str:
    """A weight as a line of ten."""
    full = round(min(max(weight, 0.0), 1.0) * _BAR)
    return "━" * full + "·" * (_BAR - full)
