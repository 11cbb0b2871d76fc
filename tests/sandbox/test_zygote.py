"""A zygote from outside, and for an ordinary user: the same walls through user namespaces instead of root's rights."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import metnos
from metnos.core.errors import SandboxError
from metnos.sandbox import zygote as zygotes
from metnos.sandbox.channel import Closed
from metnos.sandbox.zygote import Zygote

HERE = Path(__file__).parent


@pytest.fixture
def zygote() -> Iterator[Zygote]:
    zygote = Zygote("", warm=False, timeout_s=60)
    yield zygote
    zygote.close()


def test_children_come_in_order_and_are_told_apart(zygote: Zygote) -> None:
    for _ in range(3):
        zygote.fork()
    taken = [zygote.take() for _ in range(3)]
    assert [channel.number for channel in taken] == [1, 2, 3]
    zygote.kill(2)
    status = taken[1].ending(60)
    assert status is not None
    assert os.WTERMSIG(status[0]) == signal.SIGKILL
    assert taken[0].ending(0.05) is None
    for channel in taken:
        channel.close()


def test_to_kill_what_is_gone_or_never_was_does_nothing(zygote: Zygote) -> None:
    zygote.fork()
    channel = zygote.take()
    for number in (1, 1, 99):
        zygote.kill(number)
    assert channel.ending(60) is not None
    channel.close()
    zygote.fork()
    zygote.take().close()


def test_a_child_whose_channel_closes_ends(zygote: Zygote) -> None:
    zygote.fork()
    channel = zygote.take()
    channel._socket.close()
    status = channel.ending(60)
    assert status is not None
    assert os.WEXITSTATUS(status[0]) == 0


def test_a_child_says_when_its_walls_cannot_be_built(zygote: Zygote) -> None:
    zygote.fork()
    channel = zygote.take()
    channel.send({"walls": {}}, time.monotonic() + 60)
    message, _ = channel.receive(time.monotonic() + 60, 1000)
    assert message["op"] == "unsafe"
    with pytest.raises(Closed):
        channel.receive(time.monotonic() + 60, 1000)
    channel.close()


def test_a_dead_zygote_is_noticed(zygote: Zygote) -> None:
    os.kill(zygote.pid, signal.SIGKILL)
    deadline = time.monotonic() + 60
    while zygote.alive():
        assert time.monotonic() < deadline
        time.sleep(0.005)
    with pytest.raises(SandboxError, match="gone"):
        zygote.fork()
        zygote.take()
    zygote.kill(1)  # no complaint


def test_a_failure_inside_is_told_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    real = zygotes.profile.config
    monkeypatch.setattr(
        zygotes.profile, "config", lambda *args, **more: {**real(*args, **more), "preload": ["no_such_module"]}
    )
    with pytest.raises(SandboxError, match="no_such_module"):
        Zygote("", warm=False, timeout_s=60)


def test_it_is_started_with_one_descriptor_and_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESCAPE_CANARY", "x")
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    with contextlib.closing(Zygote("", warm=False, timeout_s=60)) as zygote:
        own = Path(f"/proc/{zygote._process.pid}")
        assert own.joinpath("environ").read_bytes() == b""
        below = Path(f"/proc/{zygote.pid}/task/{zygote.pid}/children").read_text().split()
        for pid in (str(zygote.pid), *below):
            assert b"ESCAPE" not in Path(f"/proc/{pid}/environ").read_bytes()
            assert Path(f"/proc/self/fd/{writer}").readlink() not in [
                path.readlink() for path in Path(f"/proc/{pid}/fd").iterdir()
            ]
    os.close(reader)
    os.close(writer)


# -- as an ordinary user, and on other kernels


def as_uid(uid: int, *asked: str) -> dict[str, Any]:
    """What `as_someone_else` found as this uid. Needs an interpreter that others may read: the system's."""
    system = Path("/usr/bin/python3")
    version = [str(system), "-c", "import sys; sys.exit(sys.version_info < (3, 11))"]
    if not system.exists() or subprocess.run(version, check=False).returncode:
        pytest.skip("no system Python of 3.11 or newer")
    if os.getuid() != uid and os.getuid() != 0:
        pytest.skip("only root becomes another")
    who: dict[str, Any] = {"user": uid, "group": uid, "extra_groups": []} if os.getuid() != uid else {}
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(
            Path(metnos.__file__).parent,
            Path(folder) / "metnos",
            ignore=shutil.ignore_patterns("__pycache__", "builtin"),
        )
        shutil.copy(HERE / "as_someone_else.py", folder)
        for path in [Path(folder), *Path(folder).rglob("*")]:
            path.chmod(0o755)
        done = subprocess.run(
            [str(system), "-S", f"{folder}/as_someone_else.py", *asked], **who,
            env={"PYTHONPATH": folder}, cwd="/", text=True, capture_output=True, check=False, timeout=240,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    assert found["uid"] == uid
    return found


SOMEBODY = os.getuid() or 65534


@pytest.mark.slow
def test_for_an_ordinary_user_every_attack_is_held_and_every_control_succeeds() -> None:
    somebody = as_uid(SOMEBODY, "whole", "older")
    assert somebody["whole"]["probe"] == {what: [] for what in ("file", "environment", "network", "writing", "uid")}

    got = somebody["whole"]["got"]
    assert not {name: each[:2] for name, each in got.items() if "won" in each[:2]}
    controls = {name: each[2] for name, each in got.items() if len(each) > 2}
    assert len(controls) >= 19
    assert not {name: each for name, each in controls.items() if each != "won" and each != "GONE"}
    check_older_kernels(somebody["older"])


@pytest.mark.slow
def test_for_root_every_attack_is_held_where_the_kernel_has_less_of_landlock() -> None:
    check_older_kernels(as_uid(0, "older")["older"])


def check_older_kernels(older: dict[str, dict[str, str]]) -> None:
    """The mounts, the namespaces and the filter hold without the second opinion, whatever is left of it."""
    assert set(older) == {f"version {version}" for version in (None, 0, 1, 3, 4)}
    for version, got in older.items():
        assert len(got) >= 13
        assert not {name: each for name, each in got.items() if each in ("won", "GONE")}, version
