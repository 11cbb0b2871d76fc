import itertools
import math
from datetime import datetime
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.clock import to_text
from metnos.mnestome import graph, record, rows, seeds
from metnos.mnestome.past import Past
from metnos.mnestome.rules import State
from metnos.mnestome.schema import MIGRATIONS
from metnos.store.db import Database
from mnestome.turns import DAY, START, Pass, passed

NAMES = ("a", "b", "c", "d", "e", "f")
Edges = dict[tuple[str, str], tuple[float, float, float]]  # the weight, how many days ago, lambda


def lay(db: Database, edges: Edges) -> None:
    with db.write() as tx:
        for (src, dst), (weight, ago, rate) in edges.items():
            ends = (src, "1.0.0", dst, "1.0.0")
            rows.born(tx, ends, State.ACTIVE, weight, START - ago * DAY, "for the test", decay_lambda=rate)


def now(edge: tuple[float, float, float]) -> float:
    weight, ago, rate = edge
    return weight * math.exp(-rate * ago)


def flat(weights: dict[tuple[str, str], float]) -> Edges:
    return {ends: (weight, 0.0, 0.018) for ends, weight in weights.items()}


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Database:
    return Database(tmp_path_factory.mktemp("graph") / "mnest.sqlite", MIGRATIONS)


def emptied(db: Database) -> Database:
    with db.write() as tx:
        tx.execute("DELETE FROM mnests")
    return db


def test_the_heaviest_neighbours_come_first_in_both_directions(db: Database) -> None:
    lay(db, flat({("a", "b"): 0.3, ("a", "c"): 0.9, ("a", "d"): 0.5, ("d", "a"): 0.2, ("b", "a"): 0.4}))
    assert [each.dst for each in graph.top_k_outgoing(db, "a", 2, START)] == ["c", "d"]
    assert [each.src for each in graph.top_k_incoming(db, "a", 9, START)] == ["b", "d"]
    assert graph.top_k_outgoing(db, "nobody", 5, START) == []
    assert graph.top_k_outgoing(db, "a", 0, START) == []


def test_the_order_is_that_of_now_though_rows_were_weighed_at_different_moments(db: Database) -> None:
    lay(db, {("a", "b"): (0.9, 200, 0.018), ("a", "c"): (0.5, 0, 0.018), ("a", "d"): (0.8, 30, 0.2)})
    assert [each.dst for each in graph.top_k_outgoing(db, "a", 3, START)] == ["c", "b", "d"]
    assert [each.dst for each in graph.top_k_outgoing(db, "a", 1, START)] == ["c"]


def test_of_several_versions_the_heaviest_counts(db: Database) -> None:
    record.record_passing(db, Pass("a", "b", "1.0.0", "1.0.0"), "T1", START)
    for number in range(3):
        record.record_passing(db, Pass("a", "b", "2.0.0", "1.1.0"), f"U{number}", START)
    (found,) = graph.top_k_outgoing(db, "a", 5, START)
    assert (found.src_version, found.dst_version) == ("2.0.0", "1.1.0")
    assert [reached.weight for reached in graph.walk(db, "a", 1, START)] == [pytest.approx(0.6)]


def test_the_heaviest_version_is_the_heaviest_now(db: Database) -> None:
    record.record_passing(db, Pass("a", "b", "1.0.0", "1.0.0"), "T1", START - 300 * DAY)
    record.record_passing(db, Pass("a", "b", "1.0.0", "1.0.0"), "T2", START - 300 * DAY)
    record.record_passing(db, Pass("a", "b", "1.0.0", "2.0.0"), "T3", START)
    assert [each.dst_version for each in graph.top_k_outgoing(db, "a", 5, START)] == ["2.0.0"]


def test_history_and_wishes_are_no_neighbours(db: Database) -> None:
    key = passed(db, "a", "b")
    with db.write() as tx:
        rows.change_state(tx, key, State.SUPERSEDED, START, "for the test")
    assert graph.top_k_outgoing(db, "a", 5, START) == graph.walk(db, "a", 3, START) == graph.top(db, 5, START) == []


def test_what_is_in_quarantine_is_not_there(db: Database) -> None:
    lay(db, flat({("a", "b"): 0.9, ("b", "c"): 0.9, ("a", "d"): 0.5, ("d", "c"): 0.5}))
    hidden = frozenset({"b"})
    assert [each.dst for each in graph.top_k_outgoing(db, "a", 5, START, hidden)] == ["d"]
    assert [each.src for each in graph.top_k_incoming(db, "c", 5, START, hidden)] == ["d"]
    assert [(each.name, each.path) for each in graph.walk(db, "a", 3, START, without=hidden)] == [
        ("d", ("a", "d")),
        ("c", ("a", "d", "c")),
    ]
    assert {(each.src, each.dst) for each in graph.top(db, 9, START, hidden)} == {("a", "d"), ("d", "c")}


edge_values = st.tuples(st.floats(0.01, 1), st.floats(0, 300), st.sampled_from([0.005, 0.018, 0.2]))
graphs = st.dictionaries(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), edge_values, max_size=20)


@given(graphs, st.integers(1, 4))
def test_the_heaviest_are_those_of_a_full_count(one: Database, edges: Edges, k: int) -> None:
    lay(emptied(one), edges)
    for name in NAMES[:3]:
        out = sorted((now(edge) for (src, _), edge in edges.items() if src == name), reverse=True)[:k]
        into = sorted((now(edge) for (_, dst), edge in edges.items() if dst == name), reverse=True)[:k]
        assert [each.at(START) for each in graph.top_k_outgoing(one, name, k, START)] == pytest.approx(out, abs=1e-6)
        assert [each.at(START) for each in graph.top_k_incoming(one, name, k, START)] == pytest.approx(into, abs=1e-6)
    heaviest = sorted(map(now, edges.values()), reverse=True)[:k]
    assert [each.at(START) for each in graph.top(one, k, START)] == pytest.approx(heaviest, abs=1e-6)


def test_more_rows_than_a_page_and_the_lightest_stored_is_the_heaviest_now(db: Database) -> None:
    old = {("a", f"old_{number}"): (0.99, 300.0, 0.018) for number in range(500)}
    lay(db, {**old, ("a", "fresh"): (0.4, 0, 0.018), ("a", "young"): (0.3, 0, 0.018)})
    assert [each.dst for each in graph.top_k_outgoing(db, "a", 2, START)] == ["fresh", "young"]
    assert [each.dst for each in graph.top(db, 2, START)] == ["fresh", "young"]


def best_paths(edges: Edges, start: str, depth: int) -> dict[str, float]:
    """Every path that comes to no executor twice, counted one by one."""
    found: dict[str, float] = {}
    for length in range(1, depth + 1):
        for path in itertools.permutations([name for name in NAMES if name != start], length):
            steps = list(itertools.pairwise((start, *path)))
            if all(step in edges for step in steps):
                weight = math.prod(now(edges[step]) for step in steps)
                found[path[-1]] = max(found.get(path[-1], 0.0), weight)
    return {name: weight for name, weight in found.items() if weight >= graph.LEAST}


@given(graphs, st.integers(0, 3))
def test_a_walk_finds_the_best_path_to_everything(one: Database, edges: Edges, depth: int) -> None:
    lay(emptied(one), edges)
    reached = graph.walk(one, "a", depth, START)
    # A path may be cut where it falls below the least, never where another one is above it.
    assert {each.name: each.weight for each in reached} == pytest.approx(best_paths(edges, "a", depth), abs=1e-6)
    assert all(each.path[0] == "a" and each.path[-1] == each.name and len(each.path) <= depth + 1 for each in reached)
    assert [each.weight for each in reached] == sorted((each.weight for each in reached), reverse=True)


def test_a_walk_is_bounded(db: Database) -> None:
    lay(db, flat({("a", f"n{number}"): 0.5 + number / 1000 for number in range(50)}))
    assert len(graph.walk(db, "a", 3, START)) == graph.FAN_OUT
    assert len(graph.walk(db, "a", 3, START, fan_out=50)) == 50
    nearest = graph.walk(db, "a", 3, START, fan_out=50, most=5)
    assert [each.name for each in nearest] == ["n49", "n48", "n47", "n46", "n45"]


def test_a_ring_ends(db: Database) -> None:
    lay(db, flat({("a", "b"): 1.0, ("b", "a"): 1.0, ("a", "a"): 1.0}))
    assert [each.name for each in graph.walk(db, "a", 99, START)] == ["b"]


def test_the_weights_that_reach_the_planner(db: Database) -> None:
    lay(db, flat({("a", "c"): 0.5, ("b", "c"): 0.9, ("c", "d"): 0.5, ("d", "e"): 1.0, ("a", "b"): 0.4}))
    assert graph.weights_from(db, ["a"], START) == pytest.approx({"c": 0.5, "b": 0.4, "d": 0.25})
    assert graph.weights_from(db, ["a", "b", "a"], START) == pytest.approx({"c": 0.9, "d": 0.45, "b": 0.4})
    assert graph.weights_from(db, [], START) == {}


class TestUnusedCalls:
    DECLARED: ClassVar = {"make_report": ["read_files", "count_text"]}

    def plant(self, db: Database) -> None:
        versions = dict.fromkeys(("make_report", "read_files", "count_text"), "1.0.0")
        seeds.plant(db, seeds.declared(self.DECLARED, versions), START)

    def test_what_is_declared_and_never_happened(self, db: Database) -> None:
        assert graph.unused_calls(db, self.DECLARED) == [("make_report", "read_files"), ("make_report", "count_text")]
        self.plant(db)
        assert len(graph.unused_calls(db, self.DECLARED)) == 2
        passed(db, "make_report", "count_text")
        assert graph.unused_calls(db, self.DECLARED) == [("make_report", "read_files")]

    @pytest.mark.parametrize("state", [State.DECAYING, State.SUPERSEDED])
    def test_a_seed_that_faded_was_not_used_and_one_use_that_faded_was(self, db: Database, state: State) -> None:
        self.plant(db)
        passed(db, "other_report", "read_files")
        with db.write() as tx:
            for (key,) in tx.query("SELECT id FROM mnests"):
                rows.change_state(tx, key, state, START, "for the test")
        declared = {**self.DECLARED, "other_report": ["read_files"]}
        assert graph.unused_calls(db, declared) == [("make_report", "read_files"), ("make_report", "count_text")]

    def test_a_use_of_a_past_year_is_one(self, db: Database, tmp_path: Path) -> None:
        key = passed(db, "make_report", "read_files")
        past = Past(tmp_path / "events_history.sqlite")
        later = datetime.fromisoformat("2027-02-01T00:00:00+00:00")
        past.move(db, later)
        with db.write() as tx:
            rows.change_state(tx, key, State.DECAYING, later, "for the test")
        assert graph.unused_calls(db, self.DECLARED, past) == [("make_report", "count_text")]
        past.close()


def test_reads_do_not_write(db: Database) -> None:
    lay(db, flat({("a", "b"): 0.9}))
    before = db.query("SELECT * FROM mnests"), db.query("SELECT count(*) FROM events")
    graph.walk(db, "a", 3, START + DAY)
    graph.top_k_outgoing(db, "a", 3, START + DAY)
    assert (db.query("SELECT * FROM mnests"), db.query("SELECT count(*) FROM events")) == before
    assert before[0][0][9] == to_text(START)


@pytest.mark.parametrize("ends", [("src_executor", "dst_executor", "out"), ("dst_executor", "src_executor", "in")])
def test_neighbours_are_read_from_an_index_alone(db: Database, ends: tuple[str, str, str]) -> None:
    this, other, name = ends
    plan = db.query(
        f"EXPLAIN QUERY PLAN SELECT weight, ts_decayed, decay_lambda, {other}, rowid FROM mnests"
        f" WHERE {this} = 'a' AND {graph.LIVING} ORDER BY weight DESC LIMIT 5"
    )
    assert [row[3] for row in plan] == [f"SEARCH mnests USING COVERING INDEX mnests_{name} ({this}=?)"]
