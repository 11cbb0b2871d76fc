from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.errors import ExecutorFailed
from metnos.sandbox import web_head, web_url
from sandbox.websites import Town, answer


@pytest.fixture
def town() -> Iterator[Town]:
    with ExitStack() as stack:
        yield Town(stack)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "other.example"}, {"content-length": "3"}, {"Connection": "keep-alive"}, {"TE": "x"},
        {"Proxy-Authorization": "x"}, {"Cookie": "a=b"}, {"Upgrade": "h2c"}, {"Expect": "1"},
        {"Transfer-Encoding": "chunked"},
        {"Accept-Encoding": "br"}, {"X-HTTP-Method-Override": "DELETE"}, {"x-method-override": "DELETE"},
        {"X": "a\r\nHost: evil"}, {"X": "a\nb"}, {"X": "a\0b"}, {"X\r\nY": "b"}, {"X Y": "b"}, {"": "x"}, {"X:": "x"},
        {"X": "\u2713"}, {"X": 3}, {3: "x"}, {"X": "1", "x": "2"}, {"X-Forwarded-For": "1.2.3.4"},
    ],
)  # fmt: skip
def test_headers_that_are_not_the_callers(town: Town, headers: dict[Any, Any]) -> None:
    site = town.site(page=answer(b"x"))
    assert town.failure(f"http://site.example:{site.port}/page", headers=headers).kind == "invalid"
    assert site.requests == []


@given(st.dictionaries(st.text(max_size=12), st.text(max_size=20), max_size=4))
def test_no_header_ever_breaks_out_of_its_line(headers: dict[str, str]) -> None:
    try:
        checked = web_head.check_headers(headers)
    except ExecutorFailed:
        return
    url = web_url.parse("http://a.example/")
    lines = web_head.request_headers(url, "POST", checked, b"x")
    names = [name for name, _ in lines]
    assert len(set(names)) == len(names)
    assert all(not set(name + value) & set(b"\r\n\0") for name, value in lines)
    assert dict(lines)[b"host"] == b"a.example"
    assert dict(lines)[b"content-length"] == b"1"


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"method": "TRACE"}, "invalid"),
        ({"method": "CONNECT"}, "invalid"),
        ({"method": "GET / HTTP/1.1\r\nX: y\r\n\r\nGET"}, "invalid"),
        ({"body": b"x"}, "invalid"),
        ({"method": "POST", "body": bytes(17 << 20)}, "too_large"),
        ({"headers": {f"X-{n}": "y" for n in range(70)}}, "too_large"),
        ({"headers": {"X": "y" * 40_000}}, "too_large"),
        ({"max_bytes": -1}, "invalid"),
        ({"max_bytes": True}, "invalid"),
        ({"max_bytes": 1.5}, "invalid"),
    ],
)
def test_requests_that_cannot_be_made(town: Town, options: dict[str, Any], kind: str) -> None:
    assert town.failure("http://site.example/", **options).kind == kind
    assert town.names.asked == []
