"""The mnestome over HTTP: the whole graph at once, filters, earlier months, and one mnest with its history."""

import itertools
from datetime import timedelta
from typing import Any

import pytest

from api.http.served import Client
from api.http.typed import typed
from metnos.app import ageing, mnests
from metnos.cli import mnestome as at_terminal
from metnos.core.clock import MovableClock, to_text
from metnos.grimoire.trace import Desired, Passing
from metnos.mnestome import record
from metnos.mnestome.rules import State
from metnos.mnestome.snapshot import Snapshots
from tables import try_each

DAY = timedelta(days=1)


class Closed:
    """A turn in which each of these fed the next."""

    def __init__(self, turn: str, clock: MovableClock, *names: str, tags: tuple[str, ...] = (), wish: str = "") -> None:
        pairs = enumerate(itertools.pairwise(names), start=1)
        self.turn, self.closed, self.tags = turn, clock.now(), tags
        self.passings = [Passing(one, "1.0.0", two, "1.0.0", "reference", at, at + 1) for at, (one, two) in pairs]
        wished = Desired(wish, names[-1], "1.0.0", {"summary": f"a {wish} for the xylophone"})
        self.desired = [wished] if wish else []


def turn(page: Client, clock: MovableClock, name: str, *names: str, **more: Any) -> None:
    record.record_turn(page.app.catalog.db, Closed(name, clock, *names, **more))


@pytest.fixture
def grown(page: Client, clock: MovableClock) -> Client:
    """Some weeks of passings, a wish, and a month that was kept."""
    turn(page, clock, "T1", "find_files", "read_files", "count_text", tags=("work",))
    turn(page, clock, "T2", "read_files", "summarise_text", wish="translate_text")
    ageing.snapshots(page.app).make(clock.now())
    clock.move(30 * DAY)
    turn(page, clock, "T3", "find_files", "read_files")
    return page


def edges(graph: Any, **like: Any) -> set[tuple[str, str]]:
    found = [each for each in graph["mnests"] if all(each[name] == value for name, value in like.items())]
    return {(each["source"], each["target"]) for each in found}


def test_the_graph_is_what_the_terminal_lists(grown: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    found = grown.get("/api/mnestome")
    listed = typed(grown, monkeypatch, at_terminal.mnestome, "list", "--all")
    wished = typed(grown, monkeypatch, at_terminal.mnestome, "proto")
    ids = {each["id"]: each for each in found["mnests"]}
    assert set(ids) == {each["id"] for each in listed + wished}
    for each in listed:
        mine = ids[each["id"]]
        assert (mine["weight"], mine["uses"], mine["last_used"], mine["state"], mine["tags"]) == (
            (each["weight"], each["uses"], each["last"], each["state"], each["tags"])
        )
    assert [each["weight"] for each in found["mnests"]] == sorted(each["weight"] for each in listed + wished)[::-1]
    assert found["total"] == len(ids)


def test_nodes_say_what_they_are_and_where_they_stand(grown: Client) -> None:
    nodes = {each["name"]: each for each in grown.get("/api/mnestome")["nodes"]}
    assert (nodes["read_files"]["state"], nodes["translate_text"]["state"]) == ("active", "wished")
    assert nodes["read_files"]["purpose"]
    assert nodes["read_files"]["traffic"] > nodes["translate_text"]["traffic"] > 0
    assert len({(each["x"], each["y"]) for each in nodes.values()}) == len(nodes)


def test_filters_show_less_and_move_nothing(grown: Client, clock: MovableClock) -> None:
    every = {each["name"]: (each["x"], each["y"]) for each in grown.get("/api/mnestome")["nodes"]}
    tagged = grown.get("/api/mnestome", tag="work")
    assert edges(tagged) == {("find_files", "read_files"), ("read_files", "count_text")}
    protos = grown.get("/api/mnestome", state="proto")
    assert edges(protos) == {("summarise_text", "translate_text")}
    assert protos["mnests"][0]["signature"] == {"summary": "a translate_text for the xylophone"}
    recent = grown.get("/api/mnestome", since=to_text(clock.now() - DAY), state="active")
    assert edges(recent) == {("find_files", "read_files")}
    heavy = grown.get("/api/mnestome", min_weight=0.3, state="active")
    assert edges(heavy) == {("find_files", "read_files")}
    assert grown.get("/api/mnestome", limit=1)["total"] > len(grown.get("/api/mnestome", limit=1)["mnests"]) == 1
    for part in (tagged, protos, recent, heavy):
        assert {each["name"]: (each["x"], each["y"]) for each in part["nodes"]}.items() <= every.items()


def test_a_month_is_as_it_was_and_is_read_once(grown: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []
    really = Snapshots.open
    monkeypatch.setattr(Snapshots, "open", lambda self, month: reads.append(month) or really(self, month))
    now = grown.get("/api/mnestome")
    assert now["months"] == ["2026-11"]
    then = grown.get("/api/mnestome", month="2026-11")
    assert grown.get("/api/mnestome", month="2026-11", state="active") != then
    assert reads == ["2026-11"]
    weights = [{(each["source"], each["target"]): each["weight"] for each in graph["mnests"]} for graph in (then, now)]
    assert weights[0]["read_files", "count_text"] == 0.3 > weights[1]["read_files", "count_text"]
    places = [{each["name"]: (each["x"], each["y"]) for each in graph["nodes"]} for graph in (then, now)]
    assert places[0].items() <= places[1].items()


def test_what_was_wished_for_in_words_is_not_told_of_a_month(grown: Client) -> None:
    then = grown.http.get("/api/mnestome?month=2026-11", headers=grown.headers).text
    assert "translate_text" in then
    assert "xylophone" not in then


def test_a_mnest_has_a_history_and_a_curve(grown: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = grown.get("/api/mnestome", tag="work")["mnests"]
    (key,) = [each["id"] for each in listed if each["target"] == "count_text"]
    found = grown.get(f"/api/mnestome/{key}")
    told = typed(grown, monkeypatch, at_terminal.mnestome, "history", key)
    shared = ("ts", "kind", "delta", "new_state", "reason", "turn")
    assert [[each[name] for name in shared] for each in found["events"]] == [
        [each[name] for name in shared] for each in told["events"]
    ]
    assert [each["weight_after"] for each in found["events"]] == [each["weight"] for each in told["events"]]
    assert found["events"][0]["weight_before"] == 0.0
    weights = dict(found["weights"])
    assert list(weights) == sorted(weights)
    assert weights[found["events"][0]["ts"]] == 0.3
    assert min(weight for ts, weight in weights.items() if ts > found["first"]) < 0.3 * 0.6, "it fades in between"
    assert found["weights"][-1][1] == found["weight"]
    assert grown.get(f"/api/mnestome/{key[-8:]}")["id"] == key


def test_five_thousand_mnests_come_in_one_answer(page: Client, clock: MovableClock) -> None:
    moment, rows = to_text(clock.now()), []
    for number in range(5000):
        src, dst = f"make_thing_{number % 293}", f"read_thing_{number * 7 % 300}"
        key = f"01TEST{number:020d}"
        rows.append((key, src, "1.0.0", dst, "1.0.0", 0.1 + number % 80 / 100, 2, *[moment] * 3, 0.018, "active", "[]"))
    with page.app.catalog.db.write() as tx:
        tx.execute_many(
            "INSERT INTO mnests (id, src_executor, src_version, dst_executor, dst_version, weight, uses, ts_first,"
            " ts_used, ts_decayed, decay_lambda, state, tags) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
            rows,
        )
    answer = page.http.get("/api/mnestome", params={"state": "active"}, headers=page.headers)
    found = answer.json()
    assert len(found["mnests"]) == found["total"] == 5000
    assert len(found["nodes"]) == 593
    assert {each["source"] for each in found["mnests"]} <= {each["name"] for each in found["nodes"]}
    assert len(answer.content) < 1_400_000
    assert mnests.graph(page.app, mnests.Wanted((State.ACTIVE,)))["nodes"] == found["nodes"]


@try_each("key", ["NOSUCHMNEST", "..", "%2e%2e%2fetc", "x" * 65])
def test_a_mnest_that_is_not_there_is_not_found(page: Client, key: str) -> None:
    assert page.refused("GET", f"/api/mnestome/{key}")[0] in (400, 404, 422)


@try_each(
    ("asked", "status"),
    [
        ({"month": "2019-01"}, 404),
        ({"month": "2019-13"}, 404),
        ({"month": "../../x"}, 422),
        ({"state": "dead"}, 422),
        ({"min_weight": "nan"}, 422),
        ({"limit": 0}, 422),
        ({"limit": "9" * 30}, 422),
        ({"since": "yesterday"}, 422),
        ({"tag": "x" * 101}, 422),
    ],
)
def test_what_makes_no_sense_is_refused(page: Client, asked: dict[str, Any], status: int) -> None:
    assert page.refused("GET", "/api/mnestome", **asked)[0] == status


@pytest.mark.parametrize(
    "asked", [{"since": "0001-01-01T00:00:00+23:59"}, {"since": "9999-12-31T23:59:59-23:59"}, {"tag": "\0"}]
)
def test_odd_filters_find_nothing_or_everything(page: Client, asked: dict[str, str]) -> None:
    assert page.get("/api/mnestome", **asked)["months"] == []
