"""What the suite does about processes, tried on itself."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import processes
from support import ROOT

WAIT = "import time; time.sleep(600)"
ORPHAN = f"import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', {WAIT!r}], stdout=-3, stderr=-3).pid)"


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_GRACE_S", 0.1)


def test_what_was_left_running_is_named_and_ended() -> None:
    before = processes.children()
    with subprocess.Popen([sys.executable, "-c", WAIT]) as child:
        (left,) = processes.end_new(before)
        assert left.startswith(f"{child.pid}: ")
        assert WAIT in left
        assert child.wait() in (-signal.SIGKILL, 0), "its exit code may have been taken by the one that ended it"


def test_what_lost_its_parent_is_found_too() -> None:
    before = processes.children()
    made = subprocess.run([sys.executable, "-c", ORPHAN], capture_output=True, text=True, check=True)
    (left,) = processes.end_new(before)
    assert left.startswith(f"{made.stdout.strip()}: ")
    assert processes.children().keys() <= before.keys()


def test_what_was_there_before_is_left_alone() -> None:
    with subprocess.Popen([sys.executable, "-c", WAIT]) as child:
        assert processes.end_new(processes.children()) == []
        assert child.poll() is None
        child.kill()


def test_what_ends_by_itself_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_GRACE_S", 60)
    before = processes.children()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        assert child.stdin is not None
        child.stdin.close()
        assert processes.end_new(before) == []


@pytest.mark.parametrize("number", ["INT", "HUP", "QUIT"])
def test_signals_that_are_ignored_around_us_reach_our_children(number: str) -> None:
    code = (
        "import processes, subprocess, sys; processes.reset_signals(); "
        "sys.exit(subprocess.run([sys.executable, '-c', "
        f"'import os, signal, time; os.kill(os.getpid(), signal.SIG{number}); time.sleep(600)'"
        "], stderr=subprocess.DEVNULL).returncode == 0)"
    )
    done = subprocess.run(
        ["sh", "-c", f"trap '' {number}; exec \"$@\"", "sh", sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, "the signal was ignored"


def test_what_hangs_where_no_signal_is_heard_is_ended(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("import ctypes\n\ndef test_hangs():\n    ctypes.PyDLL(None).sleep(600)\n")
    line = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path), "-o", "faulthandler_timeout=1", "-q"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *line, "-p", "no:cacheprovider", "test_it.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "test_hangs" in done.stderr, "it says where it was"
