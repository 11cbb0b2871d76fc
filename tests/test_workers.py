"""Tests in several processes: each is run once, and one that takes its process along takes nothing else."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workers import CHUNK, share

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests"

CONFTEST = """
import os
from pathlib import Path

import pytest

LOG = Path(__file__).parent / "log"


def note(what):
    with LOG.open("a") as log:
        log.write(f"{what} {os.getpid()}\\n")


@pytest.fixture(scope="session", autouse=True)
def _whole():
    note("up")
    yield
    note("down")
"""
ORDINARY = """
from pathlib import Path

import pytest

from conftest import note


@pytest.mark.parametrize("number", range(20))
def test_one(number):
    print("printed by", number)
    note(f"ran-{Path(__file__).stem}-{number}")
    assert number != 7
"""
DEADLY = """
import os, signal

def test_before():
    pass

def test_deadly():
    os.kill(os.getpid(), signal.SIGKILL)

def test_after():
    pass
"""


@pytest.fixture
def run(tmp_path: Path) -> Any:
    def run(*more: str) -> tuple[int, dict[str, Any], str]:
        line = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path), "--workers", "3", "-q"]
        line += ["-p", "no:cacheprovider", "-p", "suite", "-p", "workers", "-o", f"pythonpath={TESTS} {tmp_path}"]
        command = [sys.executable, "-m", "pytest", *line, "--results", str(tmp_path / "results"), *more]
        env = {"PYTHONPATH": str(TESTS), "PATH": "/usr/bin:/bin"}
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120, check=False)
        return done.returncode, json.loads((tmp_path / "results").read_text()), done.stdout

    return run


def write_ordinary(folder: Path) -> None:
    (folder / "conftest.py").write_text(CONFTEST)
    for name in "abcde":
        (folder / f"test_{name}.py").write_text(ORDINARY)


@pytest.mark.slow
def test_every_test_is_run_once_and_told_of(tmp_path: Path, run: Any) -> None:
    write_ordinary(tmp_path)
    code, found, shown = run(".")
    assert (code, found["counts"]) == (1, {"passed": 95, "failed": 5})
    assert found["failed"] == [f"test_{name}.py::test_one[7]" for name in "abcde"]
    assert shown.count("printed by 7") == 5, "what a test that fails has printed is shown, and nothing of others"
    noted = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
    ran = [what for what, _ in noted if what.startswith("ran-")]
    assert sorted(ran) == sorted(f"ran-test_{name}-{number}" for name in "abcde" for number in range(20))
    workers = {pid for _, pid in noted}
    assert len(workers) > 1
    assert [sorted(pid for what, pid in noted if what == each) for each in ("up", "down")] == [sorted(workers)] * 2


@pytest.mark.slow
def test_a_worker_that_dies_fails_the_test_that_it_was_at_and_no_other(tmp_path: Path, run: Any) -> None:
    (tmp_path / "test_it.py").write_text(DEADLY)
    code, found, shown = run("test_it.py")
    assert (code, found["counts"]) == (1, {"passed": 2, "failed": 1})
    assert found["failed"] == ["test_it.py::test_deadly"]
    assert "signal 9" in shown


@pytest.mark.slow
def test_after_the_first_failure_nothing_more_is_begun_if_so_asked(tmp_path: Path, run: Any) -> None:
    write_ordinary(tmp_path)
    code, found, _ = run("-x", ".")
    assert code == 1
    assert sum(found["counts"].values()) < 100


@dataclass(frozen=True)
class _Item:
    nodeid: str
    slow: bool
    fixturenames: tuple[str, ...] = ()

    def get_closest_marker(self, name: str) -> bool:
        assert name == "slow"
        return self.slow


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans())), st.integers(1, 5))
def test_every_test_is_in_one_part_and_the_slow_ones_come_first(cases: list[tuple[str, bool]], count: int) -> None:
    items = [_Item(f"{file}.py::test_{at}", slow) for at, (file, slow) in enumerate(cases)]
    parts = share(items, count)  # type: ignore[arg-type]
    assert len(parts) <= count
    assert sorted(number for part in parts for chunk in part for number in chunk) == list(range(len(items)))
    for part in parts:
        assert all(0 < len(chunk) <= CHUNK for chunk in part)
        assert all(len({items[number].nodeid[0] for number in chunk}) == 1 for chunk in part)
        slow = [any(items[number].slow for number in chunk) for chunk in part]
        assert slow == sorted(slow, reverse=True)


def test_those_that_need_the_program_are_in_one_part() -> None:
    needs = [name in "bd" for name in "abcdefgh"]
    items = [
        _Item(f"{name}.py::test", False, ("browser",) * need) for name, need in zip("abcdefgh", needs, strict=True)
    ]
    first, *others = share(items, 4)  # type: ignore[arg-type]
    assert [items[number].nodeid[0] for chunk in first for number in chunk] == ["b", "d"]
    assert sum(len(part) for part in others) == 6
