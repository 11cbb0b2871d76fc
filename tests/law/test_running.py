"""The list of what a panic has to end."""

import os
from functools import partial
from pathlib import Path

import pytest

from metnos.core.errors import StoreError
from metnos.law.running import Running, RunningList
from support import at_once


@pytest.fixture
def listed(tmp_path: Path) -> RunningList:
    return RunningList(tmp_path / "running")


def test_what_runs_is_known_to_every_process(listed: RunningList) -> None:
    listed.add(4321, "100")
    listed.add(4321, "200")  # the number came back
    listed.add(99, "7")
    (found,) = at_once([listed.all])
    assert found == [Running(99, "7"), Running(4321, "200")]
    listed.remove(4321)
    listed.remove(4321)
    assert listed.all() == [Running(99, "7")]


def test_processes_that_list_themselves_at_once_are_all_on_it(listed: RunningList) -> None:
    at_once([partial(_add_many, listed, number) for number in range(6)])
    assert [each.pid for each in listed.all()] == list(range(10_000_000, 10_000_120))


def _add_many(listed: RunningList, number: int) -> None:
    for each in range(20):  # few enough that none, being gone, has to make room
        listed.add(10_000_000 + number * 20 + each, "1")


def test_its_room_is_allocated_beforehand_and_used_again(listed: RunningList, tmp_path: Path) -> None:
    listed.create()
    size = (tmp_path / "running").stat().st_size
    for number in range(300):  # processes that are gone, and that nobody took off
        listed.add(10_000_000 + number, "1")
    assert (tmp_path / "running").stat().st_size == size
    assert listed.all()


def test_living_ones_are_never_dropped_for_want_of_room(listed: RunningList, tmp_path: Path) -> None:
    alive = [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 -- names alone
    for pid in alive:
        listed.add(pid, "1")
    for number in range(300):
        listed.add(10_000_000 + number, "1")
    found = {each.pid for each in listed.all()}
    assert {pid for pid in alive if Path(f"/proc/{pid}").exists()} <= found


@pytest.mark.parametrize("content", [b"", b"\0" * 4096, b"1 2\n" * 100, b"\xff" * 33])
def test_a_damaged_list_lists_nothing_foreign_and_takes_new_ones(
    listed: RunningList, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "running").write_bytes(content)
    assert listed.all() == []
    listed.add(4321, "100")
    assert listed.all() == [Running(4321, "100")]


def test_what_cannot_be_listed_must_not_run(listed: RunningList, tmp_path: Path) -> None:
    (tmp_path / "running").mkdir()
    with pytest.raises(StoreError):
        listed.add(4321, "100")
    assert listed.all() == []
    listed.remove(4321)
