"""A model from its publisher's hub, over HTTPS.

Rules: HTTPS only (plain HTTP only to this very machine, for tests), redirects included; goes on with a range request
where the partial file ends; a server that does not know ranges begins anew. No proxy of the environment is used: where
one is needed, the registry's own program knows it.
"""

import time
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from metnos.models.address import on_this_machine
from metnos.models.fetch_source import Partial, SourceFailed
from metnos.models.pins import Pin

_SILENCE_S = 20.0
_CHUNK = 1 << 20
_SLOW_AFTER_S = 60.0
_SLOWEST = 10_000  # bytes a second; below this, another source is better


class _FollowSafely(HTTPRedirectHandler):
    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Request | None:
        _require_safe(newurl)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def fill(pin: Pin, partial: Partial) -> None:
    """Add what is missing. Raises `SourceFailed`."""
    if not pin.hub:
        raise SourceFailed("it is not there")
    if not partial.missing:
        return
    _require_safe(pin.hub)
    try:
        _download(pin.hub, partial)
    except HTTPError as error:
        error.close()
        raise SourceFailed(f"HTTP {error.code}") from None
    except URLError as error:
        raise SourceFailed(str(getattr(error.reason, "strerror", None) or error.reason)) from None
    except (HTTPException, TimeoutError, ConnectionError) as error:
        raise SourceFailed(str(error) or type(error).__name__) from None
    if partial.missing:
        raise SourceFailed("the connection ended too early")


def _download(url: str, partial: Partial) -> None:
    headers = {"User-Agent": "metnos", "Accept-Encoding": "identity"}
    if partial.done:
        headers["Range"] = f"bytes={partial.done}-"
    request = Request(url, headers=headers)  # noqa: S310 -- checked by `_require_safe`
    with build_opener(ProxyHandler({}), _FollowSafely).open(request, timeout=_SILENCE_S) as answer:
        ours = f"bytes {partial.done}-"
        if partial.done and not (answer.status == 206 and answer.headers.get("Content-Range", "").startswith(ours)):
            if answer.status != 200:
                raise SourceFailed(f"HTTP {answer.status} to a request for the rest")
            partial.restart()
        begun, before = time.monotonic(), partial.done
        while partial.missing and (chunk := answer.read1(_CHUNK)):
            partial.add(chunk[: partial.missing])
            spent = time.monotonic() - begun
            if spent > _SLOW_AFTER_S and (partial.done - before) / spent < _SLOWEST:
                raise SourceFailed("it is too slow")
    partial.flush()


def _require_safe(url: str) -> None:
    if not (url.startswith("https://") or (url.startswith("http://") and on_this_machine(url))):
        raise SourceFailed("it leads to an address that is not safe")
