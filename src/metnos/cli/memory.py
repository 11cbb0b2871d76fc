"""``metnos memory``: what is remembered: look, tell, forget."""

import json
import unicodedata
from typing import Any

import click

from metnos.app import App, keeping
from metnos.cli import Choice
from metnos.cli.memory_figures import reports, stats
from metnos.cli.memory_fit import fit
from metnos.cli.memory_keep import KEEPING, told
from metnos.cli.opening import open_app
from metnos.cli.output import (
    confirm,
    inert,
    json_option,
    note,
    print_json,
    print_table,
    say,
    short,
)
from metnos.core.clock import to_text
from metnos.core.errors import UsageError
from metnos.grimoire.episode import Episode, Viewer, Where
from metnos.grimoire.fact import Fact, Standing
from metnos.grimoire.forget import Forgotten
from metnos.grimoire.recall import Memory
from metnos.law.principal import at_terminal
from metnos.turn.request import LONGEST

_LINE = 100
_LONG = 1000  # characters of one memory in a list
_LETTERS = 4  # of an id, at least
_RECENT = 5000  # episodes among which the last letters of an id are enough
_FIX = "Find it: metnos memory search <words>"
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
    words = " ".join(text).strip()
    if not words:
        raise UsageError("there is nothing to remember", fix="Say what: metnos memory add <words>")
    if len(words) > LONGEST:
        raise UsageError(f"this is longer than {LONGEST:,} characters", fix="Keep it in a file, and remember where.")
    if any(unicodedata.category(char) == "Cs" for char in words):  # bytes that the shell handed over and no letter has
        raise UsageError("this is no text", fix="Say it in words, or keep it in a file, and remember where.")
    made = open_app(choice).grimoire.add(words, tags)
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
                "episodes": [_found(each) for each in found.episodes],
                "facts": [_found(each) for each in found.facts],
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
    found = _find(app, memory_id)
    if as_json:
        print_json(_whole(found))
        return
    click.secho(inert(found.text), bold=True)
    rows = [(name, _shown(value)) for name, value in _whole(found).items() if name != "text" and value != ""]
    print_table(("field", "value"), rows)
    if isinstance(found, Fact):
        for source in app.grimoire.episodes.get(found.sources[:10]):
            say(f"from {short(source.id)}, {source.ts:%Y-%m-%d}: {' '.join(source.text.split())[:_LINE]}", 2)


@memory.command()
@click.argument("query", nargs=-1)
@click.option("--id", "ids", multiple=True, help="Forget this episode or fact; may be given several times.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_obj
def forget(choice: Choice, query: tuple[str, ...], ids: tuple[str, ...], yes: bool, as_json: bool) -> None:
    """Forget everything that holds the words of QUERY, for good: what happened, and what was learnt from it alone.

    Backups and exports that were made before still have it, and so have files that you wrote yourself.
    """
    words = " ".join(query)
    if not words and not ids:
        raise UsageError("nothing was named", fix="Say what to forget: metnos memory forget <words>, or --id ID")
    app = open_app(choice)
    forgetting = keeping.forgetting(app)
    plan = forgetting.plan(words, [_find(app, each).id for each in ids])
    if plan.is_empty:
        click.echo(json.dumps({}) if as_json else "Nothing that is remembered holds that.")
    else:
        if not yes:
            what = {"episodes": len(plan.episodes), "facts": len(plan.facts)}
            confirm(f"Forget {told(what) or 'what was said'}, with every turn that says it, for good?")
        _tell_forgotten(keeping.forget(app, plan), as_json)
    for name in dict.fromkeys((*plan.yours, *keeping.still_says(app, words))):
        note(f"{name} {_UNDO if name.startswith('.law/undo') else _YOURS}")


@memory.command()
@click.argument("memory_id", metavar="ID")
@click.option("--off", is_flag=True, help="Let it fade again.")
@click.pass_obj
def pin(choice: Choice, memory_id: str, off: bool) -> None:
    """Keep an episode or a fact from ever being forgotten by itself."""
    app = open_app(choice)
    found = _find(app, memory_id)
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
        " ".join(text), f"{file}.md", "the owner proposed it", (), asked_by=at_terminal(), again=True
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


def _found(memory_: Memory) -> dict[str, Any]:
    return _whole(memory_.of) | {"why": memory_.why(), "score": round(memory_.factors.score, 4)}


def _whole(of: Episode | Fact) -> dict[str, Any]:
    feeling = keeping.feeling(of.pad)
    if isinstance(of, Episode):
        return {
            "id": of.id,
            "text": of.text,
            "kind": of.kind,
            "when": to_text(of.ts),
            "about": of.domain,
            "for": str(of.scope),
            "curiosity": round(of.curiosity, 3),
            "importance": None if of.importance is None else round(of.importance, 3),
            "verdict": str(of.verdict),
            "feeling": feeling,
            "replayed": of.replays,
            "useful": of.used,
            "pinned": of.pinned,
            "tags": ", ".join(of.tags),
        }
    return {
        "id": of.id,
        "text": of.text,
        "kind": str(of.kind),
        "about": of.domain,
        "confidence": round(of.confidence, 3),
        "standing": str(of.standing),
        "from": str(of.provenance),
        "episodes": of.episode_count,
        "reinforced": to_text(of.reinforced),
        "fades": str(of.decay),
        "shown": of.shown,
        "helped": of.helped,
        "harmed": of.harmed,
        "feeling": feeling,
        "pinned": of.pinned,
    }


def _find(app: App, part: str) -> Episode | Fact:
    """The one memory whose id is so, or ends so: of episodes, only the recent ones."""
    wanted = part.strip().upper()
    if len(wanted) < _LETTERS:  # one letter fits something by chance, and this also serves to forget
        raise UsageError(f"{part!r} is too short for an id", fix=f"Give at least {_LETTERS} letters. {_FIX}")
    facts = [each for each in app.grimoire.facts.find(standings=tuple(Standing), count=-1) if each.id.endswith(wanted)]
    named = app.grimoire.episodes.get([wanted])
    recent = app.grimoire.episodes.select(Where(), count=_RECENT, newest_first=True) if not named else ()
    found: list[Episode | Fact] = [*named, *(each for each in recent if each.id.endswith(wanted)), *facts]
    if len(found) != 1:
        how_many = "more than one" if found else "no"
        raise UsageError(f"{how_many} memory has an id like {part!r}", fix=_FIX)
    return found[0]
