from datetime import timedelta
from pathlib import Path

import pytest

from app.documented import examples
from metnos import Mnestome
from metnos.app import App, library_mnestome
from metnos.core.clock import MovableClock
from metnos.core.errors import UsageError
from metnos.core.workspace import Workspace
from metnos.mnestome.rules import Rules

RULES = Rules()


@pytest.fixture
def graph(tmp_path: Path, clock: MovableClock) -> Mnestome:
    return Mnestome(tmp_path / "graph", clock=clock)


def test_a_passing_is_born_grows_by_use_and_fades_by_the_calendar(graph: Mnestome, clock: MovableClock) -> None:
    born = graph.passing("search_web", "summarise_text", tags=["news"])
    assert (born.source, born.target, born.uses, born.state) == ("search_web", "summarise_text", 1, "active")
    assert born.weight == pytest.approx(RULES.birth)
    used = graph.passing("search_web", "summarise_text")
    assert (used.id, used.uses) == (born.id, 2)
    assert used.weight == pytest.approx(RULES.birth + RULES.reinforcement)
    clock.move(timedelta(days=38.5))
    (faded,) = graph.top()
    assert faded.weight == pytest.approx(used.weight / 2, rel=0.01)
    assert faded.tags == ("news",)
    assert [reason for _, reason, _ in graph.history(born.id)] == ["passed", "passed"]


def test_neighbours_are_told_apart_by_direction(graph: Mnestome) -> None:
    for pair in (("a_b", "c_d"), ("a_b", "c_d"), ("a_b", "e_f"), ("c_d", "g_h")):
        graph.passing(*pair)
    assert [each.target for each in graph.neighbours("a_b")] == ["c_d", "e_f"]
    assert [each.source for each in graph.neighbours("c_d", direction="in")] == ["a_b"]
    assert list(graph.near("a_b")) == ["c_d", "e_f", "g_h"]
    assert list(graph.near("a_b", depth=1)) == ["c_d", "e_f"]
    assert [each.target for each in graph.top(1)] == ["c_d"]


def test_a_wish_that_comes_again_recurs_and_is_no_mnest(graph: Mnestome, clock: MovableClock) -> None:
    for _ in range(3):
        wish = graph.wish("translate_text", summary="into Italian", inputs={"text": "string"})
    assert (wish.state, wish.uses, wish.source) == ("proto", 3, "request")
    assert wish.signature["summary"] == "into Italian"
    assert graph.wishes(recurring=True) == [wish]
    assert graph.top() == []
    graph.wish("sing_songs")
    assert [each.target for each in graph.wishes(recurring=True)] == ["translate_text"]


def test_a_turn_counts_once(graph: Mnestome) -> None:
    assert graph.turn("turn-1", [("a_b", "c_d"), ("a_b", "c_d")], tags=["x"])
    assert not graph.turn("turn-1", [("a_b", "c_d")])
    assert [each.uses for each in graph.top()] == [1]


def test_ageing_weighs_removes_noise_and_is_no_harm_twice(graph: Mnestome, clock: MovableClock) -> None:
    graph.passing("a_b", "c_d")
    graph.wish("sing_songs")
    graph.age()
    for _ in range(150):  # somebody was there on these days, and never wished for it again
        clock.move(timedelta(days=1))
        graph.passing("a_b", "c_d")
    done = graph.age()
    assert done.weighed >= 1
    assert done.removed == ("sing_songs",)
    assert graph.age().weighed == 0
    assert graph.wishes() == []
    assert [each.uses for each in graph.mnests(state="active")] == [151]


def test_the_month_is_kept_as_it_is(graph: Mnestome) -> None:
    graph.passing("a_b", "c_d")
    path = graph.snapshot()
    assert path.name == "2026-11.sqlite"
    assert graph.snapshot() == path


@pytest.mark.parametrize("name", ["WebSearch", "search-web", "", "a" * 65, "1st", "x\0"])
def test_what_is_no_name_is_refused_with_what_would_be(graph: Mnestome, name: str) -> None:
    for attempt in (lambda: graph.passing(name, "c_d"), lambda: graph.passing("a_b", name), lambda: graph.wish(name)):
        with pytest.raises(UsageError) as refused:
            attempt()
        assert "small letters" in refused.value.fix
    with pytest.raises(UsageError, match="no state"):
        graph.mnests(state="asleep")


@pytest.mark.slow
def test_in_a_workspace_it_is_the_workspace_s_own(opened: App, workspace: Workspace, clock: MovableClock) -> None:
    with Mnestome(workspace.root, clock=clock) as graph:
        made = graph.passing("fetch_feeds", "rank_items")
        assert not (workspace.root / "mnest.sqlite").exists()
        assert graph.mnest(made.id).uses == 1
        clock.move(timedelta(days=1))
        assert graph.age().weighed >= 1
        with pytest.raises(UsageError, match="own clock"):
            graph.age(clock.now())
    assert made.id in {each.id for each in Mnestome.of(opened).mnests()}


def test_the_examples_of_its_documentation_hold(tmp_path: Path) -> None:
    tried, failed = examples(library_mnestome, tmp_path)
    assert failed == 0
    assert tried >= 2
