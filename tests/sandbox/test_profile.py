"""The walls as values: command lines, configurations and jobs. That they hold is shown in tests/escape."""

import resource
import sys
from pathlib import Path

import pytest

from metnos.core.errors import SandboxError
from metnos.sandbox import profile
from metnos.sandbox.inside import kernel
from metnos.sandbox.profile import LIBRARIES, Python, Walls, command, config, find_bwrap, this_python
from tables import try_each

PYTHON = Python(Path("/opt/python/bin/python3"), Path("/opt/python"))


def line(*, as_root: bool, **more: frozenset[str]) -> list[str]:
    return command(Path("/usr/bin/bwrap"), PYTHON, as_root=as_root, info=9, **more)


def pairs(found: list[str], word: str) -> list[str]:
    return [found[at + 1] for at, each in enumerate(found) if each == word]


def test_as_root_the_zygote_keeps_what_it_needs_to_build_walls_and_to_drop_its_uid() -> None:
    found = line(as_root=True)
    assert pairs(found, "--cap-add") == [
        "CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID", "CAP_DAC_READ_SEARCH", "CAP_KILL"
    ]  # fmt: skip
    assert found.index("--cap-drop") < found.index("--cap-add")
    assert pairs(found, "--cap-drop") == ["ALL"]
    assert "--unshare-user" not in found


def test_as_a_user_it_has_rights_only_in_a_namespace_of_its_own() -> None:
    found = line(as_root=False)
    assert pairs(found, "--cap-add") == ["CAP_SYS_ADMIN"]
    assert "--unshare-user" in found
    assert "/host/proc" not in found


@pytest.mark.parametrize("as_root", [True, False])
def test_the_walls_around_the_zygote(as_root: bool) -> None:
    found = line(as_root=as_root)
    assert {"--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--new-session"} <= set(found)
    assert not {"--proc", "--dev", "--setenv", "--share-net"} & set(found)
    assert pairs(found, "--dev-bind") == ["/dev/null"]
    assert pairs(found, "--bind") == (["/proc"] if as_root else [])
    assert "/opt/python" in pairs(found, "--ro-bind")
    assert found[-6:] == ["--", "/opt/python/bin/python3", "-I", "-S", "-B", "-c"]


def test_metnos_itself_is_covered_where_it_lies_among_the_libraries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "metnos").mkdir()
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    found = line(as_root=True)
    assert pairs(found, "--tmpfs") == [f"{LIBRARIES}/metnos"]
    assert found.index(f"{LIBRARIES}/metnos") > found.index(LIBRARIES)


@pytest.mark.parametrize("space", ["net", "pid", "ipc"])
def test_each_space_can_be_left_out(space: str) -> None:
    assert f"--unshare-{space}" not in line(as_root=True, without=frozenset({space}))


def test_a_child_of_root_is_nobody_and_sees_roots_files_as_its_own() -> None:
    found = config(PYTHON, as_root=True, warm=True)
    assert (found["uid"], found["map_owners"]) == (65534, True)
    assert "/opt/python" in found["system"]
    assert {"/usr/bin", "/usr/sbin", "/opt/python/bin"} <= set(found["hidden"])
    assert found["preload"]
    assert not config(PYTHON, as_root=True, warm=False)["preload"]


def test_a_child_of_a_user_stays_that_user() -> None:
    found = config(PYTHON, as_root=False, warm=False)
    assert (found["uid"], found["map_owners"]) == (None, False)


def test_data_is_read_only_without_devices_programs_and_other_rights() -> None:
    found = config(PYTHON, as_root=True, warm=False)
    assert found["data_flags"] == kernel.READ_ONLY | kernel.NO_SETUID | kernel.NO_DEVICES | kernel.NO_PROGRAMS
    assert found["root_flags"] & kernel.READ_ONLY
    assert found["namespaces"] == kernel.NEW_MOUNTS | kernel.NEW_IPC | kernel.NEW_PIDS


WALLS = {
    "uid": "uid", "hiding": "hidden", "tmp": "tmp_bytes", "pid": "namespaces", "ipc": "namespaces",
    "read-only": "data_flags", "root": "new_root", "rights": "drop_rights", "keyring": "leave_keyring",
    "landlock": "landlock", "environment": "clear_environment", "descriptors": "close_descriptors",
    "call ptrace": "filter",
}  # fmt: skip


@try_each(("wall", "key"), WALLS.items())
def test_each_wall_can_be_left_out_and_only_by_its_name(wall: str, key: str) -> None:
    whole = config(PYTHON, as_root=True, warm=False)
    weak = config(PYTHON, as_root=True, warm=False, without=frozenset({wall}))
    assert whole[key] != weak[key]
    assert whole == config(PYTHON, as_root=True, warm=False, without=frozenset({"something else"}))


def test_a_job_lists_folders_before_what_is_in_them() -> None:
    found = Walls(binds=("/b/c", "/a", "/b", "/b")).as_job(profile.NOTHING)
    assert found["binds"] == ["/a", "/b", "/b/c"]


def test_a_jobs_limits_are_the_calls() -> None:
    limits = Walls(cpu_s=1.2, ram_mb=100).as_job(profile.NOTHING)["limits"]
    assert limits[resource.RLIMIT_AS] == 100 << 20
    assert 1.2 <= limits[resource.RLIMIT_CPU] <= 3
    assert resource.RLIMIT_AS not in Walls().as_job(frozenset({"limit RLIMIT_AS"}))["limits"]


def test_programs_come_with_another_filter() -> None:
    assert (
        Walls(programs=("/usr/bin/ls",)).as_job(profile.NOTHING)["filter"] != Walls().as_job(profile.NOTHING)["filter"]
    )


def test_the_interpreter_is_the_one_below_the_environment() -> None:
    python = this_python()
    assert python.program.is_file()
    assert not python.program.is_symlink()
    assert python.prefix is None or python.program.is_relative_to(python.prefix)
    assert Path(sys.prefix) != python.prefix or sys.prefix == sys.base_prefix


def test_a_missing_bubblewrap_says_what_to_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SandboxError) as caught:
        find_bwrap(str(tmp_path / "none"))
    assert "config set sandbox.bwrap" in caught.value.fix
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(SandboxError) as caught:
        find_bwrap("")
    assert caught.value.fix == "sudo apt-get install -y bubblewrap"
