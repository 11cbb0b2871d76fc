"""The walls as values: command lines, configurations and jobs. That they hold is shown in tests/escape."""

import os
import resource
from pathlib import Path

import pytest

from metnos.core.errors import SandboxError
from metnos.sandbox import profile
from metnos.sandbox.inside import kernel
from metnos.sandbox.interpreter import Python, this_python
from metnos.sandbox.profile import Walls, command, config, find_bwrap, is_the_systems
from tables import try_each

PYTHON = Python(
    Path("/opt/python/bin/python3"),
    Path("/opt/python"),
    (Path("/opt/python/lib/python3"),),
    (Path("/opt/python/lib/libpython3.so.1"),),
)


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
    assert found[-6:] == ["--", "/opt/python/bin/python3", "-I", "-S", "-B", "-c"]


PARTS = {"/opt/python/bin/python3", "/opt/python/lib/python3", "/opt/python/lib/libpython3.so.1"}


def test_of_a_prefix_only_the_named_parts_are_bound() -> None:
    bound = set(pairs(line(as_root=True), "--ro-bind"))
    assert {path for path in bound if path.startswith("/opt")} == PARTS
    system = config(PYTHON, as_root=True, warm=False)["system"]
    assert {path for path in system if path.startswith("/opt")} == PARTS - {"/opt/python/bin/python3"}


def test_of_the_system_only_libraries_and_time_zones_are_shown() -> None:
    may = ("/lib", "/usr/lib", "/usr/share/zoneinfo", "/etc/ld.so.cache", "/etc/localtime", "/opt/python", "/metnos")
    system = config(PYTHON, as_root=True, warm=False)["system"]
    assert system
    assert not [path for path in system if not path.startswith(may)]
    bound = set(pairs(line(as_root=True), "--ro-bind")) - {"/", str(Path(profile.__file__).with_name("kit"))}
    assert not [path for path in bound if path != str(Path("/etc/localtime").resolve()) and not path.startswith(may)]


def test_packages_of_the_system_and_what_is_forbidden_are_covered() -> None:
    real = config(this_python(), as_root=True, warm=False)
    hidden = {Path(path) for path in real["hidden"]}
    for folder in map(Path, real["system"]):
        if folder.is_dir():
            there = {path for name in ("modules", "systemd", "python3*/*-packages") for path in folder.glob(name)}
            assert {path for path in there if path.is_dir() and not path.is_symlink()} <= hidden
    for folder in this_python().folders:
        assert {path for path in folder.glob("*-packages") if path.is_dir()} <= hidden


@pytest.mark.parametrize("space", ["net", "pid", "ipc"])
def test_each_space_can_be_left_out(space: str) -> None:
    assert f"--unshare-{space}" not in line(as_root=True, without=frozenset({space}))


def test_a_child_of_root_is_nobody_and_sees_roots_files_as_its_own() -> None:
    found = config(PYTHON, as_root=True, warm=True)
    assert (found["uid"], found["map_owners"]) == (65534, True)
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


def test_a_missing_bubblewrap_says_what_to_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SandboxError) as caught:
        find_bwrap(str(tmp_path / "none"))
    assert "config set sandbox.bwrap" in caught.value.fix
    monkeypatch.setattr("metnos.sandbox.profile._BWRAPS", ())
    with pytest.raises(SandboxError) as caught:
        find_bwrap("")
    assert caught.value.fix == "sudo apt-get install -y bubblewrap"


def test_the_systems_own_bubblewrap_is_taken_by_its_real_path() -> None:
    found = find_bwrap("")
    assert found == found.resolve()
    assert is_the_systems(found)
    assert find_bwrap(str(found)) == found


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of root's in a folder that counts as the system's, so that one thing at a time can be wrong."""
    if os.getuid() != 0:
        pytest.skip("only root makes files of root")
    monkeypatch.setattr(profile, "_SYSTEM_PROGRAMS", (str(tmp_path),))
    program = tmp_path / "bin" / "bwrap"
    program.parent.mkdir(mode=0o755)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o022 and not folder.stat().st_mode & 0o1000:
            pytest.skip(f"{folder} is open to others")
    assert find_bwrap(str(program)) == program
    return program


def _give_away(path: Path) -> None:
    os.chown(path, 65534, 65534)


WRONG = {
    "the program is another's": _give_away,
    "its folder is another's": lambda program: _give_away(program.parent),
    "others may write it": lambda program: program.chmod(0o757),
    "a group may write it": lambda program: program.chmod(0o775),
    "others may replace it": lambda program: program.parent.chmod(0o757),
    "a group may replace it": lambda program: program.parent.chmod(0o775),
    "others may replace its folder": lambda program: program.parent.parent.chmod(0o777),
    "it is a folder": lambda program: (program.unlink(), program.mkdir()),
}


@try_each("how", WRONG)
def test_a_program_that_others_can_change_is_not_bubblewrap(
    how: str, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    WRONG[how](program)
    with pytest.raises(SandboxError) as caught:
        find_bwrap(str(program))
    assert "sandbox.bwrap" in caught.value.fix
    monkeypatch.setattr(profile, "_BWRAPS", (str(program),))
    with pytest.raises(SandboxError):
        find_bwrap("")


def test_a_link_is_judged_by_where_it_leads(program: Path, tmp_path: Path) -> None:
    other = tmp_path / "link"
    other.symlink_to(program)
    assert find_bwrap(str(other)) == program
    program.chmod(0o777)
    with pytest.raises(SandboxError):
        find_bwrap(str(other))


def test_another_program_of_the_system_is_not_bubblewrap() -> None:
    for name in ("/bin/sh", "/usr/bin/env", "/usr/bin/python3"):
        with pytest.raises(SandboxError):
            find_bwrap(name)


def test_a_program_outside_the_systems_folders_is_not_bubblewrap(tmp_path: Path) -> None:
    """Not even a faithful copy: its folder is the owner's to write, and so it is to what runs for them."""
    copy = tmp_path / "bwrap"
    copy.write_bytes(find_bwrap("").read_bytes())
    copy.chmod(0o755)
    with pytest.raises(SandboxError) as caught:
        find_bwrap(str(copy))
    assert "sandbox.bwrap" in caught.value.fix
