"""``metnos memory``: what is remembered: look, tell, forget."""

import json
from typing import Any

import click

from metnos.app import keeping, remembered
from metnos.app.remembered_words import told
from metnos.cli import Choice, person
from metnos.cli.memory_figures import reports, stats
from metnos.cli.memory_fit import fit
from metnos.cli.memory_keep import KEEPING
from metnos.cli.opening import open_app
from metnos.cli.output import (
    inert,
    json_option,
    note,
    print_json,
    print_table,
    say,
    short,
)
from metnos.core.errors import UsageError
from metnos.grimoire.episode import Episode, Viewer
from metnos.grimoire.fact import Fact
from metnos.grimoire.forget import Forgotten
from metnos.grimoire.recall import Memory

_LINE = 100
_LONG = 1000  # characters of one memory in a list
_YOURS = "says it too; what you wrote yourself only you take out"
_UNDO = "holds it until what was done is too old to be taken back"
_FILES = ("IDENTITY", "USER", "MEMORY", "TELOS", "PLAYBOOK")


@click.group()
def memory() -> None:
    """See what is remembered; tell, pin and forget."""


@memory.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--tag", "tags", multiple=True, help="A word to find it by; may be given several times.")
@click.pass_obj
def add(choice: Choice, text: tuple[str, ...], tags: tuple[str, ...]) -> None:
    """Remember TEXT, in your own words."""
    made = remembered.note(open_app(choice), " ".join(text), tags)
    click.echo(f"Remembered: {made.id}")


@memory.command()
@click.argument("question", nargs=-1, required=True)
@click.option("--count", default=5, show_default=True, type=click.IntRange(1, 100), help="How many of each kind.")
@click.option("--why", is_flag=True, help="Show what speaks for each: relevance, recency, importance, affect.")
@json_option
@click.pass_obj
def search(choice: Choice, question: tuple[str, ...], count: int, why: bool, as_json: bool) -> None:
    """Find what answers a QUESTION among all that happened and all that it taught."""
    words = " ".join(question).strip()
    if not words:
        raise UsageError("nothing was asked", fix="Say what to look for: metnos memory search <words>")
    found = open_app(choice).grimoire.recall(words, Viewer(), count=count, facts=count)
    if as_json:
        print_json(
            {
                "episodes": [remembered.found(each) for each in found.episodes],
                "facts": [remembered.found(each) for each in found.facts],
                "notes": list(found.notes),
            }
        )
        return
    for each in (*found.facts, *found.episodes):
        _show_found(each, why)
    for line in found.notes:
        note(line)


@memory.command()
@click.argument("memory_id", metavar="ID")
@json_option
@click.pass_obj
def show(choice: Choice, memory_id: str, as_json: bool) -> None:
    """Show one episode or fact whole. The last letters of its ID are enough."""
    app = open_app(choice)
    found = remembered.find(app, memory_id)
    if as_json:
        print_json(remembered.whole(found))
        return
    click.secho(inert(found.text), bold=True)
    rows = [(name, _shown(value)) for name, value in remembered.whole(found).items() if name != "text" and value != ""]
    print_table(("field", "value"), rows)
    if isinstance(found, Fact):
        for source in app.grimoire.episodes.get(found.sources[:10]):
            say(f"from {short(source.id)}, {source.ts:%Y-%m-%d}: {' '.join(source.text.split())[:_LINE]}", 2)


@memory.command()
@click.argument("query", nargs=-1)
@click.option("--id", "ids", multiple=True, help="Forget this episode or fact; may be given several times.")
@json_option
@click.pass_obj
def forget(choice: Choice, query: tuple[str, ...], ids: tuple[str, ...], as_json: bool) -> None:
    """Forget everything that holds the words of QUERY, for good: what happened, and what was learnt from it alone.

    Only a person can.

    Backups and exports that were made before still have it, and so have files that you wrote yourself.
    """
    words = " ".join(query)
    if not words and not ids:
        raise UsageError("nothing was named", fix="Say what to forget: metnos memory forget <words>, or --id ID")
    app = open_app(choice)
    forgetting = keeping.forgetting(app)
    plan = forgetting.plan(words, [remembered.find(app, each).id for each in ids])
    if plan.is_empty:
        click.echo(json.dumps({}) if as_json else "Nothing that is remembered holds that.")
    else:
        what = {"episodes": len(plan.episodes), "facts": len(plan.facts)}
        asked = f"Forget {told(what) or 'what was said'}, with every turn that says it, for good?"
        by = person.confirm("forget for good", asked)
        _tell_forgotten(keeping.forget(app, plan, by), as_json)
    for name in dict.fromkeys((*plan.yours, *keeping.still_says(app, words))):
        note(f"{name} {_UNDO if name.startswith('.law/undo') else _YOURS}")


@memory.command()
@click.argument("memory_id", metavar="ID")
@click.option("--off", is_flag=True, help="Let it fade again.")
@click.pass_obj
def pin(choice: Choice, memory_id: str, off: bool) -> None:
    """Keep an episode or a fact from ever being forgotten by itself."""
    app = open_app(choice)
    found = remembered.find(app, memory_id)
    keeping.pin(app, found, pinned=not off)
    click.echo(f"{'Fades again' if off else 'Pinned'}: {inert(' '.join(found.text.split())[:_LINE])}")


@memory.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--file", "file", default="MEMORY", show_default=True, type=click.Choice(_FILES), help="Where to.")
@click.pass_obj
def propose(choice: Choice, text: tuple[str, ...], file: str) -> None:
    """Propose a line for long memory, which every language model reads. It is written when you say yes."""
    app = open_app(choice)
    item = keeping.tiers(app).propose(
        " ".join(text), f"{file}.md", "the owner proposed it", (), asked_by=person.principal(), again=True
    )
    if item is None:
        click.echo(f"{file}.md says that already.")
    else:
        click.echo(f"See it and say yes: metnos inbox approve {item.id}")


for command in (stats, reports, *KEEPING, fit):
    memory.add_command(command)


# -- shown


def _tell_forgotten(gone: Forgotten, as_json: bool) -> None:
    counts = gone.counts()
    if as_json:
        print_json(counts)
        return
    busy = counts.pop("traces")
    click.echo(f"Forgotten: {told(counts) or 'nothing that was left'}")
    if busy:
        note("another process was reading, so a trace stays in the store's log until it ends: forget again then")


def _show_found(memory_: Memory, why: bool) -> None:
    of = memory_.of
    when = f"{of.ts:%Y-%m-%d}" if isinstance(of, Episode) else f"known, {100 * of.confidence:.0f} % sure"
    click.secho(f"{short(memory_.id)}  {when}", dim=True)
    say(_cut(of.text.strip(), memory_.id), 2)
    for line in memory_.why() if why else ():
        say(line, 4, further=2)


def _cut(text: str, key: str) -> str:
    left = len(text) - _LONG
    return text if left <= 0 else f"{text[:_LONG]}… ({left:,} more characters: metnos memory show {short(key)})"


def _shown(value: Any) -> Any:
    if value is None:
        return "not judged yet"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else value
