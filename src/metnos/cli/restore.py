"""``metnos restore``: put a backup back."""

from pathlib import Path

import click

from metnos import app
from metnos.cli import Choice
from metnos.cli.output import json_option, note, print_json
from metnos.cli.passphrase import passphrase_option, read_passphrase
from metnos.law.backup import SEALED_KEYS
from metnos.law.restore import NEW_KEY


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
    """
    if passphrase_file and not with_keys:
        raise click.UsageError("--passphrase-file goes with --with-keys")
    manifest = app.read_backup(archive)
    has_keys = any(member.path == SEALED_KEYS for member in manifest.members)
    facts: dict[str, str | int | bool] = {
        "archive": str(archive), "made": manifest.made, "version": manifest.version, "files": len(manifest.members),
        "bytes": manifest.size, "holds_keys": has_keys,
    }  # fmt: skip
    if dry_run:
        print_json(facts) if as_json else click.echo(_describe(facts))
        return
    if with_keys and not has_keys:
        raise click.UsageError("this backup holds no keys; restore it without --with-keys")
    passphrase = read_passphrase(passphrase_file, confirm=False) if with_keys else None
    workspace = choice.workspace()
    done = app.restore(archive, workspace, replace=replace, passphrase=passphrase)
    if done.faults:
        note(f"the audit in it was broken already ({done.faults[0].detail}): metnos audit verify")
    if as_json:
        kept = str(done.kept) if done.kept else None
        print_json({**facts, "workspace": str(workspace.root), "kept": kept, "keys": done.keys})
        return
    click.echo(f"Restored {len(manifest.members)} files to {workspace.root}")
    click.echo(f"The agent's key: {done.keys}")
    if done.keys == NEW_KEY:
        click.echo("The key it was backed up with is not here, so this agent has a new one; its audit says so.")
    if done.kept:
        click.echo(f"What was there before is kept at {done.kept}")


def _describe(facts: dict[str, str | int | bool]) -> str:
    keys = "with the agent's keys, sealed" if facts["holds_keys"] else "without keys"
    return (
        f"{facts['archive']} is whole: {facts['files']} files, {facts['bytes']:,} bytes, made {facts['made']}, {keys}"
    )
