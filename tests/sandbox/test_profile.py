import sys
from pathlib import Path

import pytest

from metnos.core.errors import SandboxError
from metnos.sandbox.profile import Profile, Python, command, find_bwrap, this_python

PYTHON = Python(Path("/opt/python/bin/python3"), Path("/opt/python"))


def line(*, as_root: bool) -> list[str]:
    return command(Path("/usr/bin/bwrap"), Profile(((Path("/outside/x"), "/inside/x"),)), PYTHON, as_root=as_root)


def test_as_root_only_the_right_to_stop_being_root_is_kept() -> None:
    found = line(as_root=True)
    assert [found[i + 1] for i, word in enumerate(found) if word == "--cap-add"] == ["CAP_SETUID", "CAP_SETGID"]
    assert found[found.index("--cap-drop") + 1] == "ALL"
    assert "--unshare-user" not in found


def test_as_a_user_no_right_is_kept() -> None:
    found = line(as_root=False)
    assert "--cap-add" not in found
    assert "--unshare-user" in found


@pytest.mark.parametrize("as_root", [True, False])
def test_the_walls(as_root: bool) -> None:
    found = line(as_root=as_root)
    assert {"--unshare-net", "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--new-session"} <= set(found)
    assert not {"--proc", "--dev", "--bind", "--dev-bind", "--setenv", "--share-net"} & set(found)
    assert found[found.index("--remount-ro") + 1] == "/"
    assert found[-4:] == ["/opt/python/bin/python3", "-I", "-S", "/metnos/inside.py"]


def test_binds_come_with_passable_parents() -> None:
    found = line(as_root=True)
    for folder in ("/opt", "/inside", "/metnos"):
        at = found.index(folder)
        assert found[at - 3 : at] == ["--perms", "0755", "--dir"]
    at = found.index("/inside/x")
    assert found[at - 2 : at] == ["--ro-bind", "/outside/x"]


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
