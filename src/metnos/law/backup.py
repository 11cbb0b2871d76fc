"""Backing up a whole workspace while it is in use.

Rules: what depends on something else goes in before it, so that a restored workspace can only be *behind* its own log
and never ahead: first everything else, then the conversations that all the rest is derived from, and last the audit
with its head, held still for that moment. Secret keys go in only when asked for, and then sealed under a passphrase.
"""

import base64
import json
from dataclasses import dataclass
from pathlib import Path

from metnos import __version__
from metnos.core import files
from metnos.core.clock import Clock, to_text
from metnos.core.errors import BackupError
from metnos.core.seal import seal
from metnos.core.workspace import Workspace
from metnos.law.audit_line import Entry
from metnos.law.founding import Seat
from metnos.store.archive import Manifest, Progress, Writer

SEALED_KEYS = "keys.sealed"
COMMIT_POINT = "memory/medium.db"
MADE = "backup"
MIN_PASSPHRASE = 8


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was made and read back."""

    path: Path
    manifest: Manifest


def default_target(workspace: Workspace, folder: str, clock: Clock) -> Path:
    """Where a backup goes when no place is named."""
    chosen = Path(folder).expanduser() if folder else workspace.root.parent / "metnos-backups"
    return chosen / f"metnos-{clock.now():%Y%m%dT%H%M%SZ}.tar.gz"


def make(
    workspace: Workspace, seat: Seat, clock: Clock, target: Path, *, passphrase: str | None, progress: Progress
) -> Backup:
    """Archive the workspace to ``target``; with a passphrase the secret keys too, sealed."""
    if passphrase is not None and len(passphrase) < MIN_PASSPHRASE:
        raise BackupError(f"a passphrase needs at least {MIN_PASSPHRASE} characters", fix="Choose a longer one.")
    if target.exists():
        raise BackupError(f"{target} is there already", fix="Name another file with --to.")
    writer = None
    try:
        with seat.audit.act(Entry(MADE, counts={"with_keys": int(passphrase is not None)})):
            files.private_folder(target.parent)
            writer = Writer(target, progress)
            _fill(writer, workspace, seat, target, passphrase)
            manifest = writer.finish(to_text(clock.now()), __version__, seat.signer)
    except OSError as error:
        raise BackupError(
            f"the backup cannot be written: {error.strerror}: {target}", fix="Free some space, or name another place."
        ) from error
    finally:
        if writer is not None:
            writer.discard()
    return Backup(target, manifest)


def _fill(writer: Writer, workspace: Workspace, seat: Seat, target: Path, passphrase: str | None) -> None:
    last = (f"{workspace.audit.name}/", f"{workspace.audit_db.relative_to(workspace.root)}")
    keys = f"{workspace.keys.name}/"
    # Backups may lie inside the workspace; they are not part of it.
    inside = target.parent.resolve()
    apart = f"{inside.relative_to(workspace.root)}/" if inside.is_relative_to(workspace.root) else None
    if apart == "./":
        raise BackupError("a backup cannot lie in the workspace's own top folder", fix="Name another place with --to.")

    def is_ordinary(name: str) -> bool:
        return not name.startswith((*last, keys, *((apart,) if apart else ()))) and not name.endswith(".tmp")

    writer.add_tree(workspace.root, keep=lambda name: is_ordinary(name) and name != COMMIT_POINT)
    writer.add_tree(workspace.root, keep=lambda name: name == COMMIT_POINT)
    with seat.audit.still():
        writer.add_tree(workspace.root, keep=lambda name: name.startswith(last))
    writer.add_file(workspace.public_key, f"{keys}{workspace.public_key.name}")
    if passphrase is not None:
        writer.add_bytes(seal(_gather_keys(workspace), passphrase), SEALED_KEYS)


def _gather_keys(workspace: Workspace) -> bytes:
    contents = {path.name: path.read_bytes() for path in sorted(workspace.keys.iterdir()) if path.is_file()}
    return json.dumps({name: base64.b64encode(content).decode() for name, content in contents.items()}).encode()
