"""Backing up a whole workspace while it is in use.

Rules: what depends on something else goes in before it, so that a restored workspace can only be *behind* its own log
and never ahead: first everything else, then the conversations that all the rest is derived from, and last the audit
with its head, held still for that moment. Nothing is left out without a word. The archive is recorded in the audit
before it gets its name. Secret keys go in only when asked for, and then sealed under a passphrase. An audit that is
broken already is backed up all the same, and said: damage is when one needs a backup.
"""

import base64
import errno
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from metnos import __version__
from metnos.core import files
from metnos.core.clock import Clock, to_text
from metnos.core.errors import BackupError
from metnos.core.seal import seal
from metnos.core.workspace import LONG_MEMORY, Workspace
from metnos.law.audit_line import Entry
from metnos.law.audit_verify import Fault, verify
from metnos.law.founding import Seat
from metnos.store.archive import OWN, Manifest, Progress, Writer

SEALED_KEYS = f"{OWN}keys.sealed"
COMMIT_POINT = "memory/medium.db"
MADE = "backup"
MIN_PASSPHRASE = 8
# What `core.files` leaves when it is killed while it writes a file.
_STAGED = re.compile(r"(?:^|/)\.[^/]+\.[a-z0-9_]{8}\.tmp$")


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was made and read back, and what was already wrong with the audit in it."""

    path: Path
    manifest: Manifest
    faults: tuple[Fault, ...]


def default_target(workspace: Workspace, folder: str, clock: Clock) -> Path:
    """Where a backup goes when no place is named."""
    named = os.path.expanduser(folder or "metnos-backups")  # noqa: PTH111 -- Path raises on a home that is not there
    return workspace.root.parent / named / f"metnos-{clock.now():%Y%m%dT%H%M%SZ}.tar.gz"


def make(
    workspace: Workspace, seat: Seat, clock: Clock, target: Path, *, passphrase: str | None, progress: Progress
) -> Backup:
    """Archive the workspace to ``target``; with a passphrase the secret keys too, sealed."""
    _refuse_bad_request(workspace, target, passphrase)
    writer = None
    try:
        files.private_folder(target.parent)
        writer = Writer(target, progress)
        faults = _fill(writer, workspace, seat, passphrase)
        manifest = writer.finish(to_text(clock.now()), __version__, seat.signer)
        counts = {"with_keys": int(passphrase is not None), "files": len(manifest.members)}
        seat.audit.append(Entry(MADE, digests={"archive": writer.digest()}, counts=counts))
        writer.publish()
    except OSError as error:
        fix = "Free some space, or name another place." if error.errno == errno.ENOSPC else "Check who owns it."
        where = error.filename or target
        raise BackupError(f"the backup cannot be made: {error.strerror or error}: {where}", fix=fix) from error
    finally:
        if writer is not None:
            writer.discard()
    return Backup(target, manifest, faults)


def _refuse_bad_request(workspace: Workspace, target: Path, passphrase: str | None) -> None:
    if passphrase is not None and len(passphrase) < MIN_PASSPHRASE:
        raise BackupError(f"a passphrase needs at least {MIN_PASSPHRASE} characters", fix="Choose a longer one.")
    if target.exists():
        raise BackupError(f"{target} is there already", fix="Name another file with --to.")
    if target.resolve().is_relative_to(workspace.root.resolve()):
        raise BackupError("a backup cannot lie inside the workspace", fix="Name another place with --to.")
    for path in (workspace.settings, *workspace.folders, *(workspace.root / name for name in LONG_MEMORY)):
        if path.is_symlink():
            what = f"{path} is a link, and a backup would not hold what it leads to"
            raise BackupError(what, fix="Put the real file or folder in its place.")


def _fill(writer: Writer, workspace: Workspace, seat: Seat, passphrase: str | None) -> tuple[Fault, ...]:
    last = (f"{workspace.audit.name}/", f"{workspace.audit_db.relative_to(workspace.root)}")
    keys = f"{workspace.keys.name}/"
    run = f"{workspace.run.name}/"  # a running daemon's own, and nothing to anybody else

    def is_ordinary(name: str) -> bool:
        return not name.startswith((*last, keys, run)) and not _STAGED.search(name)

    writer.add_tree(workspace.root, keep=lambda name: is_ordinary(name) and name != COMMIT_POINT)
    writer.add_tree(workspace.root, keep=lambda name: name == COMMIT_POINT)
    with seat.audit.still() as look:
        writer.add_tree(workspace.root, keep=lambda name: name.startswith(last))
    writer.add_file(workspace.public_key, f"{keys}{workspace.public_key.name}")
    if passphrase is not None:
        writer.add_bytes(seal(_gather_keys(workspace), passphrase), SEALED_KEYS)
    return verify(workspace.audit, look, seat.signer.public).faults


def _gather_keys(workspace: Workspace) -> bytes:
    contents = {path.name: path.read_bytes() for path in sorted(workspace.keys.iterdir()) if path.is_file()}
    return json.dumps({name: base64.b64encode(content).decode() for name, content in contents.items()}).encode()
