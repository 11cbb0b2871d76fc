"""``metnos backup``: archive the whole workspace."""

from pathlib import Path

import click

from metnos import app
from metnos.cli import Choice
from metnos.cli.opening import look_after
from metnos.cli.output import json_option, note, print_json
from metnos.cli.passphrase import passphrase_option, read_passphrase
from metnos.cli.progress import Bar


@click.command()
@click.option("--to", "target", type=click.Path(path_type=Path), help="A file, or a folder to put it in.")
@click.option("--with-keys", is_flag=True, help="Also the agent's secret keys, sealed under a passphrase.")
@passphrase_option
@json_option
@click.pass_obj
def backup(choice: Choice, target: Path | None, with_keys: bool, passphrase_file: Path | None, as_json: bool) -> None:
    """Back up the whole workspace, also while it is in use.

    Makes one .tar.gz that any tool can open, reads it back whole before it gets its name, and never replaces a file.
    Without --with-keys it holds no secret key, and an agent restored elsewhere gets a new one.
    """
    if passphrase_file and not with_keys:
        raise click.UsageError("--passphrase-file goes with --with-keys")
    workspace = choice.workspace()
    look_after(choice)
    chosen = app.backup_target(workspace)
    if target is not None:
        chosen = target / chosen.name if target.is_dir() else target
    passphrase = read_passphrase(passphrase_file, confirm=True) if with_keys else None
    with Bar("backing up") as bar:
        made = app.backup(workspace, chosen.absolute(), passphrase, bar.step)
    manifest = made.manifest
    if made.faults:
        note(f"the audit in it was broken already ({made.faults[0].detail}): metnos audit verify")
    if as_json:
        print_json({"path": str(made.path), "files": len(manifest.members), "bytes": manifest.size,
                    "skipped": list(manifest.skipped), "with_keys": with_keys})  # fmt: skip
        return
    click.echo(f"{made.path}")
    click.echo(f"{len(manifest.members)} files, {manifest.size:,} bytes, read back and found whole")
    if manifest.skipped:
        note(f"not archived, because they are links or no files: {', '.join(manifest.skipped)}")
