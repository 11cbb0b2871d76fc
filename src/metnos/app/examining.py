"""The doctor: every check of a workspace and of what it stands on."""

import contextlib
import platform
import shutil
import sys
from collections.abc import Iterator
from datetime import UTC, datetime

from metnos.app import code_checks
from metnos.app.house import App
from metnos.app.whole import verify_audit
from metnos.core.clock import Clock, SystemClock, from_text
from metnos.core.errors import ConstitutionError, KeyFileError, MetnosError, SettingsError
from metnos.core.records import Check
from metnos.core.sections import Settings
from metnos.core.settings import load
from metnos.core.workspace import Workspace
from metnos.law import audit_log, founding, staging
from metnos.law.constitution import Standing
from metnos.law.steady_clock import CORRECTION, SteadyClock
from metnos.models import reach
from metnos.sandbox import probe
from metnos.store import check as store_check

# No clock that tells an earlier time can be right: this program did not exist then.
_RELEASED = datetime(2026, 11, 1, tzinfo=UTC)
_MB = 1 << 20
_PROVED = 200  # mnests, the heaviest: enough to see that something is wrong, and no wait


def examine(workspace: Workspace, clock: Clock | None = None, *, deep: bool = False) -> Iterator[Check]:
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
    yield reach.check(settings.models.main, workspace.keys)
    if deep:
        yield from code_checks.check_deep(settings.sandbox.bwrap)
    yield telling


def _check_python() -> Check:
    found = f"{platform.python_implementation()} {platform.python_version()} at {sys.executable}"
    if platform.python_implementation() != "CPython":
        return Check.yellow("python", f"{found}: only CPython is tested", "Install CPython 3.11 or newer")
    return Check.green("python", found)


def _check_workspace(workspace: Workspace, clock: Clock) -> Iterator[Check]:
    yield from staging.check_leftovers(workspace.root)
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
    with contextlib.closing(app):  # a daemon is examined more than once
        yield code_checks.check_own(app.own)
        yield _check_constitution(app)
        yield _check_audit(app)
        yield _check_executors(app)
        yield _check_mnestome(app)
        yield _check_telos(app)
        yield _check_life(app)


def _check_constitution(app: App) -> Check:
    name = "constitution"
    if app.standing is Standing.MODIFIED:
        return Check.yellow(name, "SOUL.md was edited since the last start; the audit records it", "metnos audit tail")
    return Check.green(name, f"{len(app.constitution.laws)} Laws, pinned as {app.constitution.soul[:12]}")


def _check_audit(app: App) -> Check:
    doubts = app.seat.doubts()
    if doubts:
        return Check.red(
            "audit", f"everything is stopped: {doubts[0]}", "metnos audit verify; then: metnos audit accept"
        )
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
    halt = app.halts.halted()
    if halt is not None and app.halts.is_for_good():
        return Check.green(name, "nothing runs any more: this agent was retired")
    if halt is not None:
        return Check.red(name, f"nothing may run: {halt.why}", halt.fix)
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


def _check_life(app: App) -> Check:
    from metnos.app import ailing

    return ailing.check(app)


def _check_telos(app: App) -> Check:
    from metnos.night import telos

    return telos.check(app.workspace.root / telos.FILE)


def _check_mnestome(app: App) -> Check:
    """Weights are computed from their events again, and declared calls that never happen are named."""
    from metnos.app import learning  # as in `App`: what learns is loaded when it is needed
    from metnos.mnestome import proof

    name = "mnestome"
    looked, wrong = proof.unproved(app.catalog.db, app.past, _PROVED, app.clock.now())
    if wrong:
        found = f"the weight of {len(wrong)} of {looked} mnests is not what its events lead to"
        return Check.red(name, found, f"metnos mnestome history {wrong[0].id}")
    unused = learning.unused_calls(app)
    if unused:
        caller, called = unused[0]
        more = f" and {len(unused) - 1} more such" if len(unused) > 1 else ""
        found = f"{looked} mnests, as their events say; {caller} may call {called} and never did{more}"
        return Check.green(name, found)
    return Check.green(name, f"{looked} mnests, each weight as its events say")


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
    ahead = SteadyClock(workspace.latest_time, clock, lambda: None).ahead() if workspace.law.is_dir() else None
    if ahead is not None and ahead > CORRECTION:
        return Check.yellow("clock", f"{found}, {ahead} before the latest time that was seen", "metnos policy clock")
    return Check.green("clock", found)
