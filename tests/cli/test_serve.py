"""The daemon as a process of its own, with real clients, and everything that can happen to it."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli import warm
from cli.warm import metnos
from metnos.api import wire
from metnos.api.client import Client, connect
from metnos.api.lock import dial
from metnos.app import App
from metnos.core.workspace import Workspace
from metnos.night.records import State

pytestmark = pytest.mark.slow

ASKS = """
import sys
from pathlib import Path
from metnos.api.client import connect
from metnos.core.workspace import Workspace
client = connect(Workspace(Path(sys.argv[1])))
turn = client.ask("list the disks", cwd=Path("/"))
next(turn)
print("asked", flush=True)
for event in turn:
    pass
"""


class Daemon:
    """``metnos serve`` in a process of its own."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.log = workspace.root.parent / "log"
        # Without its page, which is tested elsewhere and costs a second to load.
        alone = os.environ | {"METNOS_WEB__ENABLED": "false"}
        with self.log.open("ab") as log, Path(os.devnull).open("rb") as nothing:
            files = [nothing.fileno(), log.fileno(), log.fileno()]
            self.process = warm.start(("--workspace", str(workspace.root), "serve"), files, alone)
        deadline = time.monotonic() + 120
        while connect(workspace) is None:
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline
            time.sleep(0.02)

    @property
    def client(self) -> Client:
        found = connect(self.workspace)
        assert found is not None
        return found

    def end(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait()

    def close(self) -> None:
        self.process.kill()


@contextlib.contextmanager
def serving(workspace: Workspace) -> Iterator[Daemon]:
    daemon = Daemon(workspace)
    try:
        yield daemon
    finally:
        daemon.close()


@pytest.fixture
def place(equipped: App) -> Workspace:
    return equipped.workspace


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_it_ends_well_when_it_is_told_to(place: Workspace, number: int) -> None:
    with serving(place) as daemon:
        assert daemon.client.status()["pid"] == daemon.process.pid
        assert daemon.end(number) == 0
        assert connect(place) is None
        assert [path.name for path in place.run.iterdir()] == ["serve.lock"]
        lines = daemon.log.read_text().splitlines()
        assert lines[0].endswith(f"serving {place.root} (process {daemon.process.pid}); Ctrl-C ends it")
        assert lines[-1].endswith(" ended")
        assert all(line[:4].isdigit() and line[19] == " " for line in lines), lines


def test_a_second_one_is_refused_and_the_first_is_named(place: Workspace) -> None:
    with serving(place) as daemon:
        second = metnos("--workspace", str(place.root), "serve")
        assert (second.code, second.out) == (1, "")
        assert f"process {daemon.process.pid} serves the workspace {place.root} already" in second.err
        assert "metnos serve --stop" in second.err
        assert daemon.client.status()


def test_status_and_stop(place: Workspace) -> None:
    at = ("--workspace", str(place.root), "serve")
    assert metnos(*at, "--status").code == metnos(*at, "--stop").code == 1
    assert metnos(*at, "--status", "--json").out == "null\n"
    with serving(place) as daemon:
        assert f"Process {daemon.process.pid} serves {place.root}" in metnos(*at, "--status").out
        assert json.loads(metnos(*at, "--status", "--json").out)["pid"] == daemon.process.pid
        assert metnos(*at, "--stop").code == 0
        assert daemon.process.wait() == 0


def test_flags_that_do_not_go_together(place: Workspace) -> None:
    assert metnos("serve", "--status", "--stop").code == metnos("serve", "--json").code == 2


def test_without_a_workspace_it_says_how_to_make_one(tmp_path: Path) -> None:
    done = metnos("--workspace", str(tmp_path / "none"), "serve")
    assert (done.code, "metnos init" in done.err) == (1, True)
    assert not (tmp_path / "none").exists()


def test_garbage_and_lines_without_end_do_not_end_it(place: Workspace) -> None:
    with serving(place) as daemon:
        for garbage in (
            b"\0" * 1000 + b"\n",
            b"x" * (wire.LONGEST_REQUEST + 1),
            b"[" * 100_000 + b"\n",
            os.urandom(5000),
        ):
            connection = dial(place, 20)
            assert connection is not None
            with connection:
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    connection.sendall(garbage)
                    connection.shutdown(socket.SHUT_WR)
                assert b'"error"' in connection.recv(1000) or garbage[-1:] != b"\n"
        assert daemon.client.status()["pid"] == daemon.process.pid


def test_a_client_that_is_killed_disturbs_nobody(place: Workspace) -> None:
    with serving(place) as daemon:
        line = [sys.executable, "-c", ASKS, str(place.root)]
        with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as client:
            assert client.stdout is not None
            try:
                assert client.stdout.readline() == "asked\n"
            finally:
                client.kill()
        deadline = time.monotonic() + 120
        while daemon.client.status()["turns"]:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert daemon.end() == 0


def test_killed_at_once_it_leaves_nothing_that_stops_the_next(place: Workspace) -> None:
    with serving(place) as daemon:
        assert daemon.end(signal.SIGKILL) == -signal.SIGKILL
    assert (place.run / "metnos.sock").exists()
    assert connect(place) is None
    with serving(place) as daemon:
        assert daemon.end() == 0
    runs = json.loads(metnos("--workspace", str(place.root), "jobs", "log", "--json").out)
    done = [run["job"] for run in runs if run["state"] == State.DONE]
    assert len(done) == len(set(done))
    assert {run["state"] for run in runs} <= {State.DONE, State.INTERRUPTED, State.FAILED}


def test_a_backup_while_it_serves_holds_nothing_of_it(place: Workspace, tmp_path: Path) -> None:
    with serving(place):
        done = metnos("--workspace", str(place.root), "backup", "--to", str(tmp_path / "b.tar.gz"), "--json")
        assert done.code == 0, done.err
        made = json.loads(done.out)
    assert made["skipped"] == []
    names = subprocess.run(["tar", "tzf", made["path"]], capture_output=True, text=True, check=True).stdout.splitlines()
    assert "memory/night.db" in names
    assert not [name for name in names if name.startswith(".run")]
