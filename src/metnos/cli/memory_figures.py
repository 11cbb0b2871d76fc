"""``metnos memory stats`` and ``reports``: how much is remembered, and what came of learning and dreaming."""

from collections.abc import Mapping
from typing import Any

import click

from metnos.app import keeping
from metnos.app.remembered_words import came_of
from metnos.cli import Choice
from metnos.cli.opening import open_app
from metnos.cli.output import inert, json_option, print_json, print_table
from metnos.core.clock import from_text, to_text
from metnos.grimoire.fact import Kind
from metnos.grimoire.reports import KINDS, Reports

_KNOWN = {  # what each kind of fact says, in words
    Kind.BASELINE: "what is usual",
    Kind.PATTERN: "what repeats",
    Kind.CAUSAL: "what brings what about",
    Kind.ANTI: "what does not work",
    Kind.PROCEDURAL: "how things are done",
    Kind.INSIGHT: "insights",
    Kind.HEURISTIC: "rules of thumb",
    Kind.WARNING: "warnings",
    Kind.LINK: "causes, written down",
}
_GROUPS: Mapping[str, Mapping[str, str]] = {
    "What happened": {"episodes": "episodes (turns and notes)", "engine": "kept by"},
    "What was learnt": {
        **{f"facts: {kind}": words for kind, words in _KNOWN.items()},
        "facts in quarantine": "doubted, or waiting for your yes",
        "lines in the playbook": "lines in PLAYBOOK.md",
        "patterns refused": "refused, and known again",
    },
    "How it is": {
        "mood": "mood",
        "embedder": "search by meaning",
        "last curator": "learnt last",
        "last dream": "dreamt last",
    },
}
_NAMES = {"curator": "learning", "dream": "dreaming", "health": "check of the embedder", "migration": "embedding anew"}
_WIDE = 9  # columns of a number


@click.command()
@json_option
@click.pass_obj
def stats(choice: Choice, as_json: bool) -> None:
    """Show how much is remembered, what was learnt, and the mood."""
    found = keeping.stats(open_app(choice))
    if as_json:
        print_json(found)
        return
    grouped = {name for names in _GROUPS.values() for name in names}
    more = {name: name for name in found if name not in grouped}
    width = max(len(words) for names in (*_GROUPS.values(), more) for words in names.values())
    for title, names in (*_GROUPS.items(), ("Further", more)):
        rows = [(words, found[name]) for name, words in names.items() if name in found]
        if rows:
            click.secho(title, bold=True)
        for words, value in rows:
            click.echo(f"  {words:<{width}}  {_aligned(value)}")


@click.command()
@click.option("-n", "count", default=20, show_default=True, type=click.IntRange(1, 1000), help="How many.")
@click.option("--kind", type=click.Choice(KINDS), help="Only these: learning, dreams, checks, or embedding anew.")
@json_option
@click.pass_obj
def reports(choice: Choice, count: int, kind: str | None, as_json: bool) -> None:
    """Show what came of learning, dreaming and checks, the newest first."""
    app = open_app(choice)
    found = Reports(app.grimoire.db, app.clock).latest(kind or "", count)
    if as_json:
        print_json([{"kind": each.kind, "ts": to_text(each.ts), **each.data} for each in found])
    elif found:
        rows = [(f"{each.ts.astimezone():%Y-%m-%d %H:%M}", _NAMES[each.kind], came_of(each)) for each in found]
        print_table(("when", "what", "what came of it"), rows)
    else:
        click.echo("There is no report yet. To learn now: metnos memory learn")


def _aligned(value: Any) -> str:
    """Numbers end in one column, words begin in one. Of the mood the words are enough."""
    if isinstance(value, int):
        return f"{value:>{_WIDE},}"
    try:
        return f"{from_text(str(value)).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return inert(str(value).partition(" (")[0])
