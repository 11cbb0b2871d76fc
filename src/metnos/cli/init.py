"""``metnos init``: make a workspace, or what is missing of it; with ``--from``, as the successor of one that died."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from metnos import app
from metnos.cli import Choice
from metnos.cli.output import counted, json_option, note, print_json, say
from metnos.core.errors import UsageError

if TYPE_CHECKING:
    from metnos.app.inheriting import Inherited
    from metnos.core.workspace import Workspace


@click.command()
@click.option("--from", "source", metavar="TESTAMENT", type=click.Path(path_type=Path), help="Inherit from this file.")
@click.option("--key", metavar="HEX", help="With --from: only if this key signed it; its first digits are enough.")
@json_option
@click.pass_obj
def init(choice: Choice, source: Path | None, key: str | None, as_json: bool) -> None:
    """Make a workspace, or what is missing of it.

    Safe to run again: what is there already is never touched. Makes SOUL.md with the four Laws, the other files of
    long memory, metnos.toml with every setting explained, the agent's key (mode 0600) and the first lines of the audit.

    With --from the new agent is the successor of the one that left that testament (`metnos life retire` writes one).
    What it inherits is checked first, believed less than its own experience, and proved anew by it. Executors and
    settings wait in the inbox for your yes.
    """
    workspace = choice.workspace()
    if source is not None:
        _inherit(workspace, source, key or "", as_json)
        return
    if key:
        raise UsageError("--key belongs to --from", fix="metnos init --from TESTAMENT --key HEX")
    made = app.found(workspace)
    if as_json:
        print_json({"workspace": str(workspace.root), "made": made})
    elif made:
        click.echo(f"Workspace ready at {workspace.root}")
        click.echo(f"Made: {', '.join(made)}")
        click.echo("Next: metnos doctor")
    else:
        click.echo(f"Workspace at {workspace.root} is complete; nothing was changed.")


def _inherit(workspace: "Workspace", source: Path, key: str, as_json: bool) -> None:
    from metnos.app import inheriting  # only for a successor
    from metnos.cli.progress import Counting

    with Counting(""):  # clears what is shown
        found = inheriting.found_from(workspace, source, key=key, progress=_show)
    if as_json:
        print_json(_data(workspace, found))
        return
    dead, taken = found.opened.testament, found.taken
    click.echo(f"Workspace ready at {workspace.root}")
    say(
        f"It is generation {found.generation}, the successor of {found.opened.key[:16]}…, who lived from"
        f" {dead.born:%Y-%m-%d} to {dead.died:%Y-%m-%d} ({counted(dead.ticks, 'tick')})."
    )
    say(f"Inherited: {_listed(found)}.")
    for state in ("left out", "consent", "refused"):
        if number := taken.counts().get(state, 0):
            say(f"{counted(number, 'entry').replace('entrys', 'entries')}: {_MEANS[state]}.", 2)
    if found.unexamined:
        note(f"executors were not examined: {found.unexamined}. Put that right, and type the same again")
    if found.waiting:
        click.echo(f"{counted(found.waiting, 'question')} about it: metnos inbox list")
    click.echo("Next: metnos life lineage")


def _show(what: str, done: int, of: int) -> None:
    from metnos.cli.progress import Counting

    Counting(what).step(done, of)


_MEANS = {
    "left out": "left out by chance, because a successor is no copy",
    "consent": "about people, and kept apart until you agree; you will be asked",
    "refused": "refused; `metnos life lineage --heirlooms` says why",
}


def _listed(found: "Inherited") -> str:
    taken = found.taken
    parts = [counted(taken.known, "fact"), counted(taken.links, "link"), counted(taken.episodes, "episode")]
    parts += [counted(len(found.executors), "executor")] if found.executors else []
    return ", ".join(parts)


def _data(workspace: "Workspace", found: "Inherited") -> dict[str, Any]:
    opened = found.opened
    return {
        "workspace": str(workspace.root),
        "made": list(found.made),
        "generation": found.generation,
        "testament": opened.digest,
        "key": opened.key,
        "taken": found.taken.counts(),
        "executors": [
            {"name": each.name, "became": str(each.became), "said": each.said, "question": each.question}
            for each in found.executors
        ],
        "unexamined": found.unexamined,
        "asked": [{"id": each.id, "title": each.title} for each in found.asked],
    }
