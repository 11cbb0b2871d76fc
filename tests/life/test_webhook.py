"""The webhook, against a real server on this machine."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from metnos.core.errors import ExecutorFailed, Refused
from metnos.life import webhook

HEARD: list[Any] = []
STATUS = [200]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        HEARD.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(STATUS[0])
        if STATUS[0] == 302:
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_args: object) -> None:
        """Nothing on the terminal."""


@pytest.fixture
def server() -> Iterator[str]:
    HEARD.clear()
    STATUS[0] = 200
    made = HTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{made.server_port}/deaths"
    made.shutdown()
    made.server_close()
    thread.join()


def test_it_is_told(server: str) -> None:
    webhook.tell(server, {"event": "death", "bytes": 5})
    assert HEARD == [{"event": "death", "bytes": 5}]


@pytest.mark.parametrize("status", [302, 404, 500])
def test_nobody_heard(server: str, status: int) -> None:
    STATUS[0] = status
    with pytest.raises(ExecutorFailed):
        webhook.tell(server, {"event": "death"})
    assert len(HEARD) == 1  # a redirect is not followed


def test_the_law_is_asked_about_the_address() -> None:
    with pytest.raises(Refused, match="nothing may speak to"):
        webhook.tell("http://169.254.169.254/latest", {"event": "death"})


def test_nobody_there() -> None:
    with pytest.raises(ExecutorFailed):
        webhook.tell("http://127.0.0.1:9/", {"event": "death"})
