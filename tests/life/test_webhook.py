"""The webhook, against real servers on this machine: honest ones, and ones that hold whoever tells them something."""

import json
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from life.local_chain import serving
from metnos.core.errors import ExecutorFailed, Refused
from metnos.life import webhook
from metnos.sandbox.web import Web

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
    with serving(_Handler) as url:
        yield f"{url}/deaths"


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


# -- attacks


def talks(say: Callable[[Any], None]) -> type[BaseHTTPRequestHandler]:
    class Handler(_Handler):
        def do_POST(self) -> None:
            try:
                say(self.wfile)
            except OSError:  # whoever told it something has gone
                self.close_connection = True

    return Handler


def drips(head: bytes, piece: bytes) -> Callable[[Any], None]:
    def say(out: Any) -> None:
        out.write(head)
        for _ in range(6000):
            out.write(piece)
            out.flush()
            time.sleep(0.05)

    return say


def hurried() -> Web:
    return Web(max_redirects=0, timeout_s=1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "say",
    [
        lambda _out: time.sleep(300),
        drips(b"", b"H"),
        drips(b"HTTP/1.1 200 OK\r\n", b"x: y\r\n"),
        drips(b"HTTP/1.1 200 OK\r\ncontent-length: 4000\r\n\r\n", b" "),
    ],
    ids=["silence", "a slow first line", "headers without end", "a slow body"],
)
def test_a_server_that_holds_whoever_tells_it_is_left(say: Callable[[Any], None]) -> None:
    began = time.monotonic()
    with serving(talks(say), patient=False) as url:
        with pytest.raises(ExecutorFailed):
            webhook.tell(url, {"event": "death"}, hurried())
        assert time.monotonic() - began < 120  # and not the five minutes that they would go on


@pytest.mark.parametrize(
    "answer",
    [b"", b"HTTP/9.9 what\r\n\r\n", b"HTTP/1.1 200 OK\r\n" + b"a: " + b"x" * 200_000 + b"\r\n\r\n", b"\0" * 5000],
    ids=["nothing", "another protocol", "a header of its own size", "zeros"],
)
def test_an_answer_that_is_none_is_not_taken_for_one(answer: bytes) -> None:
    with serving(talks(lambda out: out.write(answer)), patient=False) as url, pytest.raises(ExecutorFailed):
        webhook.tell(url, {"event": "death"}, hurried())


def test_a_long_answer_is_not_read_to_its_end() -> None:
    def floods(out: Any) -> None:
        out.write(b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n")
        while True:
            out.write(b"x" * 65536)

    with serving(talks(floods), patient=False) as url:
        webhook.tell(url, {"event": "death"}, hurried())


@pytest.mark.parametrize("address", ["169.254.169.254", "0.0.0.0", "::ffff:169.254.169.254"])
def test_a_name_that_leads_to_where_nothing_may_speak_to(address: str) -> None:
    with pytest.raises((Refused, ExecutorFailed)):
        webhook.tell("http://hook.example/", {"event": "death"}, Web(lambda _host, _port: [address], max_redirects=0))


def test_a_name_is_looked_up_once_so_that_it_cannot_lead_elsewhere_afterwards(server: str) -> None:
    port = int(server.split(":")[2].partition("/")[0])
    asked: list[str] = []

    def rebinding(host: str, _port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["169.254.169.254"]

    webhook.tell(f"http://hook.example:{port}/", {"event": "death"}, Web(rebinding, max_redirects=0))
    assert asked == ["hook.example"]
    assert len(HEARD) == 1


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "ftp://127.0.0.1/", "javascript:1", "", "http://", "http://a b/"]
)
def test_what_is_no_address_of_the_web(address: str) -> None:
    with pytest.raises((Refused, ExecutorFailed)):
        webhook.tell(address, {"event": "death"})
