"""The door: who comes in, and how many."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from api.standin import Running, StandIn, exchange, raw, running, said, until
from metnos.api import server as door_keeping
from metnos.api import wire
from metnos.api.server import Server
from metnos.app import App
from metnos.core.clock import MovableClock
from metnos.core.errors import DaemonError

KNOCK = """
import socket, sys
knocking = socket.socket(socket.AF_UNIX)
knocking.connect(sys.argv[1])
print(knocking.makefile("r").readline())
"""


@pytest.fixture
def daemon(equipped: App, clock: MovableClock) -> Iterator[Running]:
    with running(equipped.workspace, clock, StandIn(clock)) as daemon:
        yield daemon


def knock(daemon: Running, at: str, **who: object) -> str:
    """What a process hears that says nothing itself, at a door that any account may reach."""
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(at)
        Path(at).chmod(0o666)
        door.listen()
        server = Server(door, daemon.daemon._counter, lambda: True)
        thread = threading.Thread(target=server.run)
        thread.start()
        line = ["/usr/bin/env", "-i", sys.executable if not who else "/usr/bin/python3", "-c", KNOCK, at]
        done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=True, cwd="/", **who)  # type: ignore[call-overload]
        daemon.daemon.stop()
        thread.join(60)
    return str(done.stdout)


@pytest.mark.skipif(os.getuid() != 0 or not Path("/usr/bin/python3").exists(), reason="only root can be another")
def test_another_account_does_not_come_in(daemon: Running, tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(0o755)
    heard = knock(daemon, str(tmp_path / "door"), user=65534, group=65534, extra_groups=[])
    assert "account 65534 has no business here" in said(json.loads(heard))
    assert daemon.says("a client was refused")


def test_an_account_that_is_not_ours_is_refused_by_its_number(daemon: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(door_keeping, "peer_uid", lambda _: os.getuid() + 1)
    with raw(daemon.workspace) as file:
        assert "has no business here" in said(json.loads(file.readline()))
        assert file.readline() == b""


def test_too_many_clients_are_sent_away(daemon: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("metnos.api.server.MOST_CLIENTS", 2)
    with raw(daemon.workspace) as one, raw(daemon.workspace) as two:
        for file in (one, two):
            assert exchange(file, wire.pack(wire.request("ping")))
        with raw(daemon.workspace) as three:
            assert "2 clients already" in said(json.loads(three.readline()))
    server = daemon.daemon._server
    assert server is not None
    until(lambda: not server.clients)
    assert daemon.client.status()


def test_a_workspace_that_was_replaced_ends_it(
    equipped: App, clock: MovableClock, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(door_keeping, "_LOOK_S", 0.05)
    root = equipped.workspace.root
    with running(equipped.workspace, clock, StandIn(clock)) as daemon:
        until(lambda: daemon.says("job backup: done"))
        root.rename(tmp_path / "aside")
        root.mkdir()
        until(lambda: daemon.failed)
        assert isinstance(daemon.failed, DaemonError)
        assert "replaced or removed" in daemon.failed.what
    assert list(root.iterdir()) == []  # what is there now is not ours to touch
