"""Whatever is sent besides a body is bounded, whenever it comes; whoever does not end a request is hung up on."""

import asyncio
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from metnos.api.http import exchange, patience
from metnos.api.http.face import HttpFace
from metnos.api.http.guard import LIMITS, Guard
from metnos.core import log
from metnos.core.sections_outward import WebSettings

FILL = b"a" * 4096
MOST = (patience.HEAD_BYTES + (1 << 18) + (4 << 20)) // len(FILL)  # with what one read and the kernel hold


async def endless(scope: Any, receive: Any, send: Any) -> None:
    """A stream, as `/api/events` is one."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
    await send({"type": "http.response.body", "body": b":\n\n", "more_body": True})
    while (await receive())["type"] != "http.disconnect":
        pass


async def swallows(scope: Any, receive: Any, send: Any) -> None:
    """What FastAPI does with a body that cannot be read."""
    try:
        while (await receive()).get("more_body"):
            pass
        status = 200
    except Exception:
        status = 400
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def lines() -> Iterator[list[socket.socket]]:
    opened: list[socket.socket] = []
    yield opened
    for each in opened:
        each.close()


@pytest.fixture
def faces(opened: Any) -> Iterator[Any]:
    made: list[HttpFace] = []

    def serve(app: Any, *, guarded: bool = False) -> HttpFace:
        face = HttpFace(WebSettings(port=0), lambda _: None)
        face.listen()
        face.start(Guard(app, lambda: opened.pairing, lambda: face.place, LIMITS) if guarded else app)
        made.append(face)
        return face

    yield serve
    for each in made:
        assert each.stop()


def dialled(face: HttpFace, lines: list[socket.socket], head: bytes) -> socket.socket:
    line = socket.create_connection(("127.0.0.1", face.place.port), timeout=60)
    lines.append(line)
    line.sendall(head)
    return line


def swallowed(line: socket.socket, piece: bytes = FILL, most: int = MOST) -> bool:
    """Whether it takes all that without hanging up."""
    try:
        for _ in range(most):
            line.sendall(piece)
            time.sleep(0)
    except OSError:
        return False
    return True


def posted(face: HttpFace) -> bytes:
    host = f"Host: 127.0.0.1:{face.place.port}\r\n".encode()
    kind = b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    return b"POST /api/pair HTTP/1.1\r\n" + host + kind


def test_a_head_behind_a_stream_that_never_ends_is_cut_off(faces: Any, lines: list[socket.socket]) -> None:
    face = faces(endless)
    line = dialled(face, lines, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert line.recv(4096).startswith(b"HTTP/1.1 200")
    line.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-A: ")
    assert not swallowed(line)


def test_headers_behind_a_stream_that_never_end_are_cut_off(faces: Any, lines: list[socket.socket]) -> None:
    line = dialled(faces(endless), lines, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert line.recv(4096).startswith(b"HTTP/1.1 200")
    line.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
    assert not swallowed(line, b"X-A: " + FILL + b"\r\n")


def test_what_follows_the_last_chunk_is_counted(faces: Any, lines: list[socket.socket]) -> None:
    face = faces(swallows)
    line = dialled(face, lines, posted(face) + b"1\r\n{\r\n0\r\nX-T: ")
    assert not swallowed(line)
    line = dialled(face, lines, posted(face) + b"1\r\n{\r\n0\r\n")
    assert not swallowed(line, b"X-T: " + FILL + b"\r\n")


def test_what_stands_beside_a_chunks_size_is_counted(faces: Any, lines: list[socket.socket]) -> None:
    face = faces(swallows)
    line = dialled(face, lines, posted(face))
    assert not swallowed(line, b"1;x=" + FILL + b"\r\n{\r\n")


def test_a_long_body_is_no_head(faces: Any, lines: list[socket.socket]) -> None:
    face = faces(swallows)
    body = b"x" * (1 << 20)
    line = dialled(face, lines, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body))
    for _ in range(3):  # again and again on one line: what was counted is forgotten with its request
        line.sendall(body)
        assert line.recv(4096).startswith(b"HTTP/1.1 200")
        line.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nX: %s\r\nContent-Length: %d\r\n\r\n" % (FILL * 8, len(body)))
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(FILL), FILL) for _ in range(256)) + b"0\r\n\r\n"
    line = dialled(face, lines, posted(face) + chunks)
    assert line.recv(4096).startswith(b"HTTP/1.1 200")


@pytest.mark.slow
def test_a_few_requests_may_be_sent_ahead_and_no_thousands(faces: Any, lines: list[socket.socket]) -> None:
    one = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
    few = dialled(faces(swallows), lines, one * 3)
    said = b""
    while said.count(b"HTTP/1.1 200") < 3:
        said += few.recv(4096)
    many = dialled(faces(endless), lines, one)
    assert many.recv(4096).startswith(b"HTTP/1.1 200")
    many.sendall(one * 2000)
    with pytest.raises(OSError):
        while many.recv(4096):
            pass
        raise ConnectionResetError


@pytest.mark.slow
def test_who_is_too_slow_gets_that_for_an_answer_and_is_hung_up_on(
    faces: Any, lines: list[socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "BODY_S", 0.3)
    face = faces(swallows, guarded=True)
    line = dialled(face, lines, posted(face) + b"1\r\n{\r\n0\r\nX-T: ")
    said = b""
    while part := line.recv(4096):  # until it is closed
        said += part
    assert said.startswith(b"HTTP/1.1 408")
    assert b"HTTP/1.1 400" not in said


def test_a_body_in_chunks_that_is_too_long_is_refused_whatever_was_made_of_it(
    faces: Any, lines: list[socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange.rules, "LONGEST_BODY", 1 << 16)
    face = faces(swallows, guarded=True)
    line = dialled(face, lines, posted(face))
    piece = b"%x\r\n%s\r\n" % (len(FILL), FILL)
    assert not swallowed(line, piece)


def test_a_stream_that_was_cut_tells_its_application_that_the_client_has_gone() -> None:
    told: list[str] = []

    async def waits(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        await receive()
        gone = asyncio.create_task(receive())
        await send({"type": "http.response.body", "body": b"a", "more_body": True})
        told.append((await gone)["type"])
        told.append((await receive())["type"])

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    first = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> Any:
        if first:
            return first.pop()
        await asyncio.sleep(600)
        return {"type": "http.disconnect"}

    async def run() -> None:
        one = exchange.Exchange(receive, send, exchange.Streams(), None, lambda: False)
        assert await one.run(waits, {"method": "GET"}) is None

    asyncio.run(asyncio.wait_for(run(), 60))
    assert told == ["http.disconnect"] * 2
    assert [each.get("body") for each in sent] == [None, b""]
    assert not sent[-1]["more_body"]


def test_what_is_no_request_fills_no_log_and_reaches_no_terminal(
    opened: Any, lines: list[socket.socket], capfd: pytest.CaptureFixture[str]
) -> None:
    logged: list[str] = []
    face = HttpFace(WebSettings(port=0), logged.append)
    face.listen()
    face.start(swallows)
    try:
        for number in range(60):
            line = dialled(face, lines, b"\x1b[2J evil \x07 %d\r\n\r\n" % number)
            while line.recv(4096):
                pass
    finally:
        assert face.stop()
    assert 0 < len(logged) <= log.MOST_A_MINUTE
    assert not any("evil" in each for each in logged)
    seen = capfd.readouterr()
    assert seen.out + seen.err == ""
