"""The web half of the broker against real servers on the loopback, honest and hostile."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from metnos.core.errors import ExecutorFailed, Refused
from metnos.law.need import Need, refuse_never
from metnos.sandbox.web import Web
from sandbox.websites import HERE, Handler, Names, Rules, Town, answer, redirect

PATIENCE_S = 30.0  # less than any of the hostile servers below has


@pytest.fixture
def town() -> Iterator[Town]:
    with ExitStack() as stack:
        yield Town(stack)


# -- what works


def test_a_page_comes_back_whole(town: Town) -> None:
    site = town.site(page=answer(b"hello", Content_Type="text/plain", Set_Cookie="a=b", X_Two="1"))
    found = town.get(f"http://Site.Example:{site.port}/page#top", headers={"Accept": "text/*", "X-Key": "k"})
    assert (found.status, found.body, found.truncated) == (200, b"hello", False)
    assert found.url == f"http://site.example:{site.port}/page"
    assert found.headers == {"content-length": "5", "content-type": "text/plain", "x-two": "1"}
    assert town.rules.asked == [("site.example", "GET", HERE)]
    assert town.names.asked == ["site.example"]
    lines = site.requests[0].lower().split("\r\n")
    assert lines[0] == "get /page http/1.1"
    assert f"host: site.example:{site.port}" in lines
    assert {"accept: text/*", "x-key: k", "accept-encoding: gzip, deflate", "connection: close"} <= set(lines)
    assert not [line for line in lines if line.startswith(("cookie", "authorization", "content-length", "proxy"))]


def test_ipv6_and_bare_addresses_work(town: Town) -> None:
    site = town.site("::1", page=answer(b"six"))
    assert town.get(f"http://six.example:{site.port}/page").body == b"six"
    assert town.get(f"http://[::1]:{site.port}/page").body == b"six"
    assert town.rules.asked[-1] == ("::1", "GET", ["::1"])
    assert f"host: [::1]:{site.port}" in site.requests[-1].lower()
    assert town.names.asked == ["six.example"]


def test_a_body_is_sent_when_the_method_has_one(town: Town) -> None:
    town.rules.methods = ("POST", "DELETE")
    site = town.site(page=answer(b"done", "201 Created"))
    url = f"http://site.example:{site.port}/page"
    assert town.get(url, "post", b"\x00data", headers={"Content-Type": "x/y"}).status == 201
    assert site.requests[0].endswith("\r\n\r\n\x00data")
    assert town.get(url, "DELETE").status == 201
    assert "content-length: 0" in site.requests[1].lower()


def test_a_head_has_headers_only(town: Town) -> None:
    site = town.site(page=b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\nContent-Encoding: br\r\n\r\n")
    found = town.get(f"http://site.example:{site.port}/page", "HEAD")
    assert (found.body, found.truncated, found.headers["content-length"]) == (b"", False, "99")


def test_an_error_status_is_an_answer(town: Town) -> None:
    site = town.site()
    found = town.get(f"http://site.example:{site.port}/nowhere")
    assert (found.status, found.body) == (404, b"nothing here")


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "ALL_PROXY", "https_proxy"])
def test_no_proxy_of_the_environment_is_used(town: Town, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "http://127.0.0.1:9")
    site = town.site(page=answer(b"direct"))
    assert town.get(f"http://site.example:{site.port}/page").body == b"direct"


def test_the_next_address_is_tried_when_one_does_not_answer(town: Town) -> None:
    town.names = Names({"two.example": [["::1", "127.0.0.1"]]})
    site = town.site(page=answer(b"found"))
    assert town.get(f"http://two.example:{site.port}/page").body == b"found"


# -- redirects


def test_a_redirect_is_followed_after_asking_again(town: Town) -> None:
    other = town.site(end=answer(b"there"))
    site = town.site(start=redirect(f"http://other.example:{other.port}/end"))
    found = town.get(f"http://site.example:{site.port}/start")
    assert (found.body, found.url) == (b"there", f"http://other.example:{other.port}/end")
    assert [host for host, _, _ in town.rules.asked] == ["site.example", "other.example"]


def test_a_redirect_without_a_place_is_an_answer(town: Town) -> None:
    site = town.site(start=answer(b"where to?", "302 Found"))
    assert town.get(f"http://site.example:{site.port}/start").body == b"where to?"


def test_a_redirect_to_a_host_that_is_not_allowed_is_not_followed(town: Town) -> None:
    other = town.site(end=answer(b"there"))
    site = town.site(start=redirect(f"http://other.example:{other.port}/end"))
    town.rules.hosts = ("site.example",)
    assert town.failure(f"http://site.example:{site.port}/start").kind == "not_permitted"
    assert other.requests == []


@pytest.mark.parametrize("place", ["http://169.254.169.254/latest/meta-data/", "http://metadata.example/"])
def test_a_redirect_to_the_metadata_of_a_cloud_is_refused(town: Town, place: str) -> None:
    site = town.site(start=redirect(place))
    with pytest.raises(Refused):
        town.get(f"http://site.example:{site.port}/start")


@pytest.mark.parametrize(
    "place",
    ["file:///etc/passwd", "gopher://127.0.0.1/x", "//user:pw@other.example/", "http://2130706433/",
     "\\\\other.example", "http://127.0.0.1:22/", "http://127.1/", "data:text/plain,x", "http://[fe80::1%25lo]/"],
)  # fmt: skip
def test_a_redirect_elsewhere_than_to_the_web_is_not_followed(town: Town, place: str) -> None:
    site = town.site(start=redirect(place))
    error = town.failure(f"http://site.example:{site.port}/start")
    assert error.kind == "not_permitted"
    assert len(town.rules.asked) == 1


def test_a_loop_of_redirects_ends(town: Town) -> None:
    site = town.site(start=redirect("/start"))
    assert "too many redirects" in town.failure(f"http://site.example:{site.port}/start", max_redirects=3).what
    assert len(site.requests) == 4
    assert len(town.names.asked) == 4


@pytest.mark.parametrize(
    ("status", "method", "then"),
    [
        ("301 Moved", "POST", "GET"),
        ("302 Found", "POST", "GET"),
        ("303 See Other", "POST", "GET"),
        ("303 See Other", "PUT", "GET"),
        ("303 See Other", "HEAD", "HEAD"),
        ("302 Found", "PUT", "PUT"),
        ("307 Temporary", "POST", "POST"),
        ("308 Permanent", "POST", "POST"),
    ],
)
def test_what_a_redirect_makes_of_the_method(town: Town, status: str, method: str, then: str) -> None:
    town.rules.methods = ("GET", "HEAD", "POST", "PUT")
    site = town.site(start=redirect("/end", status), end=answer(b""))
    body = b"" if method == "HEAD" else b"data"
    town.get(f"http://site.example:{site.port}/start", method, body, headers={"Content-Type": "a/b", "X-Mine": "1"})
    assert [asked[1] for asked in town.rules.asked] == [method, then]
    last = site.requests[-1]
    assert last.startswith(f"{then} /end ")
    assert last.endswith("data") is (then in ("POST", "PUT"))
    assert ("content-type" in last) is (then in ("POST", "PUT"))
    assert "x-mine: 1" in last


def test_a_kept_method_must_be_allowed_at_the_new_host_too(town: Town) -> None:
    other = town.site(end=answer(b""))
    site = town.site(start=redirect(f"http://other.example:{other.port}/end", "307 Temporary"))

    def allow(host: str, method: str, addresses: list[str]) -> Need:
        rules = Rules(methods=("POST",) if host == "site.example" else ("GET",))
        return rules(host, method, addresses)

    error = town.failure(f"http://site.example:{site.port}/start", method="POST", body=b"secret", allow=allow)
    assert error.kind == "not_permitted"
    assert other.requests == []


def test_secrets_do_not_travel_to_another_origin_nor_come_back(town: Town) -> None:
    site, other = town.site(), town.site()
    site.pages = {
        "/start": redirect("/same"),
        "/same": redirect(f"http://other.example:{other.port}/hop"),
        "/back": answer(b"end"),
    }
    other.pages = {"/hop": redirect(f"http://site.example:{site.port}/back")}
    secrets = {"Authorization": "Bearer s3cret", "X-Api-Key": "s3cret", "Accept": "text/html"}
    town.get(f"http://site.example:{site.port}/start", headers=secrets)
    first, same, back = site.requests
    assert first.count("s3cret") == same.count("s3cret") == 2
    assert "s3cret" not in other.requests[0] + back
    assert "accept: text/html" in other.requests[0]


def test_another_port_is_another_origin(town: Town) -> None:
    other = town.site(end=answer(b""))
    site = town.site(start=redirect(f"http://site.example:{other.port}/end"))
    town.get(f"http://site.example:{site.port}/start", headers={"Authorization": "Bearer s3cret"})
    assert "s3cret" not in other.requests[0]


# -- servers that mean no good


def say_nothing(_: str, sock: socket.socket) -> None:
    """Until whoever asked has gone away."""
    sock.settimeout(2 * PATIENCE_S)
    sock.recv(1)


@pytest.mark.slow
def test_a_slow_drip_ends_with_the_time_of_the_trip(town: Town) -> None:
    def drip(_: str, sock: socket.socket) -> None:
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(1000):
            sock.sendall(b"x")
            time.sleep(0.05)

    def drip_head(_: str, sock: socket.socket) -> None:
        for letter in b"HTTP/1.1 200 OK\r\nX: " + b"y" * 2000:
            sock.sendall(bytes([letter]))
            time.sleep(0.05)

    site = town.site(body=drip, head=drip_head, silent=say_nothing)
    for page in ("body", "head", "silent"):
        started = time.monotonic()
        error = town.failure(f"http://site.example:{site.port}/{page}", timeout_s=0.2)
        assert error.kind == "unavailable"
        assert "too long" in error.what
        assert time.monotonic() - started < PATIENCE_S


@pytest.mark.slow
def test_the_time_of_all_redirects_counts_together(town: Town) -> None:
    def slow(_: str, sock: socket.socket) -> None:
        time.sleep(0.15)
        sock.sendall(redirect("/start"))

    site = town.site(start=slow)
    assert "too long" in town.failure(f"http://site.example:{site.port}/start", timeout_s=0.4, max_redirects=20).what


@pytest.mark.slow
def test_a_resolver_that_hangs_is_given_up_on(town: Town) -> None:
    release = threading.Event()

    def hang(_host: str, _port: int) -> list[str]:
        release.wait(2 * PATIENCE_S)
        return []

    started = time.monotonic()
    with pytest.raises(ExecutorFailed, match="too long"):
        Web(hang, timeout_s=0.2).fetch(
            "GET", "http://site.example/", {}, max_bytes=1, allow=town.rules, screen=refuse_never
        )
    release.set()
    assert time.monotonic() - started < PATIENCE_S


@pytest.mark.slow
@pytest.mark.parametrize(("own_s", "call_s"), [(0.2, 600), (600, 0.2)])
def test_one_call_may_shorten_its_time_but_not_lengthen_it(town: Town, own_s: float, call_s: float) -> None:
    site = town.site(silent=say_nothing)
    started = time.monotonic()
    web, url = Web(town.names, timeout_s=own_s), f"http://site.example:{site.port}/silent"
    with pytest.raises(ExecutorFailed, match="too long"):
        web.fetch("GET", url, {}, max_bytes=9, allow=town.rules, screen=refuse_never, timeout_s=call_s)
    assert time.monotonic() - started < PATIENCE_S


def test_an_endless_body_is_cut(town: Town) -> None:
    def endless(chunked: bool) -> Handler:
        def send(_: str, sock: socket.socket) -> None:
            sock.sendall(b"HTTP/1.1 200 OK\r\n" + (b"Transfer-Encoding: chunked\r\n\r\n" if chunked else b"\r\n"))
            while True:
                sock.sendall(b"400\r\n" + b"x" * 1024 + b"\r\n" if chunked else b"x" * 1024)

        return send

    site = town.site(plain=endless(False), chunked=endless(True), exact=answer(b"x" * 5000))
    for page in ("plain", "chunked"):
        found = town.get(f"http://site.example:{site.port}/{page}", max_bytes=5000)
        assert (found.body, found.truncated) == (b"x" * 5000, True)
    whole = town.get(f"http://site.example:{site.port}/exact", max_bytes=5000)
    assert (len(whole.body), whole.truncated) == (5000, False)
    assert town.get(f"http://site.example:{site.port}/exact", max_bytes=0).truncated


@pytest.mark.slow
def test_headers_have_a_limit(town: Town) -> None:
    def many(_: str, sock: socket.socket) -> None:
        sock.sendall(b"HTTP/1.1 200 OK\r\n")
        while True:
            sock.sendall(b"X-Filler: " + b"y" * 1000 + b"\r\n")

    def hints(_: str, sock: socket.socket) -> None:
        while True:
            sock.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")

    def one(_: str, sock: socket.socket) -> None:
        sock.sendall(b"HTTP/1.1 200 OK\r\nX: ")
        while True:
            sock.sendall(b"y" * 1000)

    site = town.site(many=many, hints=hints, one=one)
    for page in ("many", "hints", "one"):
        assert town.failure(f"http://site.example:{site.port}/{page}").kind == "too_large"


@pytest.mark.parametrize(
    "page",
    [
        b"220 mail.example ESMTP\r\n",
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nhello!",
        b"HTTP/1.1 200 OK\r\nBad Header: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: a\x00b\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
    ],
)
def test_an_answer_that_is_none_is_an_error(town: Town, page: bytes) -> None:
    site = town.site(page=page)
    assert town.failure(f"http://site.example:{site.port}/page").kind == "failed"
