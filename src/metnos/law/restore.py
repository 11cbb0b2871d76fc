"""Putting a backup back.

Rules: an archive is checked whole, unpacked beside the workspace, its databases and its audit looked at there, and only
then takes the workspace's place at one stroke. A workspace that is there already is never overwritten: it must be
replaced on purpose, and then it is kept under another name. Keys come from the archive if they are in it and the
passphrase opens them, else from the workspace that is replaced if it is the same agent; an agent without its old key
gets a new one, which the audit then says. An archive holds no other keys, and none that was not sealed.

What must not come along is made void before the workspace takes its place (see `arrival`). A person has to agree to
every restore: one of the agent's own backup, too, takes away what was recorded since. What takes the place of a
workspace is halted unless that one's halt file, store and audit all say that it may act, its file also at the end.
Every file comes out with mode 0600 and every folder with 0700.
"""

import base64
import contextlib
import dataclasses
import errno
import itertools
import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from metnos.core import files, sign
from metnos.core.canon import sha256_file
from metnos.core.clock import Clock
from metnos.core.errors import BackupError, KeyFileError, MetnosError, Refused
from metnos.core.ids import UlidMaker
from metnos.core.seal import unseal
from metnos.core.sections import Settings
from metnos.core.workspace import Workspace
from metnos.law import arrival, founding
from metnos.law.arrival import Agree, Arrival, Settle
from metnos.law.audit import read_head
from metnos.law.audit_line import Entry
from metnos.law.audit_log import look
from metnos.law.audit_verify import Fault, verify
from metnos.law.backup import SEALED_KEYS
from metnos.law.halt import Halts, make_note
from metnos.law.halt_file import HaltFile, HaltNote
from metnos.law.principal import Principal
from metnos.law.staging import remove_leftovers, staging_folder
from metnos.store import archive
from metnos.store.archive import Manifest
from metnos.store.db import Database
from metnos.store.file import is_database

RESTORED = "workspace restored"
REPLACED = "workspace replaced"
NEW_KEY = "new"
_KEY_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")


@dataclass(frozen=True, slots=True)
class Restored:
    """What came back, where the old workspace is kept, where the keys came from, and what was wrong with the audit."""

    manifest: Manifest
    kept: Path | None
    keys: str
    faults: tuple[Fault, ...]
    arrival: Arrival


def nobody(_arrival: Arrival) -> Principal | None:
    """Agree to nothing: where no person is asked, nothing is restored."""
    return None


def nothing_more(_staged: Workspace, _before: Workspace | None) -> Mapping[str, tuple[str, ...]]:
    """Where there is nothing but what the Laws' own code keeps."""
    return {}


def restore(
    source: Path,
    workspace: Workspace,
    clock: Clock,
    *,
    replace: bool,
    passphrase: str | None,
    agree: Agree = nobody,
    settle: Settle = nothing_more,
) -> Restored:
    """Put the archive ``source`` in the place of ``workspace``.

    ``agree`` asks a person; ``settle`` makes void what other code keeps.
    """
    try:
        occupied = _refuse_bad_place(workspace.root, replace=replace)
        workspace.root.parent.mkdir(parents=True, exist_ok=True)
        remove_leftovers(workspace.root)
        with staging_folder(workspace.root) as staging:
            staged = Workspace(staging)
            manifest = archive.read(source, into=staging)
            before = workspace if _same_agent(workspace, manifest) else None
            _refuse_open_keys(staged)
            keys = _place_keys(staged, before, manifest, passphrase)
            faults = _prove(staged, manifest)
            arrived = arrival.settle(staged, before, manifest, clock, settle)
            by = agree(arrived)
            if by is None or not by.may_answer:
                raise Refused(
                    "restoring needs your confirmation at a terminal; nothing was restored",
                    fix="Type at a terminal: metnos restore ARCHIVE",
                )
            arrival.close_all(staged)
            digest = sha256_file(source)
            halt = _halt_of(workspace, clock) if occupied else None  # no backup lifts a halt
            if halt is not None:
                _keep_halted(staged, halt)
            if occupied:
                _say_goodbye(workspace, clock, digest)
            kept = _take_place(staging, workspace.root, occupied, clock)
    except OSError as error:
        raise _cannot(error, workspace.root) from error
    if kept is not None:
        _keep_late_halt(workspace, Workspace(kept), halt, clock)
    # The restored settings or Laws may be what is broken; these acts need neither, and the next start will say so.
    founding.complete(workspace)
    seat = founding.take_seat(workspace, Settings.model_construct(), clock)
    seat.accept(by)  # log and store are older ones on purpose
    founding.install_key(seat)
    counts = {**arrived.void, "settings": len(arrived.settings), "own": int(arrived.own)}
    names = {"public_key": arrived.key, "channel": by.channel, "sender": by.sender}
    seat.audit.append(Entry(RESTORED, names, {"archive": digest}, counts))
    return Restored(manifest, kept, keys, faults, arrived)


def _refuse_bad_place(root: Path, *, replace: bool) -> bool:
    """Whether there is something at ``root`` to be replaced; refuses if that is not wanted or not possible."""
    if root.exists() and not root.is_dir():
        raise BackupError(f"{root} is a file, not a folder", fix="Name another place with --workspace.")
    if root.is_mount():
        what = f"{root} is a mount point, which cannot be replaced at one stroke"
        raise BackupError(what, fix="Restore to a folder below it, or beside it, with --workspace.")
    occupied = root.exists() and any(root.iterdir())
    if occupied and not replace:
        raise BackupError(
            f"there is a workspace at {root} already",
            fix="Use --replace to put the backup in its place (the old one is kept beside it), or name another place"
            " with --workspace.",
        )
    return occupied


def _say_goodbye(workspace: Workspace, clock: Clock, digest: str) -> None:
    """Record in the old workspace that it was replaced. One so broken that it cannot is why it is being replaced."""
    with contextlib.suppress(MetnosError):
        seat = founding.take_seat(workspace, Settings.model_construct(), clock)
        seat.audit.append(Entry(REPLACED, digests={"archive": digest}))


def _halt_of(workspace: Workspace, clock: Clock) -> HaltNote | None:
    """Why the workspace that is replaced may not act; nothing if it is none, or if all that know of halts know none."""
    if not _is_founded(workspace):
        return None
    note = HaltFile(workspace.halt_file).read()
    try:
        if workspace.law_db.exists() and workspace.audit_db.exists():
            seat = founding.take_seat(workspace, Settings.model_construct(), clock)
            note = Halts(workspace, seat.db, seat.audit, clock).known() or note
            lost = False
        else:
            lost = True
    except (MetnosError, OSError):
        lost = True
    if note.halted and note.id:
        return note
    if note.halted or lost:
        why = note.reason or "what was replaced cannot say that it might act"
        return make_note(clock, UlidMaker(clock), why, for_good=note.for_good)
    return None


def _keep_late_halt(workspace: Workspace, kept: Workspace, known: HaltNote | None, clock: Clock) -> None:
    """Halt what took a place if what had it was halted after the look at it, and before the exchange."""
    late = HaltFile(kept.halt_file).wait_and_read()
    if not _is_founded(kept) or not late.halted or (known is not None and late.id in ("", known.id)):
        return
    note = late if late.id else make_note(clock, UlidMaker(clock), late.reason)
    HaltFile(workspace.halt_file).halt(note)


def _is_founded(workspace: Workspace) -> bool:
    return workspace.law.exists() or workspace.keys.exists()


def _keep_halted(staged: Workspace, note: HaltNote) -> None:
    """Halt what takes the place of a halted workspace; its next start tells the store and the audit."""
    staged.halt_file.unlink(missing_ok=True)
    HaltFile(staged.halt_file).create(dataclasses.replace(note, announced=False))


def _cannot(error: OSError, root: Path) -> BackupError:
    fix = "Free some space." if error.errno == errno.ENOSPC else "Check who owns the folder above it."
    return BackupError(f"nothing was restored to {root}: {error.strerror or error}", fix=fix)


def _place_keys(staged: Workspace, before: Workspace | None, manifest: Manifest, passphrase: str | None) -> str:
    """Put keys into the staged workspace and say where they came from; ``before`` is what the same agent had there."""
    sealed = staged.root / SEALED_KEYS
    if sealed.exists() and passphrase is not None:
        content = unseal(sealed.read_bytes(), passphrase)
        if content is None:
            raise BackupError(
                "the passphrase does not open the keys in this backup", fix="Nothing was restored. Try again."
            )
        sealed.unlink()
        shutil.rmtree(sealed.parent)
        _unpack_keys(content, staged, manifest)
        return "from the backup"
    sealed.unlink(missing_ok=True)
    shutil.rmtree(sealed.parent, ignore_errors=True)
    staged.keys.mkdir(mode=files.PRIVATE_FOLDER, exist_ok=True)
    if before is not None:
        for path in before.keys.iterdir():
            if path.is_file() and not path.is_symlink():
                shutil.copy2(path, staged.keys / path.name)
        return "kept from the workspace that was there"
    # The archived public key has no secret half here: a new pair is made, and the audit will say so.
    staged.public_key.unlink(missing_ok=True)
    sign.make_keys(staged.secret_key, staged.public_key)
    return NEW_KEY


def _refuse_open_keys(staged: Workspace) -> None:
    """No honest archive holds a secret key that is not sealed, or what belongs to a running daemon."""
    files.private_folder(staged.keys)
    smuggled = [path.name for path in staged.keys.iterdir() if path != staged.public_key]
    smuggled += [staged.run.name] if staged.run.exists() else []
    if smuggled or not staged.keys.is_dir():
        what = f"this backup holds what no backup of ours does: {smuggled[0]!r}"
        raise BackupError(what, fix="Nothing was restored. Use another backup.")


def _unpack_keys(content: bytes, staged: Workspace, manifest: Manifest) -> None:
    """The keys of an archive, of which the agent's own must be the one that the archive was signed with."""
    try:
        keys = {name: base64.b64decode(text, validate=True) for name, text in json.loads(content).items()}
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise BackupError("the keys in this backup cannot be read", fix="Nothing was restored.") from error
    for name, key in keys.items():
        if _KEY_NAME.fullmatch(name) is None:
            raise BackupError(f"the backup holds a key with the unsafe name {name!r}", fix="Nothing was restored.")
        files.replace(staged.keys / name, key, mode=files.PRIVATE_FILE)
    try:
        public = sign.load_signer(staged.secret_key).public
    except KeyFileError as error:
        raise BackupError(f"the backup holds no key of an agent: {error.what}", fix="Nothing was restored.") from error
    if public != manifest.public_key:
        raise BackupError("the keys in this backup are not those that it was signed with", fix="Nothing was restored.")
    files.replace(staged.public_key, f"{public}\n".encode(), mode=files.PRIVATE_FILE)


def _same_agent(current: Workspace, manifest: Manifest) -> bool:
    try:
        return sign.load_signer(current.secret_key).public == manifest.public_key
    except KeyFileError:
        return False


def _prove(staged: Workspace, manifest: Manifest) -> tuple[Fault, ...]:
    """Every database sound, and what is wrong with the audit: that was so before, and must not stop a restore."""
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
    faults = verify(staged.audit, look(staged.audit, read_head(database)), manifest.public_key).faults
    database.close()
    return faults


def _take_place(staging: Path, root: Path, occupied: bool, clock: Clock) -> Path | None:
    """Give the staged workspace its name; what had that name before is kept, and returned."""
    kept = None
    if not occupied:
        staging.replace(root)  # an empty folder may stand there, and a rename replaces just that
    else:
        kept = _free_name(f"{root}.before-restore-{clock.now():%Y%m%dT%H%M%SZ}")
        if files.exchange(staging, root):
            # The staging name now holds the old workspace; if it cannot get a better one, it keeps that.
            try:
                staging.rename(kept)
            except OSError:
                kept = staging
        else:
            root.rename(kept)
            try:
                staging.rename(root)
            except OSError:
                kept.rename(root)
                raise
    files.sync_folder(root.parent)
    return kept


def _free_name(wanted: str) -> Path:
    names = (Path(wanted if number == 1 else f"{wanted}-{number}") for number in itertools.count(1))
    return next(name for name in names if not name.exists())
