"""The record that a run of the suite leaves."""

import json
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from support import tool

COUNTS = '{"counts": {"passed": 3}, "failed": [], "slowest": []}'


@pytest.fixture
def suite(tmp_path: Path) -> ModuleType:
    """The runner on a repository of its own, with steps that take no time."""
    made = tool("suite")
    made.ROOT = tmp_path
    made.RECORD = tmp_path / "build" / "suite.json"
    write = ["sh", "-c", f"printf '%s' '{COUNTS}' > \"$2\"", "sh"]
    made.KINDS = {
        "test": [("lint", ["true"]), ("types", ["echo", "well"]), ("tests", write)],
        "check": [("lint", ["false"]), ("types", ["true"]), ("tests", ["sh", "-c", "exec sleep 600", "sh"])],
    }
    git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_text("build/\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-qm", "first")
    return made


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=True).stdout.strip()


def record(suite: ModuleType, kind: str = "test", *extra: str) -> dict[str, Any]:
    made = suite.run(kind, list(extra))
    assert json.loads(suite.RECORD.read_text()) == made
    return made


def test_a_run_names_its_commit_counts_and_times(suite: ModuleType, tmp_path: Path) -> None:
    made = record(suite)
    assert made["commit"] == git(tmp_path, "rev-parse", "HEAD")
    assert (made["kind"], made["clean"], made["whole"], made["passed"]) == ("test", True, True, True)
    assert made["counts"] == {"passed": 3}
    assert [each["name"] for each in made["steps"]] == ["lint", "types", "tests"]
    assert made["seconds"] >= 0
    assert made["cpu_seconds"] >= 0


def test_a_type_checker_whose_workers_do_not_start_works_alone(suite: ModuleType) -> None:
    suite.KINDS["test"][1] = ("types", ["sh", "-c", "echo error: INTERNAL ERROR; exit 2"])
    suite.ONE_BY_ONE = ["true"]
    made = record(suite)
    assert (made["passed"], [each["name"] for each in made["steps"]]) == (True, ["lint", "types, one by one", "tests"])
    suite.ONE_BY_ONE = ["false"]
    assert not record(suite)["passed"]


def test_what_runs_side_by_side_is_shown_one_after_the_other(
    suite: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    record(suite)
    shown = capfd.readouterr().out.splitlines()
    assert [line for line in shown if not line.startswith("$ sh")] == ["$ true", "$ echo well", "well"]


def test_what_is_not_committed_is_said(suite: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "new.py").write_text("")
    assert record(suite)["clean"] is False


def test_a_commit_during_the_run_is_no_clean_run(suite: ModuleType, tmp_path: Path) -> None:
    commit = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "--allow-empty", "-m", "x"]
    suite.KINDS["test"] = [("lint", commit)]
    assert record(suite)["clean"] is False


def test_a_part_of_the_tests_is_not_the_whole(suite: ModuleType) -> None:
    assert record(suite, "test", "tests/core")["whole"] is False


def test_a_linter_that_fails_ends_the_tests(suite: ModuleType) -> None:
    made = record(suite, "check")
    assert (made["passed"], made["whole"]) == (False, False)
    assert [each["name"] for each in made["steps"]] == ["lint", "types"]


def test_a_linter_that_cannot_be_started_ends_the_tests(suite: ModuleType) -> None:
    suite.KINDS["check"][0] = ("lint", ["/no/such/program"])
    with pytest.raises(FileNotFoundError):
        suite.run("check", [])
    assert not json.loads(suite.RECORD.read_text())["passed"]


def test_a_run_that_is_broken_off_has_not_passed(suite: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    record(suite)
    really = suite.run_step

    def broken_off(name: str, *arguments: object) -> object:
        if name == "tests":
            raise KeyboardInterrupt
        return really(name, *arguments)

    monkeypatch.setattr(suite, "run_step", broken_off)
    with pytest.raises(KeyboardInterrupt):
        suite.run("test", [])
    left = json.loads(suite.RECORD.read_text())
    assert (left["passed"], left["whole"], left["steps"]) == (False, False, [])


def test_without_git_the_commit_is_unknown(suite: ModuleType, tmp_path: Path) -> None:
    (tmp_path / ".git").rename(tmp_path / ".gone")
    made = record(suite)
    assert (made["commit"], made["clean"]) == ("", False)
