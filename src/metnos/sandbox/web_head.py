"""The headers of a request and of an answer: what an executor may say, and what it gets to see.

Rules: what frames a message (Host, lengths, encodings, connections), what keeps state (cookies) and what would smuggle
another method past the policy is Metnos's to say, never the caller's; nothing with a line break, a zero byte or another
control character is sent; beyond the first origin only headers that hold no secret go along.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from metnos import __version__
from metnos.core.errors import ExecutorFailed
from metnos.sandbox.web_body import ACCEPTED
from metnos.sandbox.web_url import Url

METHODS = frozenset(("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"))
BODILESS = frozenset(("GET", "HEAD", "OPTIONS"))

_MOST_HEADERS = 64
_MOST_CHARACTERS = 32 * 1024
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_RESERVED = frozenset(
    ("accept-encoding", "connection", "content-length", "cookie", "cookie2", "date", "expect", "forwarded", "host",
     "http2-settings", "keep-alive", "origin", "te", "trailer", "transfer-encoding", "upgrade", "via", "x-http-method",
     "x-http-method-override", "x-method-override")
)  # fmt: skip
_TRAVELS = frozenset(("accept", "accept-language", "content-type", "range", "user-agent"))
_UNSEEN = frozenset(("set-cookie", "set-cookie2"))

Raw = Sequence[tuple[bytes, bytes]]


def check_headers(headers: Mapping[Any, Any]) -> dict[str, str]:
    """What the caller wants to say, names in small letters, or `ExecutorFailed` of kind ``invalid``."""
    checked: dict[str, str] = {}
    for name, value in headers.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise _invalid("a header's name holds a character that it may not hold")
        small = name.lower()
        if small in _RESERVED or small.startswith(("proxy-", "sec-", "x-forwarded-")):
            raise _invalid(f"the header {small} is not the caller's to set")
        if not isinstance(value, str) or not _VALUE.fullmatch(value):
            raise _invalid(f"the header {small} holds a line break or a character that it may not hold")
        if small in checked:
            raise _invalid(f"the header {small} is there twice")
        checked[small] = value.strip()
    if len(checked) > _MOST_HEADERS or sum(map(len, (*checked, *checked.values()))) > _MOST_CHARACTERS:
        raise ExecutorFailed("the request's headers are too large", kind="too_large", fix="Send fewer of them.")
    return checked


def check_method(method: Any, body: bytes, most: int) -> str:
    """The method in capitals, if it is one and may carry this body."""
    name = method.upper() if isinstance(method, str) else ""
    if name not in METHODS:
        raise _invalid("this is no HTTP method that Metnos uses")
    if body and name in BODILESS:
        raise _invalid(f"a {name} carries no body")
    if len(body) > most:
        raise ExecutorFailed(f"the request's body is larger than {most} bytes", kind="too_large")
    return name


def request_headers(url: Url, method: str, own: Mapping[str, str], body: bytes) -> list[tuple[bytes, bytes]]:
    """Every header of one request, ours first."""
    ours = {"host": url.authority, "accept-encoding": ACCEPTED, "connection": "close"}
    if method not in BODILESS:
        ours["content-length"] = str(len(body))
    usual = {"accept": "*/*", "user-agent": f"Metnos/{__version__}"}
    return [(name.encode("ascii"), value.encode("latin-1")) for name, value in (ours | usual | dict(own)).items()]


def headers_after(own: Mapping[str, str], *, same_origin: bool, keeps_body: bool) -> dict[str, str]:
    """What goes along over a redirect."""
    return {
        name: value
        for name, value in own.items()
        if (same_origin or name in _TRAVELS) and (keeps_body or not name.startswith("content-"))
    }


def shown_headers(raw: Raw, *, unpacked: bool) -> dict[str, str]:
    """The answer's headers for the caller: small letters, repeated ones joined, no cookies."""
    hidden = _UNSEEN | {"content-encoding", "content-length"} if unpacked else _UNSEEN
    shown: dict[str, str] = {}
    for name, value in raw:
        small, text = name.decode("latin-1").lower(), value.decode("latin-1")
        if small not in hidden:
            shown[small] = f"{shown[small]}, {text}" if small in shown else text
    return shown


def first(raw: Raw, wanted: str) -> str:
    """One header's first value, or nothing. UTF-8 if it is that: browsers read addresses so."""
    for name, value in raw:
        if name.lower() == wanted.encode("ascii"):
            try:
                return value.decode("utf-8")
            except UnicodeDecodeError:
                return value.decode("latin-1")
    return ""


def _invalid(what: str) -> ExecutorFailed:
    return ExecutorFailed(what, kind="invalid", fix="Leave it out, or correct it.")
