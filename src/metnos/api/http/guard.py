"""The door of the HTTP face: who it is that asks, and whether the request may come in at all.

In this order: is it meant for us (`guard_rules.refused_as_such`) → how often → who → from a page of ours → what it
brings. Whatever goes wrong on the way is a no. What comes in carries who asks in its scope; nothing else ever says so.
Every answer carries the headers that keep foreign content inert.

Does not guarantee anything against another program of this very account, which can read the workspace itself.
"""

import asyncio
import json
import time
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from metnos.api.http import guard_rules as rules
from metnos.api.http.exchange import App, Exchange, Receive, Scope, Send, Streams
from metnos.api.http.guard_rules import No, Place
from metnos.api.http.inside import TOKEN, WHO
from metnos.api.http.rate import Buckets, Rate
from metnos.core.errors import MetnosError
from metnos.law.pairing import Device, Pairing
from metnos.law.principal import Channel

__all__ = ["LIMITS", "App", "Guard", "Limits", "Receive", "Scope", "Send"]

_LOCKED = "/locked"
_BOUNCE = (
    b'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/"><title>Metnos</title>'
    b'<p><a href="/">Metnos</a></p>'
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How often: reading and changing, of one device; anything, of a stranger."""

    read: Rate
    write: Rate
    stranger: Rate
    enter: Rate  # wrong links


LIMITS = Limits(Rate(200, 400), Rate(10, 40), Rate(20, 100), Rate(0.2, 10))


class Guard:
    """Stands before everything that is served."""

    def __init__(
        self,
        app: App,
        pairing: Callable[[], Pairing],
        place: Callable[[], Place],
        limits: Limits = LIMITS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._pairing = pairing
        self._place = place
        self._read, self._write = Buckets(limits.read, now), Buckets(limits.write, now)
        self._stranger, self._enter = Buckets(limits.stranger, now), Buckets(limits.enter, now)
        self._streams = Streams()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return  # neither web sockets nor anything else is served
        for name in (WHO, TOKEN):
            scope.pop(name, None)
        headers = _headers(scope)
        send = _with_headers(send, rules.inert(headers))
        method, path = str(scope["method"]), str(scope["path"])
        no = rules.refused_as_such(self._place(), method, path, scope.get("query_string", b""), headers)
        if no is not None:
            await _say(send, no)
        elif path == "/enter":
            await self._let_in(scope, send, headers)
        else:
            await self._known(scope, receive, send, headers)

    async def _known(self, scope: Scope, receive: Receive, send: Send, headers: dict[str, list[str]]) -> None:
        method, path = str(scope["method"]), str(scope["path"])
        secret, program = rules.cookie(headers), rules.bearer(headers)
        device = self._device(secret, program)
        no = self._too_often(scope, method, device) or self._why_not(method, path, headers, secret, device)
        if no is not None and no.status == 401 and "text/html" in headers.get("accept", [""])[0]:
            scope["path"], scope["raw_path"] = _LOCKED, _LOCKED.encode()
        elif no is not None:
            await _say(send, no)
            return
        if device is not None:
            if self._pairing().is_stale(device):
                await asyncio.to_thread(self._pairing().touch, device)
            scope[WHO], scope[TOKEN] = device.principal, rules.token_of(secret) if secret else ""
        still_in = partial(self._is_in, secret, program)
        no = await Exchange(receive, send, self._streams, device, still_in).run(self._app, scope)
        if no is not None:
            await _say(send, no, close=no.closes)

    def _is_in(self, secret: str, program: str) -> bool:
        return self._device(secret, program) is not None

    def _device(self, secret: str, program: str) -> Device | None:
        """Who it is. Beside a program's secret a cookie does not count."""
        if program:
            return self._pairing().by_secret(program, Channel.API)
        return self._pairing().by_secret(secret, Channel.WEB) if secret else None

    def _too_often(self, scope: Scope, method: str, device: Device | None) -> No | None:
        bucket = self._stranger if device is None else self._read if method in rules.SAFE else self._write
        wait = bucket.take(_from(scope) if device is None else device.id)
        return No(429, "too many requests", f"Come again in {max(1, round(wait))} s.") if wait else None

    def _why_not(
        self, method: str, path: str, headers: dict[str, list[str]], secret: str, device: Device | None
    ) -> No | None:
        if device is None and not rules.is_open(path) and path != "/api/pair":
            return No(401, "nobody is signed in here", "Open the link that `metnos open` prints.")
        if device is not None and device.channel is not Channel.WEB and not rules.is_for_programs(method, path):
            return No(403, "programs may not use this", "docs/web.md lists what they may.")
        if device is not None and device.channel is Channel.WEB:
            no = rules.refused_from_page(self._place(), method, headers, rules.token_of(secret))
            if no is not None:
                return no
        elif device is None and method not in rules.SAFE:
            origins = headers.get("origin", [])
            if any(each not in self._place().origins for each in origins):
                return No(403, "another page sent this", "Open Metnos in a window of its own.")
        return rules.refused_content(method, headers)

    # -- getting in

    async def _let_in(self, scope: Scope, send: Send, headers: rules.Headers) -> None:
        """A one-time link: its code becomes a session, and the address bar forgets it."""
        if scope["method"] != "GET":
            await _say(send, No(405, "a link is opened, and nothing else"))
            return
        query = bytes(scope.get("query_string", b""))[:1024].decode("ascii", "replace")
        code = query.removeprefix("key=") if query.startswith("key=") else ""
        try:
            device, secret = await asyncio.to_thread(self._pairing().redeem, code, Channel.WEB)
        except MetnosError:
            # Only what was wrong counts: behind a proxy all come from one address, and a right code is nobody's guess.
            wait = self._enter.take(_from(scope))
            if wait:
                await _say(send, No(429, "too many tries", f"Come again in {max(1, round(wait))} s."))
            else:
                await _redirect(send, "/locked?why=link")
            return
        seconds = int((device.expires - device.created).total_seconds())
        cookie = rules.set_cookie(secret, self._place(), seconds)
        if rules.is_from_elsewhere(headers):
            await _bounce(send, cookie)
        else:
            await _redirect(send, "/", cookie)


def _headers(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _from(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def _with_headers(send: Send, inert: rules.Given) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = rules.carried(message.get("headers", ()), inert)
        await send(message)

    return sending


async def _say(send: Send, no: No, *, close: bool = False) -> None:
    body = json.dumps({"error": {"type": "Refused", "what": no.what, "fix": no.fix}}).encode()
    kept = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if no.status == 429:
        kept.append((b"retry-after", b"1"))
    if close:
        kept.append((b"connection", b"close"))
    if no.status == 405:
        kept.append((b"allow", ", ".join(sorted(rules.METHODS)).encode()))
    await send({"type": "http.response.start", "status": no.status, "headers": kept})
    await send({"type": "http.response.body", "body": body})


async def _redirect(send: Send, target: str, cookie: str = "") -> None:
    kept = [(b"location", target.encode()), (b"content-length", b"0")]
    if cookie:
        kept.append((b"set-cookie", cookie.encode()))
    await send({"type": "http.response.start", "status": 303, "headers": kept})
    await send({"type": "http.response.body", "body": b""})


async def _bounce(send: Send, cookie: str) -> None:
    """What a browser gets that follows a link on a page elsewhere: a page of ours, from which it then comes to us.

    A redirect would count as that other page's doing, and the browser would keep the cookie back.
    """
    kept = [
        (b"content-type", b"text/html; charset=utf-8"),
        (b"content-length", str(len(_BOUNCE)).encode()),
        (b"set-cookie", cookie.encode()),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": kept})
    await send({"type": "http.response.body", "body": _BOUNCE})
