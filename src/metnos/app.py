"""The one composition root: wires the parts of a workspace together by hand.

Rules: importing this does nothing; `App.open` upholds the constitution before it hands anything out.
"""

import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metnos.core import settings_file
from metnos.core.canon import canonical_json, sha256_hex
from metnos.core.clock import Clock, SystemClock, from_text
from metnos.core.errors import (
    ConstitutionError,
    ForbiddenPath,
    KeyFileError,
    MetnosError,
    SettingsError,
    WorkspaceError,
)
from metnos.core.ids import UlidMaker
from metnos.core.records import Check
from metnos.core.settings import Loaded, Settings, data_home, home_folder, load
from metnos.core.workspace import Workspace
from metnos.law import audit_log, founding
from metnos.law import backup as backing
from metnos.law import constitution as constituting
from metnos.law.audit import Audit, look_at
from metnos.law.audit_line import Entry
from metnos.law.audit_verify import Report, verify
from metnos.law.backup import Backup
from metnos.law.constitution import Constitution, Standing
from metnos.law.forbidden import Access, refuse_forbidden
from metnos.law.grants import Grants
from metnos.law.halt import Halts
from metnos.law.inbox import Inbox
from metnos.law.permit import Mint
from metnos.law.principal import Autonomy
from metnos.law.restore import Restored
from metnos.law.restore import restore as put_back
from metnos.models import reach
from metnos.sandbox import probe
from metnos.sandbox.pool import Pool
from metnos.store import archive
from metnos.store import check as store_check
from metnos.store.archive import Manifest, Progress
from metnos.store.db import Database, Durability

if TYPE_CHECKING:
    from metnos.executors.builtins import Report as Installed
    from metnos.executors.catalog import Catalog
    from metnos.executors.effect_rules import Refuse
    from metnos.executors.run import Runner
    from metnos.executors.trash import Trash
    from metnos.executors.undo import Undo

SETTING_CHANGED = "setting changed"
# No clock that tells an earlier time can be right: this program did not exist then.
_RELEASED = datetime(2026, 11, 1, tzinfo=UTC)
_MB = 1 << 20


@dataclass(frozen=True)
class App:
    """An open workspace. What acts is put together when it is first asked for: most commands do not act."""

    workspace: Workspace
    loaded: Loaded
    clock: Clock
    seat: founding.Seat
    constitution: Constitution
    standing: Standing

    @classmethod
    def open(cls, workspace: Workspace, clock: Clock | None = None) -> "App":
        """Open a workspace that was founded. A constitution edited since the last start is recorded first."""
        clock = clock or SystemClock()
        refuse_missing(workspace)
        loaded = load(workspace.settings)
        seat = founding.take_seat(workspace, loaded.settings, clock)
        laws = constituting.read(workspace.soul)
        standing = constituting.uphold(laws, seat.db, seat.audit, seat.signer, clock)
        return cls(workspace, loaded, clock, seat, laws, standing)

    @property
    def settings(self) -> Settings:
        return self.loaded.settings

    @property
    def audit(self) -> Audit:
        return self.seat.audit

    # -- what acts

    @cached_property
    def inbox(self) -> Inbox:
        return Inbox(self.seat.db, self.audit, self.clock)

    @cached_property
    def grants(self) -> Grants:
        return Grants(self.seat.db, self.audit, self.clock)

    @cached_property
    def halts(self) -> Halts:
        return Halts(self.seat.db, self.audit, self.clock)

    @property
    def catalog(self) -> "Catalog":
        return self._stock[0]

    @property
    def installed(self) -> "Installed":
        """What of the shipped executors was new, or not as shipped, when this workspace was opened."""
        return self._stock[1]

    @cached_property
    def _stock(self) -> "tuple[Catalog, Installed]":
        """The executors; those that this version ships are brought up to date first."""
        from metnos.executors import builtins, index, schema
        from metnos.executors.catalog import Catalog

        wait = self.settings.store.busy_timeout_s
        # NORMAL is enough: the folders are what counts, and a use that a power cut takes is one strike less.
        db = Database(
            self.workspace.mnest_db,
            schema.MIGRATIONS,
            busy_timeout_s=wait,
            durability=Durability.NORMAL,
            clock=self.clock,
        )
        catalog = Catalog(self.workspace, db, self.audit, self.seat.signer, self.clock, self.settings.executors)
        if not index.all_current(db):
            catalog.rebuild()  # the index was lost, or there never was one
        return catalog, builtins.install(catalog)

    @cached_property
    def pool(self) -> Pool:
        """The sandboxes of this process, births included: a panic reaches all of them."""
        from metnos.executors.run import watch

        sandbox = self.settings.sandbox
        pool = Pool(sandbox.bwrap, warm=self.settings.executors.warm, timeout_s=sandbox.timeout_s)
        watch(pool, self.halts)
        return pool

    @cached_property
    def undo(self) -> "Undo":
        """The way back. What a crash left unfinished is settled first, and what is too old forgotten."""
        from metnos.executors.undo import Undo

        db, store, trash, refuse, ids = self._hands
        undo = Undo(db, store, trash, refuse, self.clock, ids, self.audit)
        undo.settle()
        undo.prune(self.clock.now() - timedelta(days=self.settings.policy.undo_days))
        return undo

    @cached_property
    def runner(self) -> "Runner":
        """The one door through which everything acts."""
        from metnos.executors import quotas
        from metnos.executors.effect_plan import Planning
        from metnos.executors.effects import Effects
        from metnos.executors.run import Parts, Runner
        from metnos.law.policy import Policy, unchanged
        from metnos.sandbox.facts import facts
        from metnos.sandbox.web import Web

        db, store, trash, refuse, ids = self._hands
        settings, mint = self.settings, Mint(self.clock)
        policy = Policy(
            constitution_check=partial(unchanged, self.workspace.soul, self.constitution),
            grants=self.grants,
            inbox=self.inbox,
            mint=mint,
            clock=self.clock,
            autonomy=Autonomy(settings.policy.autonomy),
            approval_hours=settings.policy.approval_hours,
            quotas=quotas.used_up(self.catalog, settings.executors, self.clock),
            halted=self.halts.halted,
        )
        parts = Parts(
            workspace=self.workspace,
            home=home_folder(),
            catalog=self.catalog,
            policy=policy,
            mint=mint,
            effects=Effects(db, store, trash, self.clock, ids, refuse),
            planning=partial(Planning, refuse, trash),
            pool=self.pool,
            web=Web(),
            facts=facts,
            audit=self.audit,
            halts=self.halts,
            clock=self.clock,
            settings=settings.executors,
        )
        _ = self.undo  # settles first what a crash left behind
        return Runner(parts)

    @cached_property
    def _hands(self) -> "tuple[Database, Path, Trash, Refuse, UlidMaker]":
        """What changes files and what takes changes back share."""
        from metnos.executors import undo_schema
        from metnos.executors.trash import Trash

        wait = self.settings.store.busy_timeout_s
        db = Database(self.workspace.undo_db, undo_schema.MIGRATIONS, busy_timeout_s=wait, clock=self.clock)
        trash = Trash(data_home() / "Trash")
        return db, self.workspace.undo_store, trash, self._refuse, UlidMaker(self.clock)

    def _refuse(self, path: Path, access: Access) -> None:
        """Raise on what no executor may touch: forbidden paths, and in the workspace everything but the notes."""
        refuse_forbidden(path, access)
        inside = path.is_relative_to(self.workspace.root) and not path.is_relative_to(self.workspace.notes)
        if access is Access.WRITE and inside:
            raise ForbiddenPath(f"{path} belongs to the agent itself: no executor changes it")

    def close(self) -> None:
        """End every sandbox of this process."""
        if "pool" in self.__dict__:
            self.pool.close()

    # -- settings

    def set_setting(self, name: str, text: str) -> Any:
        """Change one key of metnos.toml; returns the value as it was understood."""
        path = self.workspace.settings
        with self.seat.db.write():  # reading and writing the file must not interleave with another change
            value = settings_file.check_value(path, name, text)
            digest = sha256_hex(canonical_json(value))
            with self.audit.act(Entry(SETTING_CHANGED, {"setting": name}, {"value": digest})):
                settings_file.write_value(path, name, value)
        return value


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


def restore(source: Path, workspace: Workspace, *, replace: bool, passphrase: str | None) -> Restored:
    """Put a backup in the place of a workspace."""
    return put_back(source, workspace, SystemClock(), replace=replace, passphrase=passphrase)


def read_backup(source: Path) -> Manifest:
    """Check a whole archive and say what is in it."""
    return archive.read(source)


def verify_audit(workspace: Workspace) -> Report:
    """Prove the audit, also while others write to it. Needs neither the secret key nor a constitution."""
    refuse_missing(workspace)
    look = look_at(workspace)
    try:
        public_key = workspace.public_key.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        public_key = ""  # without it the signatures cannot hold, and the report says so
    return verify(workspace.audit, look, public_key)


def refuse_missing(workspace: Workspace) -> None:
    if not workspace.exists():
        raise WorkspaceError(f"there is no workspace at {workspace.root}", fix="Make one: metnos init")


def examine(workspace: Workspace, clock: Clock | None = None) -> Iterator[Check]:
    """Every check of the doctor, one after the other, each as soon as it is done."""
    clock = clock or SystemClock()
    yield _check_python()
    yield store_check.check_features()
    try:
        settings = load(workspace.settings).settings
        found = "reads well" if workspace.settings.exists() else "is not there, so every setting has its default"
        yield Check.green("settings", f"{workspace.settings} {found}")
    except MetnosError as error:
        yield Check.red("settings", error.what, error.fix)
        settings = Settings.model_construct()
    yield probe.check(settings.sandbox.bwrap, settings.sandbox.timeout_s)
    telling = _check_clock(workspace, clock)  # now: opening the workspace may write to the audit by this very clock
    yield from _check_workspace(workspace, clock)
    yield _check_disk(workspace, settings)
    yield reach.check(settings.models.main)
    yield telling


def _check_python() -> Check:
    found = f"{platform.python_implementation()} {platform.python_version()} at {sys.executable}"
    if platform.python_implementation() != "CPython":
        return Check.yellow("python", f"{found}: only CPython is tested", "Install CPython 3.11 or newer")
    return Check.green("python", found)


def _check_workspace(workspace: Workspace, clock: Clock) -> Iterator[Check]:
    if not workspace.exists():
        yield Check.yellow("workspace", f"there is none at {workspace.root} yet", "metnos init")
        return
    yield from founding.check_privacy(workspace)
    yield from store_check.check_databases(workspace.root)
    try:
        app = App.open(workspace, clock)
    except SettingsError:
        return  # said already
    except MetnosError as error:
        name = {KeyFileError: "keys", ConstitutionError: "constitution"}.get(type(error), "records")
        yield Check.red(name, error.what, error.fix)
        return
    yield _check_constitution(app)
    yield _check_audit(app)
    yield _check_executors(app)


def _check_constitution(app: App) -> Check:
    name = "constitution"
    if app.standing is Standing.MODIFIED:
        return Check.yellow(name, "SOUL.md was edited since the last start; the audit records it", "metnos audit tail")
    return Check.green(name, f"{len(app.constitution.laws)} Laws, pinned as {app.constitution.soul[:12]}")


def _check_audit(app: App) -> Check:
    report = verify_audit(app.workspace)
    if report.faults:
        fault = report.faults[0]
        return Check.red("audit", f"{fault.place}: {fault.detail}", "metnos audit verify")
    if report.notes:
        return Check.yellow("audit", f"{report.lines} lines, unbroken, but: {report.notes[-1]}", "metnos audit verify")
    unfinished = app.audit.unfinished()
    if unfinished:
        line = unfinished[0]
        found = f"{len(unfinished)} begun and not finished, the last being {line.kind!r} (line {line.seq})"
        return Check.yellow("audit", found, f"metnos audit show {line.seq}")
    return Check.green("audit", f"{report.lines} lines, unbroken, {report.checkpoints} signed checkpoints")


def _check_executors(app: App) -> Check:
    name = "executors"
    halted = app.halts.halted()
    if halted is not None:
        return Check.red(name, f"nothing may run: {halted}", "metnos executor panic --lift")
    wrong = app.catalog.verify_all()
    if wrong:
        return Check.red(name, f"{wrong[0].name}: {'; '.join(wrong[0].problems)}", "metnos executor verify")
    rows = app.catalog.rows()
    off = [look.name for look in rows if look.state in ("quarantine", "revoked")]
    if off:
        return Check.yellow(
            name, f"{len(rows)}, of which in quarantine or revoked: {', '.join(off)}", f"metnos executor show {off[0]}"
        )
    return Check.green(name, f"{len(rows)}, each as it was signed")


def _check_disk(workspace: Workspace, settings: Settings) -> Check:
    place = next(path for path in (workspace.root, *workspace.root.parents) if path.exists())
    free = shutil.disk_usage(place).free // _MB
    found = f"{free:,} MB free at {place}"
    if free < settings.disk.need_free_mb:
        return Check.red("disk", found, "Free some space: below this nothing can be recorded")
    if free < settings.disk.warn_free_mb:
        return Check.yellow("disk", found, "Free some space soon")
    return Check.green("disk", found)


def _check_clock(workspace: Workspace, clock: Clock) -> Check:
    now = clock.now()
    found = f"{now.astimezone():%Y-%m-%d %H:%M %Z}"
    fix = "sudo timedatectl set-ntp true"
    if now < _RELEASED:
        return Check.red("clock", f"{found} is before this program was released", fix)
    line = next(audit_log.backwards(workspace.audit), None)
    last = from_text(line.ts) if line else now
    if last > now:
        return Check.yellow(
            "clock", f"{found}, but the audit's last line is from {last.astimezone():%Y-%m-%d %H:%M}", fix
        )
    return Check.green("clock", found)
