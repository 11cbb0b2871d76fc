"""Answers are kept as long as nothing was committed, for whoever asked, and not for long."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from metnos.api.http import cache
from metnos.api.http.build import ROUTERS
from metnos.api.http.cache import Cache
from metnos.api.http.inside import KEPT, WHO
from metnos.law.principal import Autonomy, Channel, Principal
from metnos.store.db import Database
from metnos.store.freshness import Freshness
from metnos.store.migrations import Migration

ONE, OTHER = (Principal(Channel.WEB, name, Autonomy.FULL) for name in ("one", "other"))
TABLE = (Migration("0001_t", ("CREATE TABLE t (n INTEGER) STRICT",)),)


class Time:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Asked:
    """An API that counts how often it is asked, with what keeps its answers."""

    def __init__(self, folder: Path) -> None:
        self.db = Database(folder / "a.db", TABLE)
        self.fresh = Freshness((folder / "a.db", folder / "later.db"), (folder / "settings",))
        self.time = Time()
        self.count = 0
        api = FastAPI()

        @api.get("/api/kept", openapi_extra=KEPT)
        def kept(n: int = 0) -> dict[str, int]:
            self.count += 1
            return {"n": n, "count": self.count}

        @api.get("/api/kept/{name}", openapi_extra=KEPT)
        def named(name: str) -> dict[str, int]:
            self.count += 1
            return {"count": self.count}

        @api.get("/api/wrong", openapi_extra=KEPT, status_code=503)
        def wrong() -> None:
            self.count += 1

        @api.get("/api/other")
        def other() -> dict[str, int]:
            self.count += 1
            return {"count": self.count}

        self.cache = Cache(api, api.routes, self.fresh.look, self.time)

    def get(self, path: str, who: Principal = ONE, query: bytes = b"") -> bytes:
        return asyncio.run(self.getting(path, who, query))

    async def getting(self, path: str, who: Principal = ONE, query: bytes = b"") -> bytes:
        parts: list[bytes] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": b""}

        async def send(message: Any) -> None:
            parts.append(message.get("body", b""))

        scope = {"type": "http", "method": "GET", "path": path, "query_string": query, "headers": [], WHO: who}
        await self.cache(scope, receive, send)
        return b"".join(parts)


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    return Asked(tmp_path)


def test_the_same_question_is_asked_once(asked: Asked) -> None:
    assert asked.get("/api/kept") == asked.get("/api/kept")
    assert asked.count == 1
    asked.get("/api/kept/x")
    asked.get("/api/kept/x")
    assert asked.count == 2


def test_a_commit_of_anybody_makes_it_anew(asked: Asked, tmp_path: Path) -> None:
    asked.get("/api/kept")
    with asked.db.write() as tx:
        tx.execute("INSERT INTO t VALUES (1)")
    asked.get("/api/kept")
    assert asked.count == 2
    with Database(tmp_path / "later.db", TABLE).write() as tx:  # one that was not there before
        tx.execute("INSERT INTO t VALUES (1)")
    asked.get("/api/kept")
    (tmp_path / "settings").write_text("x")
    asked.get("/api/kept")
    assert asked.count == 4


def test_requests_that_are_here_together_share_a_look_and_later_ones_do_not(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[object] = []
    look = asked.fresh.look
    monkeypatch.setattr(asked.cache, "_look", lambda: looks.append(1) or look())

    async def talk() -> None:
        await asked.getting("/api/kept")
        looks.clear()
        await asyncio.gather(*(asked.getting("/api/kept") for _ in range(8)))
        assert (len(looks), asked.count) == (1, 1)
        with asked.db.write() as tx:
            tx.execute("INSERT INTO t VALUES (1)")
        await asked.getting("/api/kept")  # whoever asks after a change sees it
        assert (len(looks), asked.count) == (2, 2)
        await asked.getting("/api/other")
        with asked.db.write() as tx:
            tx.execute("INSERT INTO t VALUES (1)")
        await asked.getting("/api/kept")
        assert asked.count == 4

    asyncio.run(talk())


def test_what_was_taken_back_changes_nothing(asked: Asked) -> None:
    asked.get("/api/kept")
    with pytest.raises(RuntimeError), asked.db.write() as tx:
        tx.execute("INSERT INTO t VALUES (1)")
        raise RuntimeError
    asked.get("/api/kept")
    assert asked.count == 1


def test_after_some_seconds_it_is_made_anew(asked: Asked) -> None:
    asked.get("/api/kept")
    asked.time.now = cache.KEPT_S
    asked.get("/api/kept")
    assert asked.count == 2


def test_others_other_questions_and_other_endpoints_have_their_own(asked: Asked) -> None:
    for who in (ONE, OTHER):
        for query in (b"", b"n=1"):
            asked.get("/api/kept", who, query)
    assert asked.count == 4
    asked.get("/api/other")
    asked.get("/api/other")
    assert asked.count == 6


def test_what_went_wrong_is_not_kept(asked: Asked) -> None:
    asked.get("/api/wrong")
    asked.get("/api/wrong")
    assert asked.count == 2


def test_it_does_not_grow_for_ever(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_MOST", 3)
    for number in range(9):
        asked.get("/api/kept", query=f"n={number}".encode())
    assert len(asked.cache._held) == 3
    monkeypatch.setattr(cache, "_BYTES", 0)
    asked.get("/api/kept")
    assert (asked.cache._size, len(asked.cache._held)) == (0, 0)


def test_the_endpoints_that_say_so_are_found() -> None:
    kept = Cache(lambda *_: None, (route for router in ROUTERS for route in router.routes), lambda: ())  # type: ignore[arg-type,return-value]
    assert {"/api/status", "/api/inbox", "/api/executors", "/api/mnestome"} <= kept._paths
