"""What is remembered over HTTP, for looking."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from api.http.served import Client
from api.http.typed import typed
from api.http.wise import remembering
from app.remembered import taught, the_folder
from metnos.app import keeping
from metnos.cli import memory as at_terminal
from metnos.core.clock import MovableClock, from_text
from metnos.core.workspace import Workspace
from metnos.grimoire import fact_rules
from metnos.grimoire.episode import Where
from tables import try_each


@pytest.fixture(scope="module")
def _taught(_template: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return taught(_template, tmp_path_factory.mktemp("taught"))


@pytest.fixture
def page(_taught: Workspace, blank: Workspace, clock: MovableClock, tmp_path: Path) -> Iterator[Client]:
    with remembering(_taught, blank, clock, tmp_path / "home") as found:
        yield found


def test_a_search_shows_what_the_terminal_finds_and_every_factor(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    page.app.grimoire.add("the boiler was serviced in March", ["house"])
    found = page.get("/api/memory/search", q="where are the PDFs and the boiler", limit=5)
    told = typed(page, monkeypatch, at_terminal.memory, "search", "where are the PDFs and the boiler", "--count", "5")
    listed = told["facts"] + told["episodes"]
    assert [(each["id"], each["score"], each["why"]) for each in found["found"]] == [
        (each["id"], each["score"], each["why"]) for each in listed
    ]
    assert {each["kind"] for each in found["found"]} <= {"episode", "fact"}
    for each in found["found"]:
        made = each["factors"]
        four = 0.40 * made["semantic"] + 0.20 * made["recency"] + 0.25 * made["importance"] + 0.15 * made["affect"]
        assert each["score"] == pytest.approx(four * made["discount"] * made["boost"], abs=2e-4)


def test_looking_changes_nothing(page: Client) -> None:
    before = [(each.id, each.used, each.replays) for each in page.app.grimoire.episodes.select(Where(), count=99)]
    page.get("/api/memory/search", q="PDFs")
    page.get("/api/memory/episodes")
    page.get("/api/memory/facts")
    after = [(each.id, each.used, each.replays) for each in page.app.grimoire.episodes.select(Where(), count=99)]
    assert after == before


def test_episodes_come_in_pages_the_newest_first(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        page.app.grimoire.add(f"note {number}")
    first = page.get("/api/memory/episodes", limit=3)
    rest = page.get("/api/memory/episodes", limit=500, before=first["next"])
    assert [each["text"] for each in first["episodes"]] == ["note 4", "note 3", "note 2"]
    ids = [each["id"] for each in first["episodes"] + rest["episodes"]]
    assert len(set(ids)) == len(ids) == first["total"]
    assert rest["next"] is None
    one = page.get(f"/api/memory/episodes/{ids[0]}")
    told = typed(page, monkeypatch, at_terminal.memory, "show", ids[0])
    assert (one["type"], one["text"], one["when"]) == (told["kind"], told["text"], told["when"])
    assert page.get(f"/api/memory/episodes/{ids[0][-8:]}") == one


def test_facts_come_in_pages_the_most_believed_first(page: Client) -> None:
    every = page.get("/api/memory/facts", limit=500)
    assert every["total"] == len(every["facts"]) > 1
    levels = [each["confidence"] for each in every["facts"]]
    assert levels == sorted(levels, reverse=True)
    seen, after = [], ""
    while True:
        some = page.get("/api/memory/facts", limit=1, after=after)
        seen += some["facts"]
        if some["next"] is None:
            break
        after = some["next"]
    assert seen == every["facts"]
    category = every["facts"][0]["about"]
    chosen = page.get("/api/memory/facts", category=category)["facts"]
    assert chosen == [each for each in every["facts"] if each["about"] == category]
    assert page.get("/api/memory/facts", kind="procedural")["total"] >= 1
    assert page.get("/api/memory/facts", standing="pruned")["total"] == 0


def test_a_fact_shows_how_it_will_fade_and_what_it_came_from(page: Client, clock: MovableClock) -> None:
    fact = the_folder(page.app)
    found = page.get(f"/api/memory/facts/{fact.id}")
    assert found["curve_of"] == "ahead"
    curve = [(from_text(ts), level) for ts, level in found["curve"]]
    assert [moment for moment, _ in curve] == sorted(moment for moment, _ in curve)
    for moment, level in curve:
        assert level == pytest.approx(believed(page, moment), abs=1e-3)
    assert curve[0][1] > curve[-1][1]
    assert curve[-1][0] > clock.now() + timedelta(days=10)
    assert {each["id"] for each in found["sources"]} == set(fact.sources)


def believed(page: Client, moment: datetime) -> float:
    return fact_rules.faded(the_folder(page.app), moment).confidence


def test_what_is_pinned_is_shown_not_to_fade(page: Client) -> None:
    fact = the_folder(page.app)
    keeping.pin(page.app, fact, pinned=True)
    assert len({level for _, level in page.get(f"/api/memory/facts/{fact.id}")["curve"]}) == 1


def test_the_playbook_its_lines_and_its_versions(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    path = page.app.workspace.root / "PLAYBOOK.md"
    path.write_text(path.read_text() + "\n- Be kind.\n")
    page.app.grimoire.playbook.look()
    found = page.get("/api/memory/playbook")
    assert found["text"] == path.read_text()
    told = typed(page, monkeypatch, at_terminal.memory, "playbook")
    assert found["history"] == told[::-1]
    assert all(each["text"] in found["text"] for each in found["learned"])
    newest = found["history"][0]["id"]
    assert page.get(f"/api/memory/playbook/{newest}")["version"] == newest
    assert page.refused("GET", "/api/memory/playbook/4711")[0] == 404


def test_long_memory_is_shown_as_it_lies_there(page: Client) -> None:
    root = page.app.workspace.root
    (root / "USER.md").write_bytes(b"I like <b>tea</b>.\xff\n")
    (root / "TELOS.md").unlink()
    files = {each["name"]: each for each in page.get("/api/memory/tiers")["files"]}
    assert list(files) == ["SOUL.md", "IDENTITY.md", "USER.md", "MEMORY.md", "TELOS.md", "PLAYBOOK.md"]
    assert files["SOUL.md"]["text"] == (root / "SOUL.md").read_text()
    assert files["USER.md"]["text"] == "I like <b>tea</b>.�\n"
    assert (files["TELOS.md"]["there"], files["TELOS.md"]["text"]) == (False, "")


def test_reports_and_figures(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    found = page.get("/api/memory/reports")
    told = typed(page, monkeypatch, at_terminal.memory, "reports")
    assert [(each["kind"], each["ts"]) for each in found["reports"]] == [(each["kind"], each["ts"]) for each in told]
    assert found["reports"][0]["kind"] == "curator"
    assert "new fact" in found["reports"][0]["said"]
    assert page.get("/api/memory/reports", kind="dream")["reports"] == []
    assert page.get("/api/memory/stats") == typed(page, monkeypatch, at_terminal.memory, "stats")


def test_memory_is_closed_to_programs_which_have_recall_for_it(page: Client) -> None:
    program = page.program()
    for path in ("episodes", "search?q=tea", "facts", "playbook", "tiers", "reports", "stats"):
        assert program.refused("GET", f"/api/memory/{path}")[0] == 403


@try_each(
    ("path", "asked", "status"),
    [
        ("episodes/NOSUCHID", {}, 404),
        ("facts/NOSUCHID", {}, 404),
        ("facts/abc", {}, 404),
        ("facts/..%2f..", {}, 400),
        ("facts", {"after": "'; DROP"}, 422),
        ("facts", {"kind": "rumour"}, 422),
        ("search", {}, 422),
        ("search", {"q": "   "}, 400),
        ("search", {"q": "x" * 2001}, 422),
        ("search", {"q": "x", "limit": 101}, 422),
        ("episodes", {"before": "-1"}, 422),
        ("episodes", {"before": "9" * 30}, 422),
        ("playbook/0", {}, 422),
        ("reports", {"kind": "gossip"}, 422),
    ],
)
def test_what_is_not_there_or_makes_no_sense_is_refused(
    page: Client, path: str, asked: dict[str, str], status: int
) -> None:
    assert page.refused("GET", f"/api/memory/{path}", **asked)[0] == status


@try_each("words", ["\0", '" OR 1=1 --', "*", "NEAR(", "%", "\u202e", "{{7*7}}", "a" * 2000])
def test_any_words_may_be_searched_for(page: Client, words: str) -> None:
    assert set(page.get("/api/memory/search", q=words)) == {"found", "notes"}


def test_an_episode_is_no_fact(page: Client) -> None:
    made = page.app.grimoire.add("a note")
    assert page.refused("GET", f"/api/memory/facts/{made.id}")[0] == 404
    assert page.refused("GET", f"/api/memory/episodes/{the_folder(page.app).id}")[0] == 404
