"""The client's side. What it gets from a daemon that is well is in `test_serving`."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from api.standin import StandIn, running
from metnos.api import client as talking
from metnos.api import wire
from metnos.api.client import Client, connect
from metnos.api.lock import Lock, listen
from metnos.app import App
from metnos.core.clock import MovableClock
from metnos.core.errors import DaemonError
from metnos.core.workspace import Workspace
from metnos.turn.events import StepStarted

Serve = Callable[[socket.socket], object]


@contextmanager
def served(workspace: Workspace, serve: Serve) -> Iterator[None]:
    """Somebody who listens at the door and does as the test says with one client."""

    def take() -> None:
        connection, _ = door.accept()
        with connection:
            serve(connection)

    with Lock(workspace), listen(workspace) as door:
        thread = threading.Thread(target=take)
        thread.start()
        yield
        thread.join(60)
        assert not thread.is_alive()


def test_nobody_there(workspace: Workspace) -> None:
    assert connect(workspace) is None


def test_a_stopped_daemon_is_no_daemon(equipped: App, clock: MovableClock, tmp_path: Path) -> None:
    with running(equipped.workspace, clock, StandIn(clock)) as daemon:
        client = daemon.client
        client.stop()
        daemon.thread.join(60)
    with pytest.raises(DaemonError, match="not there"):
        client.status()
    with pytest.raises(DaemonError, match="not there"):
        next(client.ask("hello", cwd=tmp_path))
    assert connect(equipped.workspace) is None


def test_one_that_is_just_leaving_is_not_there(workspace: Workspace) -> None:
    with served(workspace, lambda connection: connection.recv(1)):
        assert connect(workspace) is None


def test_one_that_goes_away_in_the_middle_of_a_turn_is_said(workspace: Workspace, tmp_path: Path) -> None:
    def serve(connection: socket.socket) -> None:
        connection.recv(1000)
        connection.sendall(wire.pack(wire.from_event(StepStarted(1, 1, "find_files", ""))))

    with served(workspace, serve):
        turn = Client(workspace).ask("hello", cwd=tmp_path)
        assert isinstance(next(turn), StepStarted)
        with pytest.raises(DaemonError, match="went away") as caught:
            next(turn)
        assert "metnos turns list" in caught.value.fix


def test_one_that_does_not_answer_is_an_error(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(talking, "_PATIENCE_S", 0.1)
    with (
        served(workspace, lambda connection: connection.recv(1000) + connection.recv(1000)),
        pytest.raises(DaemonError, match="does not answer"),
    ):
        connect(workspace)


@pytest.mark.parametrize("line", [b"garbage\n", b'{"event":"Dance"}\n', b'{"event":"Text"}\n', b"[]\n"])
def test_a_daemon_that_sends_garbage_is_an_error(workspace: Workspace, tmp_path: Path, line: bytes) -> None:
    def serve(connection: socket.socket) -> None:
        connection.recv(1000)
        connection.sendall(line)

    with served(workspace, serve), pytest.raises(DaemonError):
        list(Client(workspace).ask("hello", cwd=tmp_path))


def test_whoever_serves_under_another_account_is_not_believed(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(talking, "peer_uid", lambda _: 4242)
    with served(workspace, lambda connection: connection.recv(1000)), pytest.raises(DaemonError, match="account"):
        connect(workspace)


def test_another_version_is_said(workspace: Workspace) -> None:
    refusal = DaemonError("the daemon speaks version 2 of its protocol", fix="Start it again.")
    with (
        served(workspace, lambda connection: connection.sendall(wire.pack(wire.from_error(refusal)))),
        pytest.raises(DaemonError, match="version 2"),
    ):
        connect(workspace)
