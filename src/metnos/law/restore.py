"""Putting a backup back.

Rules: an archive is checked whole, unpacked beside the workspace, its databases and its audit proven there, and only
then takes the workspace's place at one stroke. A workspace that is there already is never overwritten: it must be
replaced on purpose, and then it is kept under another name. Keys come from the archive if they are in it and the
passphrase opens them, else from the workspace that is replaced if it is the same agent; an agent without its old key
gets a new one, which the audit then says.
"""

import base64
import itertools
import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from metnos.core import files, sign
from metnos.core.canon import sha256_file
from metnos.core.clock import Clock
from metnos.core.errors import BackupError, KeyFileError
from metnos.core.seal import unseal
from metnos.core.settings import Settings
from metnos.core.workspace import Workspace
from metnos.law import founding
from metnos.law.audit import read_head
from metnos.law.audit_line import Entry
from metnos.law.audit_verify import verify
from metnos.law.backup import SEALED_KEYS
from metnos.store import archive
from metnos.store.archive import Manifest
from metnos.store.db import Database
from metnos.store.file import is_database

RESTORED = "workspace restored"
REPLACED = "workspace replaced"


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did: what came back, where the old workspace is kept, and where the keys came from."""

    manifest: Manifest
    kept: Path | None
    keys: str


def restore(
    source: Path, workspace: Workspace, settings: Settings, clock: Clock, *, replace: bool, passphrase: str | None
) -> Restored:
    """Put the archive ``source`` in the place of ``workspace``."""
    occupied = workspace.root.exists() and any(workspace.root.iterdir())
    if occupied and not replace:
        raise BackupError(
            f"there is a workspace at {workspace.root} already",
            fix="Use --replace to put the backup in its place (the old one is kept beside it), or name another place"
            " with --workspace.",
        )
    workspace.root.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{workspace.root.name}.restoring-", dir=workspace.root.parent))
    try:
        staged = Workspace(staging)
        manifest = archive.read(source, into=staging)
        keys = _place_keys(staged, workspace, manifest, passphrase)
        _prove(staged, manifest)
        digest = sha256_file(source)
        if occupied and workspace.secret_key.exists():
            founding.take_seat(workspace, settings, clock).audit.append(Entry(REPLACED, digests={"archive": digest}))
    except BaseException:
        shutil.rmtree(staging)
        raise
    # From here on the staging name may hold the old workspace, so nothing is ever removed again.
    kept = _take_place(staging, workspace.root, occupied, clock)
    founding.found(workspace, settings, clock)
    founding.take_seat(workspace, settings, clock).audit.append(Entry(RESTORED, digests={"archive": digest}))
    return Restored(manifest, kept, keys)


def _place_keys(staged: Workspace, current: Workspace, manifest: Manifest, passphrase: str | None) -> str:
    """Put keys into the staged workspace and say where they came from."""
    sealed = staged.root / SEALED_KEYS
    if sealed.exists() and passphrase is not None:
        content = unseal(sealed.read_bytes(), passphrase)
        if content is None:
            raise BackupError(
                "the passphrase does not open the keys in this backup", fix="Nothing was restored. Try again."
            )
        sealed.unlink()
        _unpack_keys(content, staged)
        return "from the backup"
    sealed.unlink(missing_ok=True)
    if _same_agent(current, manifest):
        for path in current.keys.iterdir():
            if path.is_file() and not path.is_symlink():
                shutil.copy2(path, staged.keys / path.name)
        return "kept from the workspace that was there"
    # The archived public key has no secret half here: a new pair is made, and the audit will say so.
    staged.public_key.unlink(missing_ok=True)
    sign.make_keys(staged.secret_key, staged.public_key)
    return "new"


def _unpack_keys(content: bytes, staged: Workspace) -> None:
    for name, text in json.loads(content).items():
        if PurePosixPath(name).name != name:
            raise BackupError(f"the backup holds a key with the unsafe name {name!r}", fix="Nothing was restored.")
        files.replace(staged.keys / name, base64.b64decode(text), mode=files.PRIVATE_FILE)


def _same_agent(current: Workspace, manifest: Manifest) -> bool:
    try:
        return sign.load_signer(current.secret_key).public == manifest.public_key
    except KeyFileError:
        return False


def _prove(staged: Workspace, manifest: Manifest) -> None:
    """Every database sound, and the audit unbroken up to the head that was archived with it."""
    for member in manifest.members:
        path = staged.root / member.path
        if path.is_file() and is_database(path):
            database = Database(path, read_only=True)
            problems = database.problems()
            database.close()
            if problems:
                raise BackupError(f"{member.path} in this backup is damaged: {problems[0]}", fix="Use another backup.")
    if not staged.audit_db.exists():
        raise BackupError("this backup holds no audit", fix="Use another backup.")
    database = Database(staged.audit_db, read_only=True)
    report = verify(staged.audit, read_head(database), manifest.public_key)
    database.close()
    if report.faults:
        fault = report.faults[0]
        raise BackupError(
            f"the audit in this backup does not hold: {fault.place}: {fault.detail}", fix="Use another backup."
        )


def _take_place(staging: Path, root: Path, occupied: bool, clock: Clock) -> Path | None:
    """Give the staged workspace its name; what had that name before is kept, and returned."""
    kept = None
    if not occupied:
        staging.replace(root)  # an empty folder may stand there, and a rename replaces just that
    else:
        kept = _free_name(f"{root}.before-restore-{clock.now():%Y%m%dT%H%M%SZ}")
        if files.exchange(staging, root):
            staging.rename(kept)
        else:
            root.rename(kept)
            staging.rename(root)
    files.sync_folder(root.parent)
    return kept


def _free_name(wanted: str) -> Path:
    names = (Path(wanted if number == 1 else f"{wanted}-{number}") for number in itertools.count(1))
    return next(name for name in names if not name.exists())
