"""Answers that are kept as long as nothing changed: most pages ask again for what is as it was.

Rules: only answers of endpoints that say so (`inside.KEPT`), each for whoever asked. SQLite itself says whether
anything was committed since (`store.freshness`), so that whoever changed something sees it in the next answer; and
after some seconds an answer is made anew in any case, because what fades does so by the clock. Bounded in number and
size.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from metnos.api.http.guard import App as Asgi
from metnos.api.http.guard import Receive, Scope, Send
from metnos.api.http.inside import KEPT, WHO
from metnos.law.principal import Principal
from metnos.store.freshness import Look

KEPT_S = 5.0
_MOST = 256
_LARGEST = 4 << 20  # bytes of one answer
_BYTES = 32 << 20  # of all


_Key = tuple[str, bytes, Principal | None]


@dataclass(frozen=True, slots=True)
class _Answer:
    look: Look
    at: float
    start: dict[str, Any]
    body: bytes


class Cache:
    """Stands before the API and answers what it can."""

    def __init__(
        self,
        api: Asgi,
        routes: Iterable[BaseRoute],
        look: Callable[[], Look],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._api = api
        self._look = look
        self._now = now
        kept = [each for each in routes if isinstance(each, APIRoute) and each.openapi_extra == KEPT]
        self._paths = frozenset(each.path for each in kept)
        self._patterns = tuple(each.path_regex for each in kept if each.param_convertors)
        self._held: OrderedDict[_Key, _Answer] = OrderedDict()
        self._size = 0
        self._looked: Look | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope.get("method") != "GET" or not (
            path in self._paths or any(each.match(path) for each in self._patterns)
        ):
            await self._api(scope, receive, send)
            self._looked = None  # it may have changed something
            return
        key = (path, scope.get("query_string", b""), scope.get(WHO))
        look = self._now_looked()
        held = self._held.get(key)
        if held is not None and held.look == look and self._now() - held.at < KEPT_S:
            await send({**held.start, "headers": list(held.start["headers"])})
            await send({"type": "http.response.body", "body": held.body})
            return
        start, body = await self._ask(scope, receive, send)
        if start and start["status"] == 200 and len(body) <= _LARGEST:
            self._keep(key, _Answer(look, self._now(), start, body))

    def _now_looked(self) -> Look:
        """One look for all requests that are here already: whoever asked after a change asks later, and looks anew."""
        if self._looked is None:
            self._looked = self._look()
            asyncio.get_running_loop().call_soon(self._forget)  # after those whose turn it is now
        return self._looked

    def _forget(self) -> None:
        self._looked = None

    async def _ask(self, scope: Scope, receive: Receive, send: Send) -> tuple[dict[str, Any], bytes]:
        start: dict[str, Any] = {}
        parts: list[bytes] = []

        async def hearing(message: Any) -> None:
            if message["type"] == "http.response.start":
                start.update({**message, "headers": list(message["headers"])})
            else:
                parts.append(message.get("body", b""))
            await send(message)

        await self._api(scope, receive, hearing)
        return start, b"".join(parts)

    def _keep(self, key: _Key, answer: _Answer) -> None:
        self._drop(key)
        self._held[key] = answer
        self._size += len(answer.body)
        while len(self._held) > _MOST or self._size > _BYTES:
            self._drop(next(iter(self._held)))

    def _drop(self, key: _Key) -> None:
        gone = self._held.pop(key, None)
        if gone is not None:
            self._size -= len(gone.body)
