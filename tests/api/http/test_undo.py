"""Taking back and doing again over HTTP: files really move, and only the owner moves them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from api.http.served import Client


def test_what_was_done_is_taken_back_and_done_again(page: Client, terminal: Callable[..., Any]) -> None:
    home = Path.home()
    (home / "notes.txt").write_text("kept")
    (home / "archive").mkdir()
    last = page.ask("move ~/notes.txt to ~/archive", lambda _: "yes")
    assert (last["state"], (home / "archive/notes.txt").read_text()) == ("done", "kept")

    (action,) = page.get("/api/undo")["actions"]
    (listed,) = terminal("undo", "--list")
    assert (action["id"], action["title"], action["when"]) == (listed["id"], listed["title"], listed["ts"])
    assert (action["can_undo"], action["can_redo"], action["turn"]) == (True, False, last["turn"])
    would = page.get(f"/api/undo/{action['id']}")["lines"]

    done = page.post(f"/api/undo/{action['id']}")
    assert (done["state"], done["lines"], done["can_redo"]) == ("undone", would, True)
    assert (home / "notes.txt").read_text() == "kept"
    assert page.refused("POST", f"/api/undo/{action['id']}")[0] == 400  # it is undone already

    assert page.post(f"/api/redo/{action['id']}")["state"] == "redone"
    assert (home / "archive/notes.txt").read_text() == "kept"

    (home / "notes.txt").write_text("in the way")
    status, words = page.refused("POST", f"/api/undo/{action['id']}")
    assert (status, "nothing was changed" in words) == (400, True)
    assert (home / "archive/notes.txt").read_text() == "kept"


def test_nobody_else_takes_anything_back(page: Client) -> None:
    page.ask("create a folder called garden", lambda _: "yes")
    (action,) = page.get("/api/undo")["actions"]
    assert page.device("read_only").get("/api/undo")["actions"] == [action]
    assert page.program("full").refused("GET", "/api/undo")[0] == 403
    for other in (page.device("read_only"), page.program("full")):
        assert other.refused("POST", f"/api/undo/{action['id']}")[0] == 403
        assert other.refused("POST", f"/api/redo/{action['id']}")[0] == 403
    assert (Path.home() / "garden").is_dir()
    assert page.refused("POST", "/api/undo/01NOSUCHACTION")[0] == 404
    assert page.refused("GET", "/api/undo/01NOSUCHACTION")[0] == 404
    assert page.refused("GET", "/api/undo", limit="9" * 400)[0] == 422
