"""What tests of the HTTP face share: a real workspace served in this process, and whoever comes to it.

Everything is as the daemon puts it together, but for the socket and the clock of the house: requests go straight to the
guard. A stream is followed as it comes, so that a question in the middle of it can be answered.
"""

import asyncio
import contextlib
import json
import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from anyio.from_thread import start_blocking_portal
from starlette.testclient import TestClient

from metnos.api.daemon import Household
from metnos.api.http import guard_rules
from metnos.api.http.build import build
from metnos.api.http.guard import Guard, Limits
from metnos.api.http.guard_rules import Place
from metnos.api.http.inside import Desk
from metnos.api.http.rate import Rate
from metnos.api.http.runs import Runs
from metnos.api.keeper import Keeper
from metnos.api.line import Bell
from metnos.api.serving import Counter, Slots
from metnos.app import App
from metnos.core.clock import Clock
from metnos.core.workspace import Workspace
from metnos.law.pairing import Pairing
from metnos.law.principal import Autonomy, Channel, at_terminal

HERE = "http://127.0.0.1:8674"
PLACE = Place(8674, ("127.0.0.1", "localhost"))
_OFTEN = Rate(100_000, 100_000)  # a test that is not about how often asks as often as it likes
OFTEN = Limits(_OFTEN, _OFTEN, _OFTEN, _OFTEN)
_PATIENCE_S = 60.0

Message = dict[str, Any]
Says = Callable[[Message], str]  # what is answered to a question


class Served:
    """A workspace that is served."""

    def __init__(self, workspace: Workspace, clock: Clock, limits: Limits = OFTEN) -> None:
        self.logged: list[str] = []
        self.stopping = Bell()
        self.keeper = Keeper(
            lambda: Household(App.open(workspace, clock), self.logged.append),
            (workspace.settings, workspace.soul),
            self.logged.append,
        )
        counter = Counter(
            lease=self.keeper.lease,
            status=self._status,
            stop=self.stopping.ring,
            after=lambda: None,
            log=self.logged.append,
            stopping=self.stopping,
            hurry=threading.Event(),
            slots=Slots(),
        )
        self.runs = Runs(counter, self.keeper.lease)
        self.desk = Desk(self.keeper.lease, self.runs, self._status, self.logged.append)
        self.api = build(self.desk, lambda: PLACE)
        self.guard = Guard(self.api, self._pairing, lambda: PLACE, limits)
        self._slots = counter.slots
        self._closing = contextlib.ExitStack()
        self._portal = self._closing.enter_context(start_blocking_portal())

    def visit(self) -> TestClient:
        """Somebody nobody knows. All requests share one event loop, as with the real server."""
        found = TestClient(self.guard, base_url=HERE, follow_redirects=False)
        found.portal = self._portal
        return found

    @property
    def app(self) -> App:
        """The open workspace: another one when its settings have changed."""
        with self.keeper.lease() as household:
            return household.app

    def close(self) -> None:
        self.stopping.ring()
        ended = self.runs.stop(_PATIENCE_S)
        self._closing.close()
        self.keeper.close()
        assert ended

    def _pairing(self) -> Pairing:
        return self.app.pairing

    def _status(self) -> Message:
        return {"turns": self._slots.running, "waiting": self._slots.waiting}


class Client:
    """Somebody who comes in: the owner's browser, or a program with its secret."""

    def __init__(self, served: Served, program: str = "") -> None:
        self.served = served
        self.http = served.visit()
        self.program_secret = program

    @property
    def app(self) -> App:
        return self.served.app

    @property
    def headers(self) -> dict[str, str]:
        """What a page of ours sends along, or a program."""
        if self.program_secret:
            return {"authorization": f"Bearer {self.program_secret}"}
        secret = self.http.cookies.get(guard_rules.COOKIE, "")
        return {"origin": HERE, "sec-fetch-site": "same-origin", guard_rules.HEADER: guard_rules.token_of(secret)}

    def get(self, path: str, **params: Any) -> Any:
        """What is there; it has to be there."""
        answer = self.http.get(path, params=params, headers=self.headers)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return answer.json()

    def post(self, path: str, **body: Any) -> Any:
        """What came of it; it has to be possible."""
        answer = self.http.post(path, json=body, headers=self.headers)
        assert answer.status_code in (200, 201, 202), (path, answer.status_code, answer.text)
        return answer.json()

    def refused(self, method: str, path: str, body: Any = None, **params: Any) -> tuple[int, str]:
        """The status and the words of what must not be possible."""
        sent = {} if method == "GET" else {"content": body} if isinstance(body, bytes) else {"json": body or {}}
        kind = {"content-type": "application/json"}
        answer = self.http.request(method, path, params=params, headers=self.headers | kind, **sent)
        assert answer.status_code >= 400, (path, answer.status_code, answer.text)
        found = answer.json()["error"]
        assert set(found) == {"type", "what", "fix"}
        return answer.status_code, str(found["what"])

    # -- turns

    def follow(self, run: str, says: Says = lambda _: "later", after: int = 0) -> list[Message]:
        """All events of a run, each question answered as ``says`` does."""
        seen = []
        with self.stream(f"/api/runs/{run}/events", after=after) as events:
            for event in events:
                seen.append(event)
                if event["event"] == "Wanted":
                    self.post(f"/api/runs/{run}/answer", question=event["question"], answer=says(event))
        return seen

    def ask(self, text: str, says: Says = lambda _: "later", **more: Any) -> Message:
        """Ask for something and follow it to its end; returns the last event."""
        return self.follow(self.post("/api/turns", text=text, **more)["run"], says)[-1]

    @contextlib.contextmanager
    def stream(self, path: str, **params: Any) -> Iterator[Iterator[Message]]:
        """The events of a stream as they come, until it ends or the block is left."""
        request = self.http.build_request("GET", path, params=params, headers=self.headers)
        stream = _Stream(self.served.guard, path, request.url.query, dict(request.headers))
        stream.start()
        try:
            yield stream.events()
        finally:
            stream.leave()

    # -- others

    def device(self, level: str) -> "Client":
        """Another browser, with that level."""
        return entered(self.served, Autonomy(level))

    def program(self, level: str = "full") -> "Client":
        """A program with that level."""
        code = self.app.pairing.offer(Channel.API, Autonomy(level), 10, at_terminal())
        answer = self.served.visit().post("/api/pair", json={"code": code})
        assert answer.status_code == 200, answer.text
        return Client(self.served, answer.json()["secret"])


def entered(served: Served, level: Autonomy = Autonomy.FULL) -> Client:
    """A browser that has opened a one-time link."""
    client = Client(served)
    code = served.app.pairing.offer(Channel.WEB, level, 10, at_terminal())
    answer = client.http.get(f"/enter?key={code}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/"), answer.text
    return client


@contextlib.contextmanager
def serving(workspace: Workspace, clock: Clock, limits: Limits = OFTEN) -> Iterator[Served]:
    served = Served(workspace, clock, limits)
    try:
        yield served
    finally:
        served.close()


class _Stream(threading.Thread):
    """One request whose answer is read while it is made."""

    def __init__(self, app: Any, path: str, query: bytes, headers: Mapping[str, str]) -> None:
        super().__init__(daemon=True)
        self._app = app
        self._scope = {
            "type": "http", "http_version": "1.1", "method": "GET", "scheme": "http", "path": path,
            "raw_path": path.encode(), "query_string": query, "root_path": "", "client": ("127.0.0.1", 5000),
            "server": ("127.0.0.1", 8674), "headers": [(k.encode(), v.encode()) for k, v in headers.items()],
        }  # fmt: skip
        self._parts: queue.Queue[Any] = queue.Queue()
        self._loop = asyncio.new_event_loop()
        self._left = asyncio.Event()
        self._asked = False

    def run(self) -> None:
        try:
            self._loop.run_until_complete(self._app(self._scope, self._receive, self._send))
        except Exception as error:
            self._parts.put(error)
        finally:
            self._parts.put(None)
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    def events(self) -> Iterator[Message]:
        for block in self._blocks():
            data = [line.removeprefix("data: ") for line in block.split("\n") if line.startswith("data: ")]
            if data:
                yield json.loads("\n".join(data))

    def leave(self) -> None:
        with contextlib.suppress(RuntimeError):  # it is over already
            self._loop.call_soon_threadsafe(self._left.set)
        self.join(_PATIENCE_S)
        assert not self.is_alive()

    def _blocks(self) -> Iterator[str]:
        text = ""
        while (part := self._parts.get(timeout=_PATIENCE_S)) is not None:
            if isinstance(part, Exception):
                raise part
            *whole, text = (text + part).split("\n\n")
            yield from whole

    async def _receive(self) -> Message:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            assert message["status"] == 200, message
        else:
            self._parts.put(message.get("body", b"").decode())
