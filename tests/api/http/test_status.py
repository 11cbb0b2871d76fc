"""How it stands, and word of every change: one look for however many listen."""

import threading

from starlette.requests import Request

from api.http.served import Client, Served
from api.standin import until
from metnos import __version__
from metnos.api.http.status import _watcher
from metnos.api.http.watch import Watcher
from metnos.night.notices import News, Notices


def test_it_says_how_it_stands_to_everybody_who_may_look(page: Client) -> None:
    said = page.get("/api/status")
    assert said == {
        "version": __version__,
        "workspace": str(page.app.workspace.root),
        "owner_level": "full",
        "may_decide": True,
        "autonomy": "supervised",
        "halted": None,
        "stopped": None,
        "waiting": 0,
        "unseen": 0,
        "turns_running": 0,
        "model": {"main": None, "fast": None},
    }
    page.ask("create a folder called garden")
    Notices(page.app.night_db, page.app.clock).tell([News("test", "look")])
    said = page.get("/api/status")
    assert (said["waiting"], said["unseen"], said["turns_running"]) == (1, 1, 0)
    looking = page.device("read_only").get("/api/status")
    assert (looking["owner_level"], looking["may_decide"]) == ("read_only", False)
    assert page.program().get("/api/status")["may_decide"] is False


def test_whoever_listens_hears_how_it_is_and_then_every_change(page: Client) -> None:
    with page.stream("/api/events") as events:
        assert next(events) == {"event": "changed", "waiting": 0, "unseen": 0}
        Notices(page.app.night_db, page.app.clock).tell([News("test", "look")])
        told = next(event for event in events if event["unseen"])
        assert told == {"event": "changed", "waiting": 0, "unseen": 1}


def watcher(served: Served) -> Watcher:
    return _watcher(Request({"type": "http", "app": served.api}))


def test_all_listeners_share_one_look_and_it_ends_with_the_last_of_them(served: Served, page: Client) -> None:
    def watching() -> int:
        return sum(thread.name == "watch" for thread in threading.enumerate())

    with page.stream("/api/events") as one, page.stream("/api/events") as other:
        assert next(one) == next(other)
        assert (watcher(served).listeners, watching()) == (2, 1)
    until(lambda: not watching())
    assert watcher(served).listeners == 0
    with page.stream("/api/events") as again:
        assert next(again)["event"] == "changed"
