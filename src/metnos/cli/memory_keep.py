"""The part of ``metnos memory`` that is about keeping: out and in again, other engines, learning and dreaming now."""

from collections.abc import Mapping
from pathlib import Path

import click

from metnos.app import keeping, remembering
from metnos.cli import Choice
from metnos.cli.opening import open_app
from metnos.cli.output import json_option, note, print_json, say
from metnos.cli.progress import Counting
from metnos.core.errors import UsageError


def told(counts: Mapping[str, int]) -> str:
    """What was done, in numbers."""
    return ", ".join(f"{number} {name}" for name, number in counts.items() if number)


@click.command(name="export")
@click.argument("target", type=click.Path(path_type=Path, dir_okay=False))
@click.pass_obj
def export(choice: Choice, target: Path) -> None:
    """Write everything that is remembered into one file TARGET (compressed if its name ends in .zst)."""
    done = keeping.export(open_app(choice), target)
    click.echo(f"Written to {target}: {told(done)}")


@click.command(name="import")
@click.argument("source", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.pass_obj
def import_(choice: Choice, source: Path) -> None:
    """Take in what `metnos memory export` wrote. What is there stays; what is new is believed no more than it was."""
    taken = keeping.take_in(open_app(choice), source)
    click.echo(f"Taken in: {told(taken.counts()) or 'nothing that was not there'}")


@click.command()
@click.argument("engine", type=click.Choice(["sqlite", "lance"]))
@click.pass_obj
def move(choice: Choice, engine: str) -> None:
    """Keep episodes in another ENGINE: sqlite, the default, or lance. Everything moves, nothing is lost on the way."""
    app = open_app(choice)
    if app.settings.memory.engine == engine:
        click.echo(f"Episodes are in {engine} already.")
        return
    with Counting("moved") as counting:
        keeping.move(app, engine, counting.step)
    click.echo(f"Episodes are in {engine} now.")


@click.command()
@click.option("--again", is_flag=True, help="Also if the embedder is the one that made what is there.")
@click.pass_obj
def reembed(choice: Choice, again: bool) -> None:
    """Embed everything anew, with the embedder of the settings. Can be stopped, and goes on where it was."""
    with Counting("embedded") as counting:
        done = keeping.embed_anew(open_app(choice), counting.step, again=again)
    click.echo(f"Embedded: {done.embedded}. {'Done.' if done.switched else 'To go on: metnos memory reembed'}")


@click.command()
@json_option
@click.pass_obj
def learn(choice: Choice, as_json: bool) -> None:
    """Learn from what happened now, instead of after fifty turns or by night."""
    app = open_app(choice)
    counts = remembering.curate(app, now=True).counts
    if as_json:
        print_json(counts)
        return
    click.echo(f"Done: {told(counts)}" if told(counts) else "There was nothing new to learn from.")


@click.command()
@json_option
@click.pass_obj
def dream(choice: Choice, as_json: bool) -> None:
    """Dream now: replay what happened, and ask what else could have been. Nothing is ever done in a dream."""
    done = remembering.dream(open_app(choice))
    if as_json:
        print_json(dict(done.counts))
        return
    click.echo(f"Dreamt: {told(done.counts)}" if told(done.counts) else "There was nothing to dream of.")


@click.command()
@click.option("--diff", "version", type=int, help="What this version changed.")
@click.option("--restore", type=int, help="Put this version back.")
@json_option
@click.pass_obj
def playbook(choice: Choice, version: int | None, restore: int | None, as_json: bool) -> None:
    """Show how PLAYBOOK.md became what it is: its versions, what one changed, or put one back."""
    book = open_app(choice).grimoire.playbook
    if restore is not None:
        report = book.restore(restore)
        if report.problem:
            raise UsageError(report.problem)
        click.echo(f"PLAYBOOK.md is as in version {restore} again.")
        return
    versions = book.versions()
    if version is not None:
        older = [each.id for each in versions if each.id < version]
        click.echo(book.diff(max(older), version) if older else "It is the first version.")
    elif as_json:
        print_json([{"id": each.id, "by": each.by, "why": each.why, "ts": each.ts} for each in versions])
    elif versions:
        for each in versions:
            say(f"{each.id}  {each.ts}  {each.by}  {each.why}", further=4)
    else:
        note("Metnos has not changed PLAYBOOK.md yet")


KEEPING = (export, import_, move, reembed, learn, dream, playbook)
