"""What tests of the daemon share: turns that go as a test says, and a daemon in a thread."""

import contextlib
import json
import threading
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

from metnos.api import client as talking
from metnos.api.client import Client
from metnos.api.daemon import Daemon, Household, Patience
from metnos.api.lock import dial
from metnos.api.serving import Turns
from metnos.app import App
from metnos.core.clock import Clock
from metnos.core.errors import UsageError
from metnos.core.workspace import Workspace
from metnos.law.principal import Principal
from metnos.turn.events import Answer, Answered, Event, Started
from metnos.turn.request import Request

Turn = Generator[Event, Answer | None, None]
Script = Callable[[Request], Turn]


def until(condition: Callable[[], object]) -> None:
    """Wait for what must come."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.005)


def answered(request: Request, text: str = "", state: str = "done") -> Answered:
    return Answered(request.id, state, text)


def plain(request: Request) -> Turn:
    yield Started(request.id)
    yield answered(request, f"you said {request.text} in {request.cwd}")


class StandIn:
    """Has the shape of ``app.turns``; the text of a request chooses the script. Notes requests and how turns ended."""

    def __init__(self, clock: Clock, **scripts: Script) -> None:
        self.clock = clock
        self.scripts = scripts
        self.requests: list[Request] = []
        self.ended: list[str] = []

    def request(
        self, text: str, *, principal: Principal, cwd: Path, conversation: str = "", dry_run: bool = False
    ) -> Request:
        if not text:
            raise UsageError("there is nothing to do", fix="Say something.")
        made = Request(f"T{len(self.requests)}", text, principal, cwd, self.clock.now(), conversation, dry_run)
        self.requests.append(made)
        return made

    def run(self, request: Request) -> Turn:
        how = "cancelled"
        try:
            yield from self.scripts.get(request.text, plain)(request)
            how = "whole"
        finally:
            self.ended.append(f"{request.text} {how}")


@contextlib.contextmanager
def raw(workspace: Workspace) -> Iterator[Any]:
    """A client that sends what it likes."""
    connection = dial(workspace, 60)
    assert connection is not None
    with connection, connection.makefile("rwb") as file:
        yield file


def exchange(file: Any, line: bytes) -> dict[str, Any]:
    file.write(line)
    file.flush()
    found: dict[str, Any] = json.loads(file.readline())
    return found


def said(message: dict[str, Any]) -> str:
    return str(message["error"]["what"])


class Running:
    """A daemon that runs, its client, and what it logged."""

    def __init__(self, workspace: Workspace, clock: Clock, turns: Turns, patience: Patience | None = None) -> None:
        self.workspace = workspace
        self.apps: list[App] = []
        self.logged: list[str] = []
        self.failed: BaseException | None = None

        def open_() -> Household:
            app = App.open(workspace, clock)
            app.__dict__["turns"] = turns  # where the real ones would be put when they are first asked for
            self.apps.append(app)
            return Household(app, self.logged.append)

        self.daemon = Daemon(workspace, open_, clock, self.logged.append, patience)
        self.thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        try:
            self.daemon.run()
        except BaseException as error:  # for the test to look at
            self.failed = error

    def start(self) -> None:
        self.thread.start()
        until(lambda: self.failed or any("serving" in line for line in self.logged))

    def stop(self) -> None:
        self.daemon.stop()
        self.thread.join(60)
        assert not self.thread.is_alive()

    @property
    def client(self) -> Client:
        found = talking.connect(self.workspace)
        assert found is not None
        return found

    def says(self, text: str) -> bool:
        return any(text in line for line in self.logged)


@contextlib.contextmanager
def running(workspace: Workspace, clock: Clock, turns: Turns, patience: Patience | None = None) -> Iterator[Running]:
    daemon = Running(workspace, clock, turns, patience)
    daemon.start()
    try:
        yield daemon
    finally:
        daemon.stop()
