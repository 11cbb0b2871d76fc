"""Answers that are kept as long as nothing changed: most pages ask again for what is as it was.

Rules: only answers of endpoints that say so (`inside.KEPT`), each for whoever asked. SQLite itself says whether
anything was committed to a database since, by this process or another (``PRAGMA data_version`` of a connection that
never writes), so that whoever changed something sees it in the next answer; and after some seconds an answer is made
anew in any case, because what fades does so by the clock. Bounded in number and size.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from metnos.api.http.guard import App as Asgi
from metnos.api.http.guard import Receive, Scope, Send
from metnos.api.http.inside import KEPT, WHO
from metnos.core.errors import StoreError
from metnos.store.db import Database

KEPT_S = 5.0
_MOST = 256
_LARGEST = 4 << 20  # bytes of one answer
_BYTES = 32 << 20  # of all

Look = tuple[object, ...]


class Freshness:
    """Whether anything was committed since. For one thread."""

    def __init__(self, databases: Sequence[Path], files: Sequence[Path] = ()) -> None:
        self._paths = databases
        self._files = files
        self._open: dict[Path, Database] = {}

    def look(self) -> Look:
        """Two that are equal: nothing was committed, and no file was changed, in between."""
        return (*map(self._version, self._paths), *map(_changed, self._files))

    def close(self) -> None:
        for database in self._open.values():
            database.close()
        self._open.clear()

    def _version(self, path: Path) -> object:
        try:
            database = self._open.get(path)
            if database is None:
                if not path.exists():
                    return None  # it is made when it is first needed
                database = self._open[path] = Database(path, read_only=True)
            return database.first("PRAGMA data_version")
        except StoreError:
            return object()  # equal to nothing: whatever depends on it is made anew, and says what is wrong


def _changed(path: Path) -> object:
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_ino, status.st_size, status.st_mtime_ns)


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
        self._held: OrderedDict[tuple[str, bytes, str], _Answer] = OrderedDict()
        self._size = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope.get("method") != "GET" or not (
            path in self._paths or any(each.match(path) for each in self._patterns)
        ):
            await self._api(scope, receive, send)
            return
        key = (path, scope.get("query_string", b""), repr(scope.get(WHO)))
        look = self._look()
        held = self._held.get(key)
        if held is not None and held.look == look and self._now() - held.at < KEPT_S:
            await send({**held.start, "headers": list(held.start["headers"])})
            await send({"type": "http.response.body", "body": held.body})
            return
        start, body = await self._ask(scope, receive, send)
        if start and start["status"] == 200 and len(body) <= _LARGEST:
            self._keep(key, _Answer(look, self._now(), start, body))

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

    def _keep(self, key: tuple[str, bytes, str], answer: _Answer) -> None:
        self._drop(key)
        self._held[key] = answer
        self._size += len(answer.body)
        while len(self._held) > _MOST or self._size > _BYTES:
            self._drop(next(iter(self._held)))

    def _drop(self, key: tuple[str, bytes, str]) -> None:
        gone = self._held.pop(key, None)
        if gone is not None:
            self._size -= len(gone.body)
