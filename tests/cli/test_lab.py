"""``metnos lab`` as a person meets it: a report, plots, going on after Ctrl-C."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

from metnos.cli import lab as commands
from support import Say

QUICK = ("lab", "generations", "--quick", "--processes", "1")


def test_a_quick_run_writes_a_report_and_plots_and_is_not_run_twice(
    say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "_QUICK", {"generations": 2, "ticks": 20, "forms": 2, "entries": 4})  # quicker still
    out = tmp_path / "lab"
    ran = say(*QUICK, "--runs", "1", "--out", str(out))
    assert (ran.code, ran.out.startswith("# What generations inherit")) == (0, True)
    assert "written to" in ran.err
    assert (out / "report.md").read_text().strip() == ran.out.strip()
    assert len(list((out / "figures").iterdir())) == 4
    for plot in (out / "figures").iterdir():
        ElementTree.parse(plot)
    before = (out / "runs.jsonl").stat().st_mtime_ns
    again = say(*QUICK, "--runs", "1", "--out", str(out), "--json")
    assert len(json.loads(again.out)) == 2 * 5 * 2
    assert (out / "runs.jsonl").stat().st_mtime_ns == before
    other = say(*QUICK, "--runs", "1", "--out", str(out), "--entries", "5")
    assert (other.code, "another experiment" in other.err) == (2, True)


def test_a_folder_that_cannot_be_one(say: Say, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = say(*QUICK, "--out", str(tmp_path / "file" / "lab"))
    assert (ran.code, "cannot be written" in ran.err) == (2, True)


def gone(group: int) -> bool:
    """Whether nothing of a group of processes is left after a while."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-group, os.WNOHANG)  # those that lost their parent became children of this process
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_finished_and_leaves_no_process(tmp_path: Path) -> None:
    out = tmp_path / "lab"
    command = [sys.executable, "-m", "metnos", *QUICK[:3], "--processes", "2", "--runs", "500", "--out", str(out)]
    ran = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    try:
        while not (out / "runs.jsonl").exists() or len((out / "runs.jsonl").read_text().splitlines()) < 2:
            assert ran.poll() is None
            time.sleep(0.02)
        os.killpg(ran.pid, signal.SIGINT)  # as a terminal does: to all of them
        _, said = ran.communicate(timeout=120)
        assert (ran.returncode, b"interrupted" in said, b"Traceback" in said) == (130, True, False)
        assert gone(ran.pid)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(ran.pid, signal.SIGKILL)
        ran.communicate()
    kept = (out / "runs.jsonl").read_text().splitlines()
    assert (len(kept) - 1) % 10 == 0
