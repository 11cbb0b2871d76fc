"""The part of ``metnos memory`` that is about keeping: out and in again, other engines, learning and dreaming now."""

from pathlib import Path

import click

from metnos.app import keeping, remembering
from metnos.app.remembered_words import REPORTED, told
from metnos.cli import FINE, INTERRUPTED, Choice, person
from metnos.cli.opening import open_app
from metnos.cli.output import counted, json_option, note, print_json, say
from metnos.cli.progress import Counting
from metnos.cli.stopping import Stopping, watched
from metnos.core.clock import to_text
from metnos.core.errors import StoreBusy, UsageError
from metnos.grimoire.curator_rules import RULES
from metnos.night.jobs import Done

_LEARNT = (
    *("facts_admitted", "facts_merged", "facts_doubted", "facts_contradicted", "facts_consent", "facts_rejected"),
    *("facts_poisoned", "facts_known", "entered", "left", "pruned", "expired", "evicted"),
)


@click.command(name="export")
@click.argument("target", type=click.Path(path_type=Path, dir_okay=False))
@click.pass_obj
def export(choice: Choice, target: Path) -> int:
    """Write everything that is remembered into one file TARGET (compressed if its name ends in .zst)."""
    if not target.name:
        raise UsageError("no file was named", fix="Say where to: metnos memory export FILE")
    app = open_app(choice)
    with Stopping() as stopping, Counting("written") as counting:
        done = keeping.export(app, target, counting.step, stopping)
    if stopping() and not done:
        note("it was stopped; nothing was written")
        return INTERRUPTED
    done.pop("barred", None)  # a list, which is there or not
    click.echo(f"Written to {target}: {told(done)}")
    return FINE


@click.command(name="import")
@click.argument("source", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.pass_obj
def import_(choice: Choice, source: Path) -> int:
    """Take in what `metnos memory export` wrote. What is there stays; what is new is believed no more than it was.

    A file that this very agent did not sign is a stranger's word: it is found, and nothing is done as it says.
    """
    app = open_app(choice)
    with Stopping() as stopping, Counting("taken in") as counting:
        done = keeping.take_in(app, source, counting.step, stopping)
    counts = done.counts()
    counts.pop("barred", None)  # a list, which is there or not
    click.echo(f"Taken in: {told(counts) or 'nothing'}")
    if done.stranger:
        note(f"this agent did not sign that file: it is found as said by {done.stranger}, and steers nothing")
    return FINE if done.whole else _stopped("the same command")


@click.command()
@click.argument("engine", type=click.Choice(["sqlite", "lance"]))
@click.pass_obj
def move(choice: Choice, engine: str) -> int:
    """Keep episodes in another ENGINE: sqlite, the default, or lance. Everything moves, nothing is lost on the way.

    Only a person can.
    """
    app = open_app(choice)
    if app.settings.memory.engine == engine:
        click.echo(f"Episodes are in {engine} already.")
        return FINE
    by = person.confirm("move the memory", f"Keep every episode in {engine} from now on?")
    with Stopping() as stopping, Counting("moved") as counting:
        moved = keeping.move(app, engine, by, counting.step, stopping)
    if not moved.done:
        click.echo(f"Copied: {counted(moved.count, 'episode')}. Until all of them are, nothing changes.")
        return _stopped(f"metnos memory move {engine}")
    click.echo(f"Episodes are in {engine} now.")
    return FINE


@click.command()
@click.option("--again", is_flag=True, help="Also if the embedder is the one that made what is there.")
@click.pass_obj
def reembed(choice: Choice, again: bool) -> int:
    """Embed everything anew, with the embedder of the settings. Can be stopped, and goes on where it was."""
    app = open_app(choice)
    with Stopping() as stopping, Counting("embedded") as counting:
        done = keeping.embed_anew(app, counting.step, stopping, again=again)
    if not done.switched:
        click.echo(f"Embedded: {done.done} of {done.of}.")
        return _stopped("metnos memory reembed")
    if done.embedded:
        click.echo(f"Embedded: {done.embedded}. Everything is found by its meaning again.")
    else:
        click.echo("Everything is embedded by this embedder already. To do it all the same: --again")
    return FINE


@click.command()
@json_option
@click.pass_obj
def learn(choice: Choice, as_json: bool) -> int:
    """Learn from what happened now, instead of after fifty turns or by night. Can be stopped, and goes on later."""
    app = open_app(choice)
    with watched(shows=not as_json) as watcher:
        done = _unless_busy(remembering.curate(app, watcher, now=True))
    counts = done.counts
    judged, verified = counts.get("judged", 0), counts.get("verified", 0)
    learnt = told({name: counts.get(name, 0) for name in _LEARNT})
    if as_json:
        print_json(dict(counts) | {"finished": _is_whole(done)})
    else:
        if judged:
            click.echo(f"Looked at {counted(judged, 'new episode')}; {verified or 'none'} of them can be learnt from.")
        nothing = "Nothing was learnt yet."
        if _is_whole(done):
            nothing = "Nothing new came of it." if judged else "There was nothing new to learn."
        click.echo(f"Learnt: {learnt}" if learnt else nothing)
        if judged >= RULES.judged and _is_whole(done):
            note("that was as much as is learnt from at once; there may be more: metnos memory learn")
    return _ended(done, "metnos memory learn")


@click.command()
@json_option
@click.pass_obj
def dream(choice: Choice, as_json: bool) -> int:
    """Dream now: replay what happened, and ask what else could have been. Nothing is ever done in a dream."""
    app = open_app(choice)
    with watched(shows=not as_json) as watcher:
        done = _unless_busy(remembering.dream(app, watcher))
    if as_json:
        print_json(dict(done.counts) | {"finished": _is_whole(done)})
    else:
        nothing = "There was nothing to dream of." if _is_whole(done) else "Nothing was dreamt yet."
        dreamt = told({name: number for name, number in done.counts.items() if name in REPORTED})
        click.echo(f"Dreamt: {dreamt}" if dreamt else nothing)
    return _ended(done, "metnos memory dream")


def _unless_busy(done: Done) -> Done:
    if done.message == remembering.BUSY:
        raise StoreBusy("another process is learning or dreaming right now", fix="Wait until it is done, or stop it.")
    return done


def _stopped(again: str) -> int:
    note(f"it was stopped; what is done is kept, and this goes on with the rest: {again}")
    return INTERRUPTED


def _is_whole(done: Done) -> bool:
    return not done.stopped and done.message != remembering.OUT_OF_TIME


def _ended(done: Done, again: str) -> int:
    """Say why it ended before its end, and how it goes on."""
    if not _is_whole(done):
        why = "it was stopped" if done.stopped else "its time was used up"
        note(f"{why}; what is done is kept, and this goes on with the rest: {again}")
    elif done.message:
        note(done.message)
    return INTERRUPTED if done.stopped else FINE


@click.command()
@click.option("--diff", "version", type=int, help="What this version changed.")
@click.option("--restore", type=int, help="Put this version back.")
@json_option
@click.pass_obj
def playbook(choice: Choice, version: int | None, restore: int | None, as_json: bool) -> None:
    """Show how PLAYBOOK.md became what it is: its versions, what one changed, or put one back.

    Only a person can put one back: it may hold lines that you took out.
    """
    app = open_app(choice)
    book = app.grimoire.playbook
    if restore is not None:
        book.history.content(restore)  # raises if there is none
        by = person.confirm("put a version back", f"Put version {restore} of PLAYBOOK.md back?")
        keeping.restore_playbook(app, restore, by)
        click.echo(f"PLAYBOOK.md is as in version {restore} again.")
        return
    versions = book.versions()
    if version is not None:
        older = [each.id for each in versions if each.id < version]
        click.echo(book.diff(max(older), version) if older else "It is the first version.")
    elif as_json:
        print_json([{"id": each.id, "by": each.by, "why": each.why, "ts": to_text(each.ts)} for each in versions])
    elif versions:
        for each in versions:
            say(f"{each.id}  {each.ts.astimezone():%Y-%m-%d %H:%M}  {each.by}  {each.why}", further=4)
    else:
        note("Metnos has not changed PLAYBOOK.md yet")


KEEPING = (export, import_, move, reembed, learn, dream, playbook)
