"""Metnos as a service of the account: systemd keeps it running, from login on or from the start of the machine.

Rules: only a unit that we wrote, and that nobody changed since, is replaced or removed without being told to. What
systemd is asked is exactly what the owner could type. Where there is no systemd, nothing is written.
"""

import shutil
import stat
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from metnos.api import service_rules as rules
from metnos.api.client import connect
from metnos.core import files
from metnos.core.errors import DaemonError, SandboxError, UsageError
from metnos.core.settings import config_home, data_home, load, variable
from metnos.core.workspace import Workspace
from metnos.sandbox.profile import find_bwrap

_SYSTEMCTL = "systemctl"
_PATIENCE_S = 90.0  # of one call: stopping takes its time
_KEPT = ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")  # what says where things are
_NO_SYSTEMD = (
    "Without it, start `metnos serve` by whatever starts programs here (an init script, a container, cron's @reboot)."
)
_USUAL = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True, slots=True)
class Status:
    """How the service stands. ``active`` and ``enabled`` are systemd's words; ``answers``: a daemon is there."""

    unit: str
    path: str
    installed: bool
    changed: bool
    active: str
    enabled: str
    answers: bool


class Service:
    """The service of one workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        default = workspace.root == data_home() / "metnos"
        self.unit = rules.unit(
            workspace.root, sys.executable, _environment(), default=default, bwrap_is_setuid=_is_setuid(workspace)
        )
        self.path = config_home() / "systemd/user" / self.unit.name

    @property
    def commands(self) -> tuple[str, ...]:
        """What is to be typed after the unit is written."""
        return (f"{_SYSTEMCTL} --user daemon-reload", f"{_SYSTEMCTL} --user enable --now {self.unit.name}")

    def install(self, *, replace: bool = False) -> bool:
        """Write the unit and start it; whether systemd could be reached, or else `commands` are to be typed."""
        _require_systemd()
        self._refuse_foreign(replace)
        runs = self._asked("is-active") == "active"
        if not runs and connect(self.workspace) is not None:
            raise DaemonError(
                "a daemon runs for this workspace already, and not as a service",
                fix="End it first: metnos serve --stop",
            )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        files.replace(self.path, self.unit.text.encode("utf-8", "surrogateescape"))
        if not _reachable():
            return False
        _required("daemon-reload")
        _required("enable", self.unit.name)
        _required("restart" if runs else "start", self.unit.name)
        return True

    def remove(self, *, replace: bool = False) -> bool:
        """Stop it and take the unit away; whether there was one."""
        _require_systemd()
        if not self.path.exists():
            return False
        self._refuse_foreign(replace)
        if _reachable():
            _required("disable", "--now", self.unit.name)
        self.path.unlink(missing_ok=True)
        if _reachable():
            _required("daemon-reload")
        return True

    def status(self) -> Status:
        found = self._read()
        here = shutil.which(_SYSTEMCTL) is not None
        return Status(
            unit=self.unit.name,
            path=str(self.path),
            installed=found is not None,
            changed=found is not None and not found.unchanged,
            active=self._asked("is-active") if here else "no systemd",
            enabled=self._asked("is-enabled") if here else "no systemd",
            answers=connect(self.workspace) is not None,
        )

    # -- inside

    def _read(self) -> rules.Found | None:
        try:
            return rules.read(self.path.read_text(encoding="utf-8", errors="surrogateescape"))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise UsageError(f"{self.path} cannot be read: {error.strerror}", fix="Move it away.") from error

    def _refuse_foreign(self, replace: bool) -> None:
        found = self._read()
        if found is None or replace:
            return
        fix = "Look at it; to have it replaced or removed all the same: --replace"
        if not found.ours:
            raise UsageError(f"{self.path} is not ours: somebody else wrote it", fix=fix)
        if found.workspace != rules.printable(str(self.workspace.root)):
            raise UsageError(f"{self.path} serves another workspace: {found.workspace}", fix=fix)
        if not found.unchanged:
            raise UsageError(f"{self.path} was changed by hand since it was written", fix=fix)

    def _asked(self, question: str) -> str:
        """One word of systemd's; `unknown` if it says none."""
        if shutil.which(_SYSTEMCTL) is None:
            return "unknown"
        said = _call(question, self.unit.name).stdout.strip()
        return said if said.replace("-", "").isalpha() else "unknown"


def _require_systemd() -> None:
    if shutil.which(_SYSTEMCTL) is None:
        raise DaemonError("there is no systemd on this machine", fix=_NO_SYSTEMD)


def _reachable() -> bool:
    """Whether the account's own systemd runs: in a container, or after `su`, it may not."""
    return _call("show-environment").returncode == 0


def _required(*words: str) -> None:
    done = _call(*words)
    if done.returncode != 0:
        said = " ".join((done.stderr or done.stdout).split())[:300]
        raise DaemonError(
            f"systemctl --user {' '.join(words)} failed: {said or f'exit code {done.returncode}'}",
            fix=f"See: journalctl --user -u {words[-1]}",
        )


def _call(*words: str) -> "subprocess.CompletedProcess[str]":
    command: Sequence[str] = (shutil.which(_SYSTEMCTL) or _SYSTEMCTL, "--user", *words)
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_PATIENCE_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise DaemonError(f"systemctl did not answer: {type(error).__name__}", fix="Try it by hand.") from error


def _environment() -> dict[str, str]:
    """What the daemon finds when it is started: programs beside this Python, and where this account keeps things."""
    folder = str(Path(sys.executable).parent)
    path = ":".join(dict.fromkeys((folder, *_USUAL.split(":"))))
    kept = {name: variable(name) for name in _KEPT if variable(name)}
    return {"PATH": path, **kept}


def _is_setuid(workspace: Workspace) -> bool:
    try:
        program = find_bwrap(load(workspace.settings).settings.sandbox.bwrap)
    except SandboxError:
        return False  # then nothing can be run, and the doctor says why
    return bool(program.stat().st_mode & stat.S_ISUID)
