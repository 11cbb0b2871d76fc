"""What was asked and done before, and why, over HTTP: the same as at the terminal."""

from collections.abc import Callable
from typing import Any

from api.http.served import Client
from app.turned import close, pdfs


def test_a_turn_is_explained_as_at_the_terminal(page: Client, terminal: Callable[..., Any]) -> None:
    page.ask("create a folder called garden", lambda _: "yes")
    (listed,) = page.get("/api/turns")["turns"]
    assert (listed["text"], listed["state"], listed["executors"]) == (
        "create a folder called garden",
        "done",
        ["make_folders"],
    )
    assert listed["wall_ms"] > 0
    whole = page.get(f"/api/turns/{listed['id']}")
    why, shown = terminal("why", listed["id"]), terminal("turns", "show", listed["id"])
    same = ("path", "plan", "candidates", "memories", "conversation", "closed", "error", "feedback")
    assert {name: whole[name] for name in same} == {name: why[name] for name in same}
    assert (whole["answer"], whole["costs"]["calls"]) == (shown["answer"], why["cost"]["calls"])
    (step,), (told,), (permit,) = whole["steps"], shown["steps"], why["permits"]
    assert {name: step[name] for name in ("number", "executor", "version", "args", "ok", "action", "audit")} == {
        name: told[name] for name in ("number", "executor", "version", "args", "ok", "action", "audit")
    }
    assert (step["because"], step["permit"]) == (permit["because"], permit.get("why", []))
    assert whole["how"][0] == "Planned by fixed rules, without a language model."
    assert step["undone"] is False
    page.post(f"/api/undo/{step['action']}")
    assert page.get(f"/api/turns/{listed['id']}")["steps"][0]["undone"] is True


def test_pages_follow_one_another_without_a_gap(page: Client) -> None:
    turns = [close(page.app, number, *pdfs("garden")) for number in range(5)][::-1]
    seen, before = [], ""
    while before is not None:
        found = page.get("/api/turns", limit=2, before=before)
        seen += [each["id"] for each in found["turns"]]
        before = found["next"]
        close(page.app, 100 + len(seen), *pdfs("later"))  # what is asked meanwhile comes in front
    assert seen == turns
    assert [each["id"] for each in page.get("/api/turns", conversation=turns[0])["turns"]] == turns[:1]


def test_what_the_owner_thinks_counts_and_others_thoughts_do_not(page: Client) -> None:
    turn = close(page.app, 1, *pdfs("garden"))
    said = page.post(f"/api/turns/{turn}/feedback", good=False, reason="the wrong folder")
    assert (said["good"], said["note"]) == (False, "the wrong folder")
    assert page.app.medium.disliked() == [turn]
    assert page.get(f"/api/turns/{turn}")["feedback"] == said
    for other in (page.device("read_only"), page.program("full")):
        assert other.refused("POST", f"/api/turns/{turn}/feedback", {"good": True})[0] == 403
    assert page.app.medium.disliked() == [turn]


def test_what_is_not_there_or_makes_no_sense_is_refused_with_words(page: Client) -> None:
    turn = close(page.app, 1, *pdfs("garden"))
    assert page.refused("GET", "/api/turns/01NOSUCHTURN")[0] == 404
    assert page.refused("GET", "/api/turns", before="01NOSUCHTURN")[0] == 404
    assert page.refused("GET", "/api/turns", limit=10**30)[0] == 422
    assert page.refused("GET", "/api/turns", conversation="a\0b")[0] == 422
    for body in (b'{"good":true,"reason":"a\\u0000b"}', b'{"good":true,"reason":"\\ud800"}', b'{"good":1e999}', b"{",
                 b'{"good":true,"more":1}', b'{"good":true,"reason":' + b"9" * 5000 + b"}", b"[" * 5000):  # fmt: skip
        assert page.refused("POST", f"/api/turns/{turn}/feedback", body)[0] in (400, 422), body[:40]
    assert page.app.medium.opinion(turn) is None
