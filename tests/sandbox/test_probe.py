"""The probe in the real sandbox, and in sandboxes with one wall missing: each missing wall must show."""

import os
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from metnos.core.errors import SandboxError
from metnos.core.records import Level
from metnos.sandbox import probe
from metnos.sandbox.profile import find_bwrap


def test_the_real_sandbox_holds() -> None:
    assert probe.probe("", 30) == {"file": [], "environment": [], "network": [], "writing": [], "uid": []}
    assert probe.check("", 30).level is Level.GREEN


def weakened(tmp_path: Path, change: str) -> str:
    """A bubblewrap that is called with one wall less: a small program that edits its arguments."""
    script = tmp_path / "bwrap"
    edit = tmp_path / "edit.py"
    edit.write_text(
        f"import json, os, sys\nwords = sys.argv[1:]\nat = words.index('--remount-ro')\n{change}\n"
        f"os.execv({str(find_bwrap(''))!r}, ['bwrap', *words])\n"
    )
    # Not a first line that names the interpreter: its path may hold a space.
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -IS {shlex.quote(str(edit))} "$@"\n')
    script.chmod(stat.S_IRWXU)
    return str(script)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        pytest.param("words.remove('--unshare-net')", "network", id="network"),
        pytest.param("words[at:at] = ['--ro-bind', '/tmp', '/tmp']", "file", id="files"),
        pytest.param("words[at:at] = ['--perms', '0777', '--tmpfs', '/etc']", "writing", id="writing"),
        pytest.param(
            "words[at:at] = ['--setenv', 'LEAK', json.loads(words[-1])['secret']]", "environment", id="environment"
        ),
    ],
)
def test_a_missing_wall_shows(tmp_path: Path, change: str, what: str) -> None:
    bwrap = weakened(tmp_path, change)
    assert probe.probe(bwrap, 30)[what]
    check = probe.check(bwrap, 30)
    assert check.level is Level.RED
    assert "does not hold" in check.found


def test_a_sandbox_that_does_not_start_is_red(tmp_path: Path) -> None:
    complaint = "print('bwrap: No permissions to create new namespace', file=sys.stderr); sys.exit(1)"
    check = probe.check(weakened(tmp_path, complaint), 30)
    assert check.level is Level.RED
    assert "No permissions to create new namespace" in check.found
    assert "sysctl" in check.fix


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("no json", "no readable answer"),
        ("[]", "no readable answer"),
        ("", "no readable answer"),
        ("{}", "another question"),
    ],
)
def test_a_sandbox_that_answers_nonsense_is_red(tmp_path: Path, answer: str, says: str) -> None:
    check = probe.check(weakened(tmp_path, f"print({answer!r}); sys.exit(0)"), 30)
    assert check.level is Level.RED
    assert says in check.found


def test_a_place_where_the_probe_cannot_be_set_up_is_red(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("x" * 120)  # a socket's name must be shorter than this
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    assert probe.check("", 30).level is Level.RED


def test_a_sandbox_that_hangs_is_red(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="did not end within"):
        probe.probe(weakened(tmp_path, "import time; time.sleep(60)"), 1)


def test_a_program_that_cannot_run_is_red(tmp_path: Path) -> None:
    script = tmp_path / "bwrap"
    script.write_text("not a program")
    script.chmod(stat.S_IRWXU)
    assert probe.check(str(script), 30).level is Level.RED


def test_a_control_that_reaches_nothing_proves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = {what: [] for what in ("file", "environment", "network", "writing", "uid")}
    monkeypatch.setattr(probe, "_ask", lambda *_: nothing)
    with pytest.raises(SandboxError, match="proves nothing"):
        probe.probe("", 30)


@pytest.mark.skipif(os.getuid() != 0, reason="only root has a uid to give up")
def test_inside_refuses_to_go_on_as_root() -> None:
    inside = Path(probe.__file__).with_name("inside.py")
    line = [sys.executable, "-I", "-S", str(inside), "-", "{}", "x"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "still root" in done.stderr


AS_SOMEONE_ELSE = "from metnos.sandbox import probe; print(probe.probe('', 30))"


@pytest.mark.skipif(os.getuid() != 0, reason="everything else here already runs as an ordinary user")
def test_for_an_ordinary_user_it_holds_too() -> None:
    """User namespaces instead of root's rights. Needs an interpreter that others may read: the system's."""
    system = Path("/usr/bin/python3")
    version = [str(system), "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
    if not system.exists() or subprocess.run(version, check=False).returncode:
        pytest.skip("no system Python of 3.11 or newer")
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / "metnos"
        shutil.copytree(Path(probe.__file__).parents[1], copied, ignore=shutil.ignore_patterns("__pycache__"))
        for path in [Path(folder), *Path(folder).rglob("*")]:
            path.chmod(0o755)
        done = subprocess.run(
            [str(system), "-S", "-c", AS_SOMEONE_ELSE], user=65534, group=65534, extra_groups=[],
            env={"PYTHONPATH": folder}, cwd="/", text=True, capture_output=True, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str({what: [] for what in ("file", "environment", "network", "writing", "uid")})
