"""Stopping tries every step, whatever fails, and says at the end what failed."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from metnos.core.clock import SystemClock
from metnos.core.errors import WorkspaceError
from metnos.core.ids import UlidMaker
from metnos.law.halt import make_note
from metnos.law.halt_file import MAY_ACT, HaltFile, HaltNote
from metnos.law.running import RunningList
from metnos.sandbox import process
from metnos.sandbox.stop import stop

Sleep = Callable[[], "subprocess.Popen[bytes]"]


@pytest.fixture
def running(tmp_path: Path) -> RunningList:
    return RunningList(tmp_path / "running")


@pytest.fixture
def sleep(running: RunningList) -> Iterator[Sleep]:
    """Start something that runs and is listed."""
    begun: list[subprocess.Popen[bytes]] = []

    def start() -> "subprocess.Popen[bytes]":
        begun.append(subprocess.Popen(["/bin/sleep", "600"]))
        running.add(begun[-1].pid, process.start_time(begun[-1].pid))
        return begun[-1]

    yield start
    for each in begun:
        each.kill()
        each.wait()


@pytest.fixture
def note() -> HaltNote:
    return make_note(SystemClock(), UlidMaker(SystemClock()), "smoke")


def test_what_runs_ends_also_if_it_began_meanwhile(
    tmp_path: Path, running: RunningList, sleep: Sleep, note: HaltNote, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = HaltFile(tmp_path / "halt")
    file.create(MAY_ACT)
    first = sleep()
    second: list[subprocess.Popen[bytes]] = []
    monkeypatch.setattr(file, "halt", lambda _: second.append(sleep()))
    assert stop(file, running, note) == (2, [])
    assert (first.wait(60), second[0].wait(60)) == (-9, -9)


def test_a_file_that_cannot_be_changed_keeps_no_step_from_being_tried(
    tmp_path: Path, running: RunningList, sleep: Sleep, note: HaltNote, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = HaltFile(tmp_path / "halt")
    second: list[subprocess.Popen[bytes]] = []

    def refuse(_: HaltNote) -> None:
        second.append(sleep())
        raise WorkspaceError("the disk is broken")

    monkeypatch.setattr(file, "halt", refuse)
    ended, problems = stop(file, running, note)
    assert (ended, len(problems)) == (1, 1)
    assert second[0].wait(60) == -9


def test_a_folder_in_its_place_halts_already(tmp_path: Path, running: RunningList, note: HaltNote) -> None:
    (tmp_path / "halt").mkdir()
    assert stop(HaltFile(tmp_path / "halt"), running, note) == (0, [])
    assert HaltFile(tmp_path / "halt").read().halted
