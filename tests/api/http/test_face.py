"""The HTTP face listens where it may, gives up on whoever dawdles, and ends when it is told."""

import socket
import ssl
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpcore
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from api.http.accounts import foreign_socket
from metnos.api.http import exchange, patience
from metnos.api.http.face import HttpFace, is_loopback, refuse_bare
from metnos.api.http.guard import LIMITS, Guard
from metnos.core.errors import DaemonError, SettingsError
from metnos.core.sections_outward import WebSettings


async def hello(scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"hi"})


@pytest.fixture
def face() -> Iterator[HttpFace]:
    made = HttpFace(WebSettings(port=0), lambda _: None)
    made.start(hello)
    yield made
    assert made.stop()


_LINES: list[socket.socket] = []


@pytest.fixture(autouse=True)
def _hung_up() -> Iterator[None]:
    yield
    while _LINES:
        _LINES.pop().close()


def asked(face: HttpFace, head: str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n") -> socket.socket:
    """A connection over which something was sent."""
    line = socket.create_connection(("127.0.0.1", face.place.port), timeout=60)
    _LINES.append(line)
    line.sendall(head.encode())
    return line


def test_it_answers_on_this_machine_and_says_nothing_of_itself(face: HttpFace) -> None:
    answer = httpcore.request("GET", face.address)
    assert (answer.status, answer.content) == (200, b"hi")
    assert b"server" not in {name.lower() for name, _ in answer.headers}


def test_small_answers_are_not_held_back() -> None:
    """asyncio switches the delay of small packets off only where the listening socket says that it is TCP."""
    with HttpFace(WebSettings(port=0), lambda _: None).listen() as door:
        assert door.proto == socket.IPPROTO_TCP


def test_a_port_that_is_taken_is_said_and_no_other_one_is_used(face: HttpFace) -> None:
    with pytest.raises(DaemonError, match=f"{face.place.port} is taken"):
        HttpFace(WebSettings(port=face.place.port), lambda _: None).start(hello)


def test_a_connection_of_another_account_gets_a_no_and_nothing_of_it_is_read(face: HttpFace) -> None:
    served: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        served.append(scope["path"])
        await hello(scope, receive, send)

    told: list[str] = []
    guarded = HttpFace(WebSettings(port=0), told.append)
    guarded.start(app)
    try:
        where = ("127.0.0.1", guarded.place.port)
        for head in ("GET /theirs HTTP/1.1\r\nHost: x\r\n\r\n", "\x16\x03\x01 nothing", "POST /theirs HTTP/1.1\r\n"):
            with foreign_socket() as line:
                line.connect(where)
                line.sendall(head.encode())
                assert line.recv(4096).startswith(b"HTTP/1.1 403")
        with foreign_socket() as line:  # it does not wait for an answer, and its socket is nobody's any more
            line.connect(where)
            line.sendall(b"GET /theirs HTTP/1.1\r\nHost: x\r\n\r\n")
        assert httpcore.request("GET", f"{guarded.address}/ours").status == 200
    finally:
        assert guarded.stop()
    assert served == ["/ours"]
    assert 1 <= len(told) <= 2  # each account once, and those that were gone at once


@pytest.mark.slow
def test_a_head_that_never_ends_is_cut_off(face: HttpFace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "HEAD_S", 0.3)
    slow = asked(face, "GET / HTTP/1.1\r\nHost: x\r\nX-A: ")
    for line in (slow, asked(face, "")):
        assert _cut_off(line)


@pytest.mark.slow
def test_a_second_head_on_the_same_line_is_cut_off_too(face: HttpFace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "HEAD_S", 0.3)
    line = asked(face)
    answer = b""
    while not answer.endswith(b"hi"):  # the head and the body may come one after the other
        answer += line.recv(4096)
    assert answer.startswith(b"HTTP/1.1 200")
    line.sendall(b"GET / HTTP/1.1\r\nHost")
    assert _cut_off(line)


def test_many_who_dawdle_keep_nobody_out(face: HttpFace) -> None:
    for _ in range(100):
        asked(face, "GET / HTTP/1.1\r\nX: ")
    assert httpcore.request("GET", face.address).status == 200


def test_a_head_that_is_too_large_is_cut_off(face: HttpFace) -> None:
    line = asked(face, "GET / HTTP/1.1\r\nHost: x\r\n")
    with pytest.raises(OSError):
        for _ in range(200):
            line.sendall(b"X-Fill: " + b"a" * 4096 + b"\r\n")
        if not line.recv(1):
            raise ConnectionResetError


@pytest.mark.slow
def test_a_body_that_comes_byte_by_byte_is_given_up(monkeypatch: pytest.MonkeyPatch, opened: Any) -> None:
    monkeypatch.setattr(exchange, "BODY_S", 0.3)
    face = HttpFace(WebSettings(port=0), lambda _: None)
    face.listen()
    face.start(Guard(hello, lambda: opened.pairing, lambda: face.place, LIMITS))
    try:
        host = f"127.0.0.1:{face.place.port}"
        head = f"POST /pair HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n"
        line = asked(face, head + "{")
        began = time.monotonic()
        said = line.recv(4096)
        assert not said.startswith(b"HTTP/1.1 200")
        assert time.monotonic() - began < 8
        smuggled = asked(face, head.replace("Content-Length: 99", "Content-Length: 2\r\nTransfer-Encoding: chunked"))
        smuggled.sendall(b"0\r\n\r\nGET /api/runs HTTP/1.1\r\n\r\n")
        assert smuggled.recv(4096).startswith(b"HTTP/1.1 400")
    finally:
        assert face.stop()


def test_what_is_no_http_is_refused(face: HttpFace) -> None:
    line = asked(face, "\x16\x03\x01 nothing\r\n\r\n")
    assert line.recv(4096).startswith(b"HTTP/1.1 400")


def test_elsewhere_than_here_only_with_an_encrypted_way() -> None:
    for host in ("0.0.0.0", "192.168.1.2", "::", "metnos.home"):
        with pytest.raises(SettingsError, match="listen in"):
            refuse_bare(WebSettings(host=host))
        with pytest.raises(SettingsError, match="get past the proxy"):
            refuse_bare(WebSettings(host=host, behind_proxy=True))
        refuse_bare(WebSettings(host=host, tls_certificate="a", tls_key="b"))
    refuse_bare(WebSettings(behind_proxy=True))
    with pytest.raises(SettingsError, match="go together"):
        refuse_bare(WebSettings(tls_certificate="a"))
    assert all(map(is_loopback, ("127.0.0.1", "127.8.9.1", "::1", "localhost")))


def test_an_address_that_is_not_ours_is_said_clearly() -> None:
    face = HttpFace(WebSettings(host="192.0.2.1", tls_certificate="a", tls_key="b"), lambda _: None)
    with pytest.raises(SettingsError, match="nothing can listen at"):
        face.listen()


@pytest.mark.parametrize(
    ("settings", "address"),
    [
        ({}, "http://127.0.0.1:8674"),
        ({"hosts": ("metnos.home",)}, "http://127.0.0.1:8674"),
        ({"host": "::1"}, "http://127.0.0.1:8674"),
        ({"behind_proxy": True}, "http://127.0.0.1:8674"),
        ({"behind_proxy": True, "hosts": ("metnos.example.org",)}, "https://metnos.example.org"),
        ({"behind_proxy": True, "hosts": ("metnos.home:8443", "other")}, "https://metnos.home:8443"),
        ({"host": "0.0.0.0", "tls": True}, "https://127.0.0.1:8674"),
        ({"host": "0.0.0.0", "tls": True, "hosts": ("metnos.home",)}, "https://metnos.home:8674"),
        ({"host": "192.0.2.1", "tls": True}, "https://192.0.2.1:8674"),
        ({"host": "::", "tls": True, "hosts": ("metnos.home:9000",)}, "https://metnos.home:9000"),
    ],
)
def test_the_address_is_one_that_a_browser_can_use(settings: dict[str, Any], address: str) -> None:
    tls = {"tls_certificate": "a", "tls_key": "b"} if settings.pop("tls", False) else {}
    face = HttpFace(WebSettings(**settings, **tls), lambda _: None)
    assert face.address == address
    assert address.partition("://")[2] in face.place.names


def test_with_a_certificate_the_way_is_encrypted(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    _write_certificate(key, certificate)
    face = HttpFace(WebSettings(port=0, tls_certificate=str(certificate), tls_key=str(key)), lambda _: None)
    face.start(hello)
    try:
        context = ssl.create_default_context(cafile=str(certificate))
        context.check_hostname = False
        with httpcore.ConnectionPool(ssl_context=context) as pool:
            assert pool.request("GET", face.address).content == b"hi"
        assert face.address.startswith("https://")
        assert face.place.secure
    finally:
        assert face.stop()


def _write_certificate(key: Path, certificate: Path) -> None:
    secret = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, secret.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(secret, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    plain = serialization.NoEncryption()
    key.write_bytes(secret.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    certificate.write_bytes(made.public_bytes(pem))


def _cut_off(line: socket.socket) -> bool:
    try:
        return line.recv(1) == b""
    except ConnectionResetError:
        return True
