"""Founding a workspace: what has to be there before anything may act.

Rules: idempotent, and safe to interrupt anywhere: it only makes what is missing and never touches what is there; what
it makes is closed to other accounts. The agent's key comes first, because the first line of the audit names it.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from importlib import resources
from pathlib import Path

from metnos.core import files, sign
from metnos.core.clock import Clock, from_text
from metnos.core.errors import WorkspaceError
from metnos.core.records import Check
from metnos.core.sections import Settings
from metnos.core.settings_file import template
from metnos.core.workspace import LONG_MEMORY, Workspace
from metnos.law import constitution, law_store, schema
from metnos.law.audit import Audit
from metnos.law.audit_line import KEY_INSTALLED, Entry
from metnos.law.halt import READY_COUNT, Halts
from metnos.law.halt_file import MAY_ACT, HaltFile
from metnos.law.law_store import LawStore
from metnos.law.own_pin import OwnPin
from metnos.law.principal import Principal
from metnos.law.steady_clock import SteadyClock

CREATED = "workspace created"


@dataclass(frozen=True, slots=True)
class Seat:
    """The law's working parts in one workspace."""

    db: LawStore
    audit: Audit
    signer: sign.Signer

    def close(self) -> None:
        self.db.close()
        self.audit.close()

    def doubts(self) -> list[str]:
        """All that makes audit and store doubtful, the oldest first."""
        if self.db.is_older():
            self.audit.raise_doubt(law_store.OLDER)
        return self.audit.doubts()

    def accept(self, by: Principal) -> list[str]:
        """Take audit and store as they are; returns what was doubted."""
        self.doubts()
        doubted = self.audit.accept(by)
        if self.db.is_older():
            self.db.accept()
        return doubted


def found(workspace: Workspace, settings: Settings, clock: Clock) -> list[str]:
    """Make what is missing of a workspace; returns the names of what this call made."""
    made = complete(workspace)
    seat = take_seat(workspace, settings, clock)
    with seat.db.write():  # two may be founding at once, and one record of it is enough
        install_key(seat)
        if not any(line.kind == CREATED for line in seat.audit.newest()):
            HaltFile(workspace.halt_file).create(MAY_ACT)
            seat.audit.append(Entry(CREATED, counts={"files": len(made), READY_COUNT: 1}))
    settle_halts(workspace, seat, clock)
    OwnPin(seat.db, seat.audit, seat.signer, clock).uphold()
    constitution.uphold(constitution.read(workspace.soul), seat.db, seat.audit, seat.signer, clock)
    return made


def complete(workspace: Workspace) -> list[str]:
    """Make the files and folders that are missing, and the key; returns the names of what this call made."""
    try:
        return list(_make_files(workspace))
    except OSError as error:
        raise WorkspaceError(
            f"the workspace cannot be made: {error.strerror}: {error.filename or workspace.root}",
            fix="Choose a folder you may write to: metnos --workspace FOLDER init",
        ) from error


def take_seat(workspace: Workspace, settings: Settings, clock: Clock) -> Seat:
    """Open the law's parts of a workspace that was founded."""
    signer = sign.load_signer(workspace.secret_key)
    wait = settings.store.busy_timeout_s
    audit = Audit(workspace, signer, clock, every=settings.audit.checkpoint_every, busy_timeout_s=wait)
    seen = audit.witness.store_count
    db = LawStore(workspace.law_db, schema.MIGRATIONS, seen, busy_timeout_s=wait, clock=clock)
    return Seat(db, audit, signer)


def settle_halts(workspace: Workspace, seat: Seat, clock: Clock) -> None:
    """Make everything that remembers a halt agree. Comes before the constitution is upheld: a store that knows of no
    constitution was lost, and has to learn from the audit what was halted."""
    lost = not constitution.was_pinned(seat.db, seat.signer)
    Halts(workspace, seat.db, seat.audit, clock).settle(lost=lost)


def steady_clock(workspace: Workspace, seat: Seat, clock: Clock) -> SteadyClock:
    """The clock by which ends what was given for a time."""

    def recorded() -> datetime | None:
        newest = next(seat.audit.newest(), None)
        return from_text(newest.ts) if newest else None

    return SteadyClock(workspace.latest_time, clock, recorded)


def install_key(seat: Seat) -> None:
    """Record whose signature counts from here on, unless the audit knows this key already."""
    if not _key_is_recorded(seat):
        seat.audit.append(Entry(KEY_INSTALLED, {"public_key": seat.signer.public}))


def check_privacy(workspace: Workspace) -> Iterator[Check]:
    """Whether the workspace belongs to this account and is closed to others."""
    name = "workspace"
    exposed = [path for path in workspace.folders if path.exists() and _open_to_others(path)]
    missing = [path.name for path in workspace.folders if not path.is_dir()]
    missing += [file for file in LONG_MEMORY if not (workspace.root / file).is_file()]
    if missing:
        yield Check.red(name, f"{workspace.root} lacks {', '.join(missing)}", "metnos init")
    elif not os.access(workspace.root, os.W_OK | os.X_OK):
        yield Check.red(name, f"{workspace.root} cannot be written", f"sudo chown -R $USER {workspace.root}")
    elif exposed:
        listed = " ".join(str(path) for path in exposed)
        yield Check.red(name, f"others can read {listed}", f"chmod go-rwx {listed}")
    elif _open_to_others(workspace.root):
        yield Check.yellow(name, f"others can list {workspace.root}", f"chmod go-rwx {workspace.root}")
    else:
        yield Check.green(name, f"{workspace.root}, complete and closed to other accounts")


def _make_files(workspace: Workspace) -> Iterator[str]:
    root = workspace.root
    if root.exists() and not root.is_dir():
        raise WorkspaceError(f"{root} is a file, not a folder", fix="Name another place with --workspace.")
    files.private_folder(root)
    for folder in workspace.folders:
        files.private_folder(folder)
    if sign.make_keys(workspace.secret_key, workspace.public_key):
        yield f"{workspace.keys.name}/{workspace.secret_key.name}"
    for name in LONG_MEMORY:
        if files.create(root / name, _text(name), mode=files.PRIVATE_FILE):
            yield name
    if files.create(workspace.settings, template().encode(), mode=files.PRIVATE_FILE):
        yield workspace.settings.name


def _text(name: str) -> bytes:
    return resources.files("metnos.law").joinpath("templates", name).read_bytes()


def _key_is_recorded(seat: Seat) -> bool:
    known = (line for line in seat.audit.newest() if line.kind == KEY_INSTALLED)
    last = next(known, None)
    return last is not None and last.entry.names.get("public_key") == seat.signer.public


def _open_to_others(path: Path) -> bool:
    return bool(stat.S_IMODE(path.stat().st_mode) & 0o077)
