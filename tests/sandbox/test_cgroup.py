"""Cgroups of calls: where they can be made, and that none is left. A real one is tested in `test_pool`."""

import os
from pathlib import Path

import pytest

from metnos.sandbox import cgroup

UNIFIED = "25 20 0:22 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate"
MEMORY = "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory"
CPU = "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu"


@pytest.mark.parametrize(
    ("mounts", "own", "found"),
    [
        ([UNIFIED], "0::/user.slice/metnos.service\n", ("/sys/fs/cgroup/user.slice/metnos.service", None)),
        ([CPU, MEMORY], "4:memory:/a/b\n1:cpu:/\n", (None, "/sys/fs/cgroup/memory/a/b")),
        ([UNIFIED, MEMORY], "4:cpu,memory:/a\n0::/\n", ("/sys/fs/cgroup", "/sys/fs/cgroup/memory/a")),
        (["25 20 0:22 /box /sys/fs/cgroup rw - cgroup2 cgroup2 rw"], "0::/box/in\n", ("/sys/fs/cgroup/in", None)),
        (["25 20 0:22 /box /sys/fs/cgroup rw - cgroup2 cgroup2 rw"], "0::/boxes\n", (None, None)),
        ([CPU], "0::/a\n1:cpu:/\n", (None, None)),
        (["25 20 0:22 /", " - ", "- cgroup2"], "0::/a\n", (None, None)),
        ([], "", (None, None)),
        ([UNIFIED], "nonsense\n:::\n", (None, None)),
    ],
)
def test_the_own_cgroup_is_found(mounts: list[str], own: str, found: tuple[str | None, str | None]) -> None:
    said = cgroup.read_places("\n".join(mounts), own)
    assert tuple(str(each) if each else None for each in said) == found


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like a cgroup of version 2 with the memory controller, which systemd gave away."""
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids\n")
    (tmp_path / "cgroup.procs").write_text(f"{os.getpid()}\n")
    monkeypatch.setattr(os, "getxattr", lambda path, name: _delegated(Path(path), name, tmp_path))
    return tmp_path


def _delegated(path: Path, name: str, given: Path) -> bytes:
    if path == given and name == "user.delegate":
        return b"1"
    raise OSError


def test_a_given_cgroup_is_divided_for_calls(given: Path) -> None:
    assert cgroup.divide(given) == given
    assert (given / "metnos-main/cgroup.procs").read_text() == str(os.getpid())
    assert (given / "cgroup.subtree_control").read_text() == "+memory"
    assert cgroup.divide(given / "metnos-main") == given  # from then on this process is in there


def test_a_cgroup_that_was_not_given_is_left_alone(given: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    (given / "cgroup.controllers").write_text("cpu pids\n")
    assert cgroup.divide(given) is None
    other = tmp_path_factory.mktemp("other")
    (other / "cgroup.controllers").write_text("memory\n")
    assert cgroup.divide(other) is None
    assert [each.name for each in other.iterdir()] == ["cgroup.controllers"]


def test_what_killed_processes_left_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = tmp_path / "base"
    base.mkdir()
    places = cgroup.Hierarchy(base, ("memory.max",), ("memory.swap.max",), "memory.oom.group", "memory.events")
    monkeypatch.setattr(cgroup, "find_hierarchy", lambda: places)
    ended = os.posix_spawn("/bin/true", ["true"], {})
    os.waitpid(ended, 0)
    (base / f"metnos-call-{ended}-7").mkdir()
    (base / f"metnos-call-{os.getppid()}-7").mkdir()
    (base / "others").mkdir()
    group = cgroup.hold([os.getpid()], 1 << 28)
    assert group is not None
    assert {each.name for each in base.iterdir()} == {group.folder.name, f"metnos-call-{os.getppid()}-7", "others"}
    written = {each.name: each.read_text() for each in group.folder.iterdir()}
    assert written == {
        "memory.max": str(1 << 28), "memory.swap.max": "0", "memory.oom.group": "1", "cgroup.procs": str(os.getpid()),
    }  # fmt: skip


def test_the_kernels_count_is_read(tmp_path: Path) -> None:
    group = cgroup.MemoryGroup(tmp_path, "memory.events")
    assert not group.exceeded
    for text, found in (("oom 3\noom_kill 0\n", False), ("low 0\noom_kill 2\n", True), ("oom_kill x\n", False)):
        (tmp_path / "memory.events").write_text(text)
        assert group.exceeded is found


def test_where_none_can_be_made_nothing_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroup, "find_hierarchy", lambda: None)
    assert cgroup.hold([os.getpid()], 1) is None
    gone = cgroup.Hierarchy(tmp_path / "gone", ("memory.max",), (), "", "memory.events")
    monkeypatch.setattr(cgroup, "find_hierarchy", lambda: gone)
    assert cgroup.hold([os.getpid()], 1) is None
