"""``metnos life retire``: end this agent's life well, and leave what it learnt to a successor."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metnos.cli import FINE, Choice, person
from metnos.cli.opening import open_app
from metnos.cli.output import counted, inert, json_option, note, print_json, say
from metnos.core.clock import to_text
from metnos.core.errors import UsageError

if TYPE_CHECKING:
    from metnos.app.retiring import Outlook, Retired
    from metnos.life.thanatopsis import Step


_WORD = "retire"


@click.command()
@click.option("--to", "target", type=click.Path(path_type=Path, dir_okay=False), help="The testament's file.")
@click.option(
    "--release",
    multiple=True,
    metavar="ID",
    help="An episode or a fact that may cross though it is private; repeat it.",
)
@click.option("--resume", is_flag=True, help="Go on with an end that was interrupted.")
@click.option("--dry-run", is_flag=True, help="Say what would happen; change nothing.")
@json_option
@click.pass_obj
def retire(
    choice: Choice, target: Path | None, release: tuple[str, ...], resume: bool, dry_run: bool, as_json: bool
) -> int:
    """End this agent's life, and leave what it learnt in a signed testament. Only a person can.

    What is open is handed back, what you allowed in advance ends, and from then on nothing acts here any more. What was
    said to it stays behind, but for what you --release. The workspace stays as it is; a successor is made in another
    one by `metnos init --from TESTAMENT`. If it is interrupted, --resume goes on.
    """
    from metnos.app import retired, retiring

    app = open_app(choice)
    death = retired.thanatopsis(app).death()
    if resume and death is None:
        raise UsageError("nobody began to retire this agent", fix="Begin with: metnos life retire")
    if death is None:
        found = retiring.outlook(app, target, release)
        if dry_run or not as_json:
            print_json(_planned(found)) if as_json else _show(found)
        if dry_run:
            return FINE
        person.confirm("retire an agent", "Retire this agent? This cannot be taken back.", _WORD)
    elif dry_run:
        raise UsageError("this agent is being retired already", fix="Go on with: metnos life retire --resume")
    elif release:
        raise UsageError("what may cross was fixed when this end was accepted", fix="Leave --release out.")
    done = retiring.retire(app, to=target, release=release, progress=_silent if as_json else _watch)
    print_json(_data(done)) if as_json else _told(done)
    return FINE


def _watch(step: "Step", done: int, of: int) -> None:
    click.echo(f"  {done + 1:>2}/{of}  {step.phase:<10}  {step.says}", err=True)


def _silent(_step: "Step", _done: int, _of: int) -> None:
    """Programs read the answer, and nothing before it."""


def _show(found: "Outlook") -> None:
    gathered = found.gathered
    click.secho("What would happen", bold=True)
    say(f"- its testament is written to {found.to}", further=2)
    say(
        f"- {counted(len(gathered.entries), 'lesson')} of what it learnt would cross: {_words(gathered.why)}", further=2
    )
    say("- before that the last days are learnt from, so it may be more", further=2)
    if gathered.dropped:
        say(f"- {sum(gathered.dropped.values())} would stay behind: {_words(gathered.dropped)}", further=2)
    say(f"- {counted(len(gathered.episodes), 'episode')} that you released, {_executors(found.executors)}", further=2)
    if found.open_work:
        say(f"- handed back to you: {_words(found.open_work)}", further=2)
    if found.grants:
        say(f"- {counted(found.grants, 'grant')} would end", further=2)
    by = f"by {inert(found.model)}, with what is kept for this" if found.model else "by rules, without a language model"
    say(f"- it looks back {by}", further=2)
    if found.telling:
        say("- the webhook of life.webhook is told that it died", further=2)
    say("- from then on nothing acts here any more; the workspace stays as it is", further=2)
    if found.offered and not gathered.episodes:
        click.echo()
        say("What mattered most to it, and stays behind unless you release it (--release ID):")
        for key, text in found.offered:
            say(f"  {key}  {inert(text)}", further=4)
    click.echo()


def _told(done: "Retired") -> None:
    opened, death = done.opened, done.death
    click.secho(f"Retired. Its testament: {done.path}", bold=True)
    said = opened.testament
    left = f"{counted(len(said.entries), 'lesson')}, {counted(len(said.links), 'link')}, "
    left += f"{counted(len(said.episodes), 'episode')}, {counted(len(said.bones), 'passing')}, "
    left += counted(len(opened.executors.drafts) if opened.executors else 0, "executor")
    say(f"{opened.size} bytes, of which the core has {opened.core_size}: {left}.")
    say(
        f"A byte of it stands for {opened.compression:.1f} of what was said and learnt, one of the core for"
        f" {opened.core_compression:.0f}."
    )
    say(f"Signed by {opened.key}")
    for step, why in death.failed.items():
        note(f"{step} was given up: {why}")
    if lacking := (death.done.get("compose") or {}).get("left_out"):
        note(f"not all of it could be written, and the rest was: {lacking}")
    for name, why in (death.done.get("executors") or {}).get("kept_back", {}).items():
        note(f"{name} stays behind: {why}")
    say(f"A successor: metnos --workspace FOLDER init --from {shlex.quote(str(done.path))}")


def _executors(names: tuple[str, ...]) -> str:
    return f"and {counted(len(names), 'executor')} of your own" if names else "and no executor of your own"


def _words(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} ({count})" for kind, count in counts.items()) or "none"


def _planned(found: "Outlook") -> dict[str, Any]:
    gathered = found.gathered
    return {
        "to": str(found.to),
        "entries": len(gathered.entries),
        "why": dict(gathered.why),
        "stays": dict(gathered.dropped),
        "links": len(gathered.links),
        "episodes": len(gathered.episodes),
        "passings": len(gathered.bones),
        "executors": list(found.executors),
        "open": found.open_work,
        "grants": found.grants,
        "webhook": found.telling,
        "model": found.model or None,
        "offered": [{"id": key, "text": text} for key, text in found.offered],
    }


def _data(done: "Retired") -> dict[str, Any]:
    opened, death = done.opened, done.death
    return {
        "file": str(done.path),
        "digest": opened.digest,
        "key": opened.key,
        "bytes": opened.size,
        "core_bytes": opened.core_size,
        "compression": round(opened.compression, 3),
        "core_compression": round(opened.core_compression, 1),
        "cause": str(death.cause),
        "died": to_text(death.died),
        "generation": opened.testament.generation,
        "entries": len(opened.testament.entries),
        "episodes": len(opened.testament.episodes),
        "reflected_by": opened.testament.reflected_by,
        "given_up": dict(death.failed),
    }
