"""Changing what is remembered over HTTP: told, pinned, and forgotten for good, in two steps."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from api.http.served import Client
from api.http.wise import remembering
from app.remembered import taught, the_folder
from app.test_keeping import holding
from metnos.core.clock import MovableClock
from metnos.core.workspace import Workspace
from metnos.turn.request import LONGEST
from tables import try_each

WORD = "xylophone"


@pytest.fixture(scope="module")
def _taught(_template: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return taught(_template, tmp_path_factory.mktemp("taught"))


@pytest.fixture
def page(_taught: Workspace, blank: Workspace, clock: MovableClock, tmp_path: Path) -> Iterator[Client]:
    with remembering(_taught, blank, clock, tmp_path / "home") as found:
        yield found


def test_what_is_told_is_remembered(page: Client) -> None:
    made = page.post("/api/memory/add", text="  the <b>boiler</b> is in the attic ", tags=["house"])
    assert (made["text"], made["type"]) == ("the <b>boiler</b> is in the attic", "note")
    assert "house" in made["tags"]
    found = page.get("/api/memory/search", q="where is the boiler")["found"]
    assert made["id"] in [each["id"] for each in found]


def test_a_memory_is_pinned_and_let_go(page: Client) -> None:
    note = page.post("/api/memory/add", text="the boiler is in the attic")
    fact = the_folder(page.app)
    for key, kind in ((note["id"], "episode"), (fact.id, "fact")):
        for pinned in (True, False):
            done = page.post("/api/memory/pin", id=key, pinned=pinned)
            assert (done["kind"], done["pinned"]) == (kind, pinned)
    assert page.refused("POST", "/api/memory/pin", {"id": "NOSUCHID"})[0] == 404


def test_what_was_shown_is_forgotten_for_good(page: Client) -> None:
    page.post("/api/memory/add", text=f"the {WORD} stands in the cellar", tags=[WORD])
    page.ask(f"where is the {WORD}?")
    page.get("/api/memory/search", q=WORD)
    page.get("/api/memory/episodes")
    assert holding(page.app.workspace)
    plan = page.post("/api/memory/forget/plan", words=WORD)
    assert not plan["empty"]
    assert {WORD in each["text"] for each in plan["episodes"]} == {True}
    assert plan["counts"]["episodes"] == len(plan["episodes"]) == 2
    gone = page.post("/api/memory/forget", words=WORD, plan=plan["plan"], sure=True)
    assert (gone["counts"]["episodes"], gone["counts"]["turns"], gone["counts"]["traces"]) == (2, 1, 0)
    assert gone["still"] == []
    assert "2 episodes" in gone["said"]
    assert holding(page.app.workspace) == []
    assert WORD not in page.http.get("/api/memory/episodes", headers=page.headers).text
    assert page.post("/api/memory/forget/plan", words=WORD)["empty"]


def test_by_its_id_a_memory_goes_and_another_stays(page: Client) -> None:
    one = page.post("/api/memory/add", text="the boiler is in the attic")
    other = page.post("/api/memory/add", text="the boiler was serviced in March")
    plan = page.post("/api/memory/forget/plan", ids=[one["id"]])
    assert [each["id"] for each in plan["episodes"]] == [one["id"]]
    page.post("/api/memory/forget", ids=[one["id"]], plan=plan["plan"], sure=True)
    assert page.refused("GET", f"/api/memory/episodes/{one['id']}")[0] == 404
    assert page.get(f"/api/memory/episodes/{other['id']}")["text"] == other["text"]


def test_a_plan_that_is_not_as_it_was_shown_is_refused(page: Client) -> None:
    page.post("/api/memory/add", text=f"the {WORD} stands in the cellar")
    plan = page.post("/api/memory/forget/plan", words=WORD)["plan"]
    page.post("/api/memory/add", text=f"the {WORD} was tuned")
    status, what = page.refused("POST", "/api/memory/forget", {"words": WORD, "plan": plan, "sure": True})
    assert (status, what) == (409, "what would be forgotten is not what was shown any more")
    assert len(page.get("/api/memory/search", q=WORD)["found"]) == 2
    other = page.post("/api/memory/forget/plan", words="boiler")["plan"]
    assert page.refused("POST", "/api/memory/forget", {"words": WORD, "plan": other, "sure": True})[0] == 409


def test_what_the_owner_wrote_stays_and_is_named(page: Client) -> None:
    mine = page.app.workspace.root / "USER.md"
    mine.write_text(f"I play the {WORD}.\n")
    page.post("/api/memory/add", text=f"the {WORD} stands in the cellar")
    plan = page.post("/api/memory/forget/plan", words=WORD)
    assert plan["yours"] == ["USER.md"]
    assert page.post("/api/memory/forget", words=WORD, plan=plan["plan"], sure=True)["still"] == ["USER.md"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("add", {"text": "tea"}),
        ("pin", {"id": "01ABCDEF"}),
        ("forget/plan", {"words": "tea"}),
        ("forget", {"words": "tea", "plan": "0" * 64, "sure": True}),
    ],
)
def test_only_the_owner_changes_anything(page: Client, path: str, body: dict[str, Any]) -> None:
    before = page.get("/api/memory/episodes")
    for other in (page.device("read_only"), page.program("full")):
        assert other.refused("POST", f"/api/memory/{path}", body)[0] == 403
    assert page.get("/api/memory/episodes") == before


@try_each(
    ("path", "body", "status"),
    [
        ("add", {"text": ""}, 422),
        ("add", {"text": "  \n"}, 400),
        ("add", {"text": "x" * (LONGEST + 1)}, 422),
        ("add", b'{"text": "\\ud800"}', 422),
        ("add", {"text": "x", "tags": ["y"] * 21}, 422),
        ("add", {"text": "x", "more": 1}, 422),
        ("add", b"[]", 422),
        ("add", b"{", 422),
        ("pin", {"id": "../../etc"}, 422),
        ("forget/plan", {}, 400),
        ("forget/plan", {"words": "ab"}, 400),
        ("forget/plan", {"words": "x" * 501}, 422),
        ("forget/plan", {"ids": ["NOSUCHID"]}, 404),
        ("forget", {"words": "nothing says this", "plan": "0" * 64, "sure": True}, 409),
        ("forget", {"words": "tea", "plan": "0" * 64, "sure": False}, 422),
        ("forget", {"words": "tea", "plan": "0" * 64}, 422),
        ("forget", {"words": "tea", "plan": "x", "sure": True}, 422),
    ],
)
def test_what_makes_no_sense_is_refused(page: Client, path: str, body: Any, status: int) -> None:
    assert page.refused("POST", f"/api/memory/{path}", body)[0] == status


def test_zero_bytes_are_text_like_any_other(page: Client) -> None:
    made = page.post("/api/memory/add", text="a\0b")
    assert page.get(f"/api/memory/episodes/{made['id']}")["text"] == "a\0b"
