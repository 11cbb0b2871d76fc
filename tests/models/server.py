"""A hand-written model server on loopback, for tests: speaks the protocol, or misbehaves as it is told to."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Act = Callable[["Talk"], None]


@dataclass
class Seen:
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Running:
    """A server that plays one act for each request, the last one for ever."""

    acts: list[Act]
    url: str = ""
    seen: list[Seen] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next_act(self) -> Act:
        with self.lock:
            return self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]


class Talk(BaseHTTPRequestHandler):
    """One request, with words for what a model server says."""

    running: Running
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._play(None)

    def do_POST(self) -> None:
        self._play(json.loads(self.rfile.read(int(self.headers["content-length"]))))

    def _play(self, body: Any) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.running.seen.append(Seen(self.path, headers, body))
        self.close_connection = True
        with suppress(BrokenPipeError, ConnectionResetError):  # whoever asked has heard enough
            self.running.next_act()(self)

    def log_message(self, *_: object) -> None:
        pass

    def head(self, code: int = 200, kind: str = "text/event-stream", **headers: str) -> None:
        self.send_response(code)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Connection", "close")
        self.end_headers()

    def event(self, data: Any, name: str = "") -> None:
        text = data if isinstance(data, str) else json.dumps(data)
        self.wfile.write(f"event: {name}\ndata: {text}\n\n".encode() if name else f"data: {text}\n\n".encode())
        self.wfile.flush()

    def word(self, text: str, finish: str | None = None, **delta: Any) -> None:
        choice = {"index": 0, "delta": {"content": text, **delta}, "finish_reason": finish}
        self.event({"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "tiny", "choices": [choice]})

    def done(self, reason: str = "stop", **usage: Any) -> None:
        self.word("", reason)
        if usage:
            self.event({"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "tiny", "choices": [],
                        "usage": usage})  # fmt: skip
        self.event("[DONE]")

    def wait(self, seconds: float = 30.0) -> None:
        """Do nothing until the test is over."""
        self.running.over.wait(seconds)


def says(*words: str, reason: str = "stop", **usage: Any) -> Act:
    """A model that says that, well-behaved."""

    def act(talk: Talk) -> None:
        talk.head()
        for word in words:
            talk.word(word)
        talk.done(reason, **(usage or {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14}))

    return act


def fails(code: int, body: Any = None, **headers: str) -> Act:
    def act(talk: Talk) -> None:
        talk.head(code, "application/json", **headers)
        talk.wfile.write(json.dumps(body or {"error": {"message": f"no ({code})"}}).encode())

    return act


def lists(*names: str) -> Act:
    def act(talk: Talk) -> None:
        talk.head(200, "application/json")
        talk.wfile.write(json.dumps({"object": "list", "data": [{"id": name} for name in names]}).encode())

    return act


def hangs(talk: Talk) -> None:
    talk.wait()


def drips(talk: Talk) -> None:
    """Always one more byte, never a word."""
    talk.head()
    while not talk.running.over.is_set():
        talk.wfile.write(b": still here\n\n")
        talk.wfile.flush()
        time.sleep(0.02)


def hangs_up(talk: Talk) -> None:
    talk.connection.close()


def dies(talk: Talk) -> None:
    talk.head()
    talk.word("one ")
    talk.word("two")
    talk.connection.shutdown(socket.SHUT_RDWR)


def garbage(talk: Talk) -> None:
    talk.connection.sendall(b"\x00\xffSSH-2.0 who are you\r\n\r\n")


@contextmanager
def serving(*acts: Act) -> Iterator[Running]:
    running = Running(list(acts))
    handler = type("Handler", (Talk,), {"running": running})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        running.url = f"http://127.0.0.1:{server.server_port}/v1"
        try:
            yield running
        finally:
            running.over.set()
            server.shutdown()
            thread.join()
