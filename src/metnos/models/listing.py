"""Asking a server which models it has.

Rules: one GET of its list and nothing else; no proxy, no redirect; the time limit is for the whole answer, however
slowly it drips, and the answer has a size limit. Names are untrusted: long ones are dropped, and few are enough.
"""

import json
import time
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

_MOST_BYTES = 4 << 20
_MOST_NAMES = 500
_LONGEST_NAME = 200
_CHUNK = 1 << 16


class NoList(Exception):
    """Why there is no list, in a few words."""


class _StayPut(HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def list_models(url: str, key: str = "", *, timeout_s: float, anthropic: bool = False) -> tuple[str, ...]:
    """The names of the models at ``url``. Raises `NoList`."""
    headers = {"Accept": "application/json", "User-Agent": "metnos"}
    if key:
        headers |= {"x-api-key": key} if anthropic else {"Authorization": f"Bearer {key}"}
    if anthropic:
        headers["anthropic-version"] = "2023-06-01"
    address = f"{url.rstrip('/')}{'/v1' if anthropic else ''}/models"
    try:
        return _names(json.loads(_get(address, headers, timeout_s)))
    except (URLError, HTTPException, OSError, ValueError, RecursionError) as error:
        reason = _reason(error)
    raise NoList(reason)


def _get(address: str, headers: dict[str, str], timeout_s: float) -> bytes:
    # Built for each call: no proxy from the environment may carry the request out of the house.
    opener = build_opener(ProxyHandler({}), _StayPut)
    deadline = time.monotonic() + timeout_s
    body = b""
    request = Request(address, headers=headers)  # noqa: S310 -- http(s) only: the setting's pattern
    with opener.open(request, timeout=timeout_s) as answer:
        while chunk := answer.read1(_CHUNK):
            body += chunk
            if len(body) > _MOST_BYTES:
                raise ValueError("too long")
            if time.monotonic() > deadline:
                raise TimeoutError("timed out")
    return body


def _names(data: Any) -> tuple[str, ...]:
    listed = data["data"] if isinstance(data, dict) and isinstance(data.get("data"), list) else None
    if listed is None:
        raise ValueError("no list of models")
    names = [entry["id"] for entry in listed if isinstance(entry, dict) and isinstance(entry.get("id"), str)]
    return tuple(name for name in names if 0 < len(name) <= _LONGEST_NAME)[:_MOST_NAMES]


def _reason(error: Exception) -> str:
    if isinstance(error, HTTPError):
        error.close()
        return f"HTTP {error.code}"
    if isinstance(error, URLError):
        return str(getattr(error.reason, "strerror", None) or error.reason)
    if isinstance(error, ValueError | RecursionError):
        return "that is not an OpenAI-compatible server"
    return str(error) or type(error).__name__
