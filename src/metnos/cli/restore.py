"""``metnos restore``: put a backup back."""

import contextlib
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from metnos import app
from metnos.cli import Choice, person
from metnos.cli.output import counted, inert, json_option, note, print_json, print_table, say
from metnos.cli.passphrase import passphrase_option, read_passphrase
from metnos.law.backup import SEALED_KEYS
from metnos.law.principal import Principal
from metnos.law.restore import NEW_KEY

if TYPE_CHECKING:
    from metnos.law.arrival import Arrival


@click.command()
@click.argument("archive", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--replace", is_flag=True, help="Take the place of a workspace that is there; the old one is kept beside it."
)
@click.option("--with-keys", is_flag=True, help="Also the agent's secret keys, if the backup holds them.")
@click.option("--dry-run", is_flag=True, help="Check the archive whole and say what is in it; change nothing.")
@passphrase_option
@json_option
@click.pass_obj
def restore(
    choice: Choice,
    archive: Path,
    replace: bool,
    with_keys: bool,
    dry_run: bool,
    passphrase_file: Path | None,
    as_json: bool,
) -> None:
    """Put a backup back.

    It is checked whole and unpacked beside the workspace; its databases and its audit are looked at; only then does
    it take the workspace's place, at one stroke.

    Devices, codes, grants and open questions in it are void, and so are settings that allow something or lead
    somewhere. Shows what it brings, and you type a word to have it; only a person can.
    """
    if passphrase_file and not with_keys:
        raise click.UsageError("--passphrase-file goes with --with-keys")
    manifest = app.read_backup(archive)
    has_keys = any(member.path == SEALED_KEYS for member in manifest.members)
    facts: dict[str, str | int | bool] = {
        "archive": str(archive), "made": manifest.made, "version": manifest.version, "files": len(manifest.members),
        "bytes": manifest.size, "holds_keys": has_keys, "key": manifest.public_key,
    }  # fmt: skip
    if dry_run:
        print_json(facts) if as_json else click.echo(_describe(facts))
        return
    if with_keys and not has_keys:
        raise click.UsageError("this backup holds no keys; restore it without --with-keys")
    passphrase = read_passphrase(passphrase_file, confirm=False) if with_keys else None
    workspace = choice.workspace()
    done = app.restore(archive, workspace, replace=replace, passphrase=passphrase, agree=_agree)
    if done.faults:
        note(f"the audit in it was broken already ({done.faults[0].detail}): metnos audit verify")
    if as_json:
        kept = str(done.kept) if done.kept else None
        void = {"void": dict(done.arrival.void), "settings": dict(done.arrival.settings)}
        print_json({**facts, "workspace": str(workspace.root), "kept": kept, "keys": done.keys, **void})
        return
    click.echo(f"Restored {len(manifest.members)} files to {workspace.root}")
    click.echo(f"The agent's key: {done.keys}")
    if done.keys == NEW_KEY:
        click.echo("The key it was backed up with is not here, so this agent has a new one; its audit says so.")
    if done.kept:
        click.echo(f"What was there before is kept at {done.kept}")
    _tell_void(done.arrival)


def _agree(arrival: "Arrival") -> Principal:
    """Show what a backup brings, and have a person type the beginning of its key."""
    what = "restore a backup" if arrival.own else "restore another agent's backup"
    person.require(what)
    with contextlib.redirect_stdout(sys.stderr):  # it is a question, and no part of what a program reads
        _show(arrival)
    return person.confirm(what, "Restore it?", arrival.word)


def _show(arrival: "Arrival") -> None:
    if arrival.own:
        click.secho("This takes the place of your agent. What it did and was told since is not in it:", bold=True)
        click.echo(f"halts, revocations and the audit of what was done after {arrival.made} among it.")
        return
    click.secho("This backup is of another agent than the one that is here.", bold=True)
    rows: list[tuple[str, object]] = [("its key", arrival.key), ("made", f"{arrival.made} by Metnos {arrival.version}")]
    rows += [(what, ", ".join(names)) for what, names in arrival.more.items()]
    rows += [("edited", ", ".join(arrival.edited))] if arrival.edited else []
    print_table(("", ""), rows)
    _tell_void(arrival)
    click.echo(
        "Its executors are switched off until you sign each. What it remembers becomes what your agent remembers."
    )
    if arrival.soul:
        click.secho("Its constitution is not the one that Metnos comes with:", bold=True)
        click.echo(inert(arrival.soul))


def _tell_void(arrival: "Arrival") -> None:
    """Say what of a backup does not count, and how to have a setting again."""
    counts = ", ".join(counted(count, what.removesuffix("s")) for what, count in arrival.void.items())
    if counts:
        say(f"Void, because it came with a backup: {counts}.")
    if arrival.settings:
        say("These settings in it do not count. To have one all the same: metnos config set NAME VALUE")
        for name, value in sorted(arrival.settings.items()):
            text = ",".join(map(str, value)) if isinstance(value, list) else str(value)
            click.echo(f"  {inert(shlex.join([name, _plain(text)]))}")
    for server in arrival.more.get("MCP servers", ()):
        name = server.partition(":")[0]
        click.echo(f"  metnos mcp confirm {inert(name)}    ({inert(server)})")


def _plain(text: str) -> str:
    return text if text not in ("True", "False") else text.lower()


def _describe(facts: dict[str, str | int | bool]) -> str:
    keys = "with the agent's keys, sealed" if facts["holds_keys"] else "without keys"
    return (
        f"{facts['archive']} is whole: {facts['files']} files, {facts['bytes']:,} bytes, made {facts['made']}, {keys}"
    )
