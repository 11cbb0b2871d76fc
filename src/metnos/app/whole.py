"""What is done to a workspace as a whole: founding, backing up, restoring, proving its audit."""

from collections.abc import Mapping
from pathlib import Path

from metnos.app.house import App, refuse_missing
from metnos.core import sign
from metnos.core.clock import Clock, SystemClock
from metnos.core.sections import Settings
from metnos.core.settings import load
from metnos.core.workspace import Workspace
from metnos.law import backup as backing
from metnos.law import founding
from metnos.law.arrival import Agree
from metnos.law.audit import Audit, look_at
from metnos.law.audit_verify import Report, verify
from metnos.law.backup import Backup
from metnos.law.restore import Restored, nobody
from metnos.law.restore import restore as put_back
from metnos.store import archive
from metnos.store.archive import Manifest, Progress


def found(workspace: Workspace, clock: Clock | None = None) -> list[str]:
    """Make what is missing of a workspace, the built-in executors included; returns the names of what was made."""
    made = founding.found(workspace, load(workspace.settings).settings, clock or SystemClock())
    new = App.open(workspace, clock).installed.changed
    return [*made, f"{len(new)} executors"] if new else made


def backup_target(workspace: Workspace, clock: Clock | None = None) -> Path:
    """Where a backup goes when no place is named."""
    return backing.default_target(workspace, load(workspace.settings).settings.backup.folder, clock or SystemClock())


def backup(
    workspace: Workspace, target: Path, passphrase: str | None, progress: Progress, clock: Clock | None = None
) -> Backup:
    """Back a workspace up. Needs the key but no sound constitution: damage is when one needs a backup."""
    clock = clock or SystemClock()
    refuse_missing(workspace)
    seat = founding.take_seat(workspace, load(workspace.settings).settings, clock)
    return backing.make(workspace, seat, clock, target, passphrase=passphrase, progress=progress)


def restore(
    source: Path, workspace: Workspace, *, replace: bool, passphrase: str | None, agree: Agree = nobody
) -> Restored:
    """Put a backup in the place of a workspace. ``agree`` asks a person about one of another agent."""
    clock = SystemClock()

    def settle(staged: Workspace, before: Workspace | None) -> Mapping[str, tuple[str, ...]]:
        from metnos.app import arrivals  # what acts is loaded when it is needed

        return arrivals.settle(staged, before, clock)

    return put_back(source, workspace, clock, replace=replace, passphrase=passphrase, agree=agree, settle=settle)


def read_backup(source: Path) -> Manifest:
    """Check a whole archive and say what is in it."""
    return archive.read(source)


def open_audit(workspace: Workspace, clock: Clock | None = None) -> Audit:
    """The audit for writing. Needs the key, and neither settings nor a constitution."""
    refuse_missing(workspace)
    signer = sign.load_signer(workspace.secret_key)
    every, wait = Settings().audit.checkpoint_every, Settings().store.busy_timeout_s
    return Audit(workspace, signer, clock or SystemClock(), every=every, busy_timeout_s=wait)


def take_seat(workspace: Workspace, clock: Clock | None = None) -> founding.Seat:
    """Audit and store for writing. Needs the key, and neither settings nor a constitution."""
    refuse_missing(workspace)
    return founding.take_seat(workspace, Settings(), clock or SystemClock())


def verify_audit(workspace: Workspace) -> Report:
    """Prove the audit, also while others write to it. Needs neither the secret key nor a constitution."""
    refuse_missing(workspace)
    look = look_at(workspace)
    try:
        public_key = workspace.public_key.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        public_key = ""  # without it the signatures cannot hold, and the report says so
    return verify(workspace.audit, look, public_key)
