"""The arena over HTTP: what the terminal shows."""

from collections.abc import Callable
from typing import Any

from api.http.served import Client


def test_it_is_what_the_terminal_shows(page: Client, terminal: Callable[..., Any]) -> None:
    assert page.get("/api/arena") == {"goals": []}
    page.ask("find the PDFs in ~")
    goals = page.get("/api/arena")["goals"]
    assert goals == terminal("arena") != []
    goal = goals[0]["goal"]
    assert page.get("/api/arena", goal=goal) == terminal("arena", goal)
    assert page.refused("GET", "/api/arena", goal="knit jumpers")[0] == 404
    for odd in ("a\0b", "%", "\U0001f9f6" * 50, "' OR 1=1 --"):
        assert page.refused("GET", "/api/arena", goal=odd)[0] in (404, 422)
    assert page.refused("GET", "/api/arena", goal="x" * 300)[0] == 422
