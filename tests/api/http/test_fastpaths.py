"""Fast paths and what they saved, over HTTP: what the terminal shows, and switching by the owner alone."""

from collections.abc import Callable
from typing import Any

import pytest

from api.http.served import Client
from app.turned import close, pdfs
from metnos.app import learning


@pytest.fixture
def learnt(page: Client) -> Client:
    """A page of somebody who asked for the same three times."""
    for number in range(3):
        close(page.app, number, *pdfs(f"folder{number}"))
    learning.catch_up(page.app)
    return page


def test_they_are_what_the_terminal_shows(learnt: Client, terminal: Callable[..., Any]) -> None:
    found = learnt.get("/api/fastpaths")
    (path,), (told,) = found["paths"], terminal("fastpath", "list")
    same = ("state", "reason", "passes", "agreed", "disagreed", "hits", "wrong", "plan_ms", "plan_usd")
    assert {name: path[name] for name in same} == {name: told[name] for name in same}
    assert (path["id"], path["level"], path["tools"], found["bound"]) == (told["path"], 1, ["find_files"], 0.01)
    whole, shown = learnt.get(f"/api/fastpaths/{path['id']}"), terminal("fastpath", "show", path["id"])
    assert {name: whole[name] for name in ("forms", "executors", "events")} == {
        name: shown[name] for name in ("forms", "executors", "events")
    }
    assert learnt.get("/api/savings", days=7) == terminal("stats", "--days", "7")
    assert learnt.get("/api/savings")["turns"] == 3


def test_the_owner_switches_them_and_nobody_else(learnt: Client) -> None:
    path = learnt.get("/api/fastpaths")["paths"][0]["id"]
    for other in (learnt.device("read_only"), learnt.program("full")):
        assert other.refused("POST", f"/api/fastpaths/{path}/demote")[0] == 403
        assert other.refused("POST", f"/api/fastpaths/{path}/restore")[0] == 403
    assert learnt.post(f"/api/fastpaths/{path}/demote") == {"id": path, "changed": True}
    assert learnt.post(f"/api/fastpaths/{path}/demote") == {"id": path, "changed": False}
    assert learnt.get(f"/api/fastpaths/{path}")["state"] == "demoted"
    assert learnt.post(f"/api/fastpaths/{path}/restore")["changed"] is True
    assert learnt.get(f"/api/fastpaths/{path}")["state"] == "shadow"


def test_what_is_not_there_is_not_there(learnt: Client) -> None:
    for method, path in (("GET", ""), ("POST", "/demote"), ("POST", "/restore")):
        assert learnt.refused(method, f"/api/fastpaths/zzzz{path}")[0] == 404
    for days in (0, -1, 4000, 10**40, "many"):
        assert learnt.refused("GET", "/api/savings", days=days)[0] == 422
