"""The curator, with real stores: what a cycle does, what it costs, and that nothing stops it for good."""

import itertools
import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import forking
from grimoire.curated import Memory, corrected, failing, knowledge, lived_through, open_memory
from grimoire.happened import observed, turn
from metnos.grimoire import happenings
from metnos.grimoire.curator_rules import CuratorRules
from metnos.grimoire.curator_state import CuratorState, Place
from metnos.grimoire.episode import Mark, Where
from metnos.grimoire.episodes import ENGINES, Episodes
from metnos.grimoire.episodes_sqlite import SqliteEpisodes
from metnos.grimoire.fact import Kind, Standing
from metnos.grimoire.facts import Facts
from metnos.grimoire.playbook import Playbook
from metnos.grimoire.reports import Reports
from suite import Repeat


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    made = open_memory(tmp_path)
    yield made
    made.close()


# -- what is learnt


@pytest.mark.slow
def test_the_other_engine_serves_as_well(tmp_path: Path) -> None:
    both = []
    lived = [*lived_through(3), *corrected(1), *corrected(2)]
    for engine in ENGINES:
        memory = open_memory(tmp_path / engine, engine)
        memory.add(*lived)
        assert memory.curator().run().finished
        both.append(knowledge(memory)[0])
        memory.close()
    assert both[0] == both[1]
    assert both[0]


def test_failures_become_anti_knowledge_and_a_heuristic(memory: Memory) -> None:
    lived = memory.add(*failing(4))
    cycle = memory.curator().run()
    (fact,) = memory.known(Kind.ANTI)
    assert cycle.finished
    assert fact.standing is Standing.ACTIVE
    assert set(fact.sources) == {each.id for each in lived}
    assert "fetch_pages fails with timeout" in fact.text
    (heuristic,) = memory.known(Kind.HEURISTIC)
    assert heuristic.data["strategy"] == "fetch_pages"
    assert cycle.counts["heuristics"] == 1


def test_repeated_corrections_become_a_procedure(memory: Memory) -> None:
    memory.add(*corrected(1), *corrected(2))
    memory.curator().run()
    found = [each for each in memory.known(Kind.PROCEDURAL) if each.data["instead_of"]]
    assert [each.data["prefer"]["args"] for each in found] == [{"to": "/srv/papers"}]
    assert found[0].standing is Standing.ACTIVE


def test_measures_become_a_baseline_that_grows_with_each_cycle(memory: Memory) -> None:
    for day in range(3):
        memory.add(*(observed(timedelta(hours=day), temperature=20.0 + day) for _ in range(3)))
        memory.curator().run()
    (fact,) = [each for each in memory.known(Kind.BASELINE) if each.data["metric"] == "temperature"]
    assert fact.data["count"] == 9
    assert fact.data["mean"] == pytest.approx(21.0)
    assert fact.episode_count == 9


@pytest.mark.slow
def test_a_pattern_that_shows_once_a_cycle_is_seen_because_old_episodes_are_replayed(memory: Memory) -> None:
    for _ in range(4):
        memory.add(*failing(1), *(turn(domain="web") for _ in range(30)))
        memory.curator().run()
    assert memory.known(Kind.ANTI)


def test_the_same_again_reinforces_and_what_is_only_replayed_does_not(memory: Memory) -> None:
    memory.add(*failing(3))
    memory.curator().run()
    (first,) = memory.known(Kind.ANTI)
    memory.add(*(turn(domain="web") for _ in range(9)))
    memory.curator().run()
    (second,) = memory.known(Kind.ANTI)
    assert second.episode_count == first.episode_count
    memory.add(*failing(3))
    memory.curator().run()
    (third,) = memory.known(Kind.ANTI)
    assert third.id == first.id
    assert third.confidence > second.confidence
    assert third.episode_count > second.episode_count


# -- when, and what is told


def test_a_cycle_is_due_after_fifty_ticks_and_not_right_after_one(memory: Memory) -> None:
    curator = memory.curator()
    assert not curator.tick(49)
    assert curator.tick()
    curator.run()
    assert not curator.due()
    assert memory.considered[-1][1] == 50


def test_every_cycle_is_told_and_reported(memory: Memory) -> None:
    memory.add(*failing(4))
    memory.curator().run()
    (told,) = happenings.newest(memory.db, happenings.CYCLE, 5)
    assert set(told.data) == {"entries_pruned", "entries_promoted", "heuristics_proposed"}
    assert told.data["heuristics_proposed"] == 1
    (report,) = Reports(memory.db, memory.clock).latest("curator")
    assert (report.data["judged"], report.data["verified"], report.data["new"]) == (4, 4, 4)
    assert happenings.newest(memory.db, happenings.WRITE, 5)


def test_a_report_holds_no_word_of_what_was_remembered(memory: Memory) -> None:
    memory.add(*failing(4, url="heliotrope.example"))
    memory.curator().run()
    rows = memory.db.query("SELECT data FROM reports UNION ALL SELECT value FROM progress")
    assert rows
    assert all("heliotrope" not in text for (text,) in rows)


def test_what_nothing_confirms_fades_and_is_pruned_after_three_low_cycles(memory: Memory) -> None:
    memory.add(*(observed(temperature=20.0) for _ in range(3)))
    memory.curator().run()
    memory.clock.move(timedelta(days=400))
    counts = [memory.curator().run().counts for _ in range(3)]
    assert counts[0]["faded"] > 0
    assert sum(each["pruned"] for each in counts) == len(memory.known())
    assert {each.standing for each in memory.known()} == {Standing.PRUNED}


def test_what_proves_right_again_and_again_enters_the_playbook_and_leaves_when_it_has_faded(
    memory: Memory, tmp_path: Path
) -> None:
    page = tmp_path / "PLAYBOOK.md"
    memory.playbook = Playbook(page, memory.db, memory.clock, lambda _: "")
    entered = 0
    for _ in range(3):
        memory.add(*failing(4))
        memory.curator().tick(50)
        entered += memory.curator().run().counts["entered"]
    assert entered == 1
    assert "fetch_pages fails with timeout" in page.read_text()
    told = happenings.newest(memory.db, happenings.CYCLE, 3)
    assert sum(each.data["entries_promoted"] for each in told) >= 2, "it became known, then a line"
    memory.clock.move(timedelta(days=1000))
    assert memory.curator().run().counts["left"] == 1
    assert "fetch_pages" not in page.read_text()


# -- room


def test_when_there_is_no_room_the_least_worth_goes_and_what_is_marked_stays(memory: Memory) -> None:
    lived = memory.add(*(turn(domain="d") for _ in range(12)))
    memory.curator().run()
    stained, pinned, used = lived[0], lived[1], lived[2]
    memory.episodes.mark(
        [Mark(stained.id, bloodstain=True), Mark(pinned.id, pinned=True), Mark(used.id, used=5, importance=0.9)]
    )
    cycle = memory.curator(rules=CuratorRules(capacity=5)).run()
    assert cycle.counts["evicted"] == 7
    left = {each.id for each in memory.episodes.select(Where(), count=100)}
    assert len(left) == 5
    assert {stained.id, pinned.id, used.id} <= left


def test_when_nothing_else_is_left_the_stained_go_before_the_pinned(memory: Memory) -> None:
    lived = memory.add(*(turn(domain="d") for _ in range(6)))
    memory.curator().run()
    memory.episodes.mark([Mark(each.id, bloodstain=True) for each in lived[:3]])
    memory.episodes.mark([Mark(each.id, pinned=True) for each in lived[3:]])
    for _ in range(3):
        memory.curator(rules=CuratorRules(capacity=3)).run()
    assert {each.id for each in memory.episodes.select(Where())} == {each.id for each in lived[3:]}


# -- cost


class Counting:
    """An episode store that counts the episodes that are read from it and marked."""

    def __init__(self, real: Episodes) -> None:
        self._real = real
        self.touched = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        if name not in ("get", "select", "mark", "vectors_of", "around", "nearest", "matching"):
            return found

        def counted(*args: Any, **kwargs: Any) -> Any:
            answer = found(*args, **kwargs)
            self.touched += len(args[0] if name == "mark" else answer)
            return answer

        return counted


@pytest.mark.slow
def test_a_cycle_costs_what_is_new_and_not_what_is_stored(memory: Memory) -> None:
    touched = []
    for stored in (500, 5000):
        # As if all of these had been consolidated before, in however many cycles.
        memory.episodes.add([turn(f"form {place % 40}", domain=f"d{place % 5}") for place in range(stored)])
        (last,) = memory.episodes.select(Where(), count=1, newest_first=True)
        with memory.db.write() as tx:
            CuratorState(memory.db, memory.clock).set_place(tx, Place(judged=last.seq, learnt=last.seq))
        memory.add(*(turn(f"form {place % 40}", domain=f"d{place % 5}") for place in range(50)))
        counting = Counting(memory.episodes)
        cycle = memory.curator(counting).run()  # type: ignore[arg-type]  # stands in for the store by name
        assert (cycle.counts["new"], cycle.counts["old"]) == (50, 21)
        touched.append(counting.touched)
        memory.add(*(turn(f"form {place % 40}", domain=f"d{place % 5}") for place in range(100)))
        memory.curator(counting).run()  # type: ignore[arg-type]  # as above
        touched.append(counting.touched - touched[-1])
    little, twice_as_new, more_stored, _ = touched
    assert memory.episodes.count() > 5500
    assert more_stored <= little * 1.3, "ten times as much is stored; beside the new only what is watched was read"
    assert little < twice_as_new, "what is new does count"
    assert more_stored < 1200


# -- stopped and killed


@pytest.mark.slow
def test_stopped_after_any_step_it_goes_on_where_it_was(tmp_path: Path) -> None:
    lived = lived_through(4)
    whole = open_memory(tmp_path / "whole")
    whole.add(*lived)
    assert whole.curator().run().finished
    parts = open_memory(tmp_path / "parts")
    parts.add(*lived)
    runs = 0
    while True:
        asked = iter([False, True])
        cycle = parts.curator().run(stop=lambda asked=asked: next(asked, True))  # type: ignore[misc]
        runs += 1
        if cycle.finished:
            break
        assert cycle.why == "stopped"
    assert runs > 5
    assert knowledge(parts) == knowledge(whole)
    whole.close()
    parts.close()


@pytest.mark.slow
def test_it_stops_by_itself_when_its_seconds_are_used_up(memory: Memory) -> None:
    memory.add(*lived_through(4))
    cycle = memory.curator(rules=CuratorRules(cpu_s=0.0)).run()
    assert (cycle.finished, cycle.why) == (False, "cpu")
    assert memory.curator().run().finished


@pytest.mark.slow
def test_progress_is_shown(memory: Memory) -> None:
    memory.add(*lived_through(3))
    seen: list[tuple[str, int, int]] = []
    memory.curator().run(progress=lambda *step_: seen.append(step_))
    assert {what for what, _, _ in seen} == {"judging", "learning"}
    assert seen[-1][1] == seen[-1][2] == 7  # five domains, the order of things, fading


PLACES = (  # where a cycle is killed: each is called within a transaction, or between two
    (Facts, "admit"),
    (Facts, "decay"),
    (SqliteEpisodes, "mark"),
    (CuratorState, "set_place"),
    (CuratorState, "set_plan"),
    (CuratorState, "set_done"),
    (CuratorState, "end_plan"),
    (Reports, "add"),
)


def run_and_be_killed(folder: Path, at: int) -> bool:
    """Begin a cycle, or go on with one, in a process that is killed when it comes to a place; whether it came there."""

    def work() -> None:
        places = itertools.count(1)

        def killing(really: Callable[..., Any]) -> Callable[..., Any]:
            def called(*args: Any, **kwargs: Any) -> Any:
                if next(places) == at:
                    forking.die()
                return really(*args, **kwargs)

            return called

        for owner, name in PLACES:
            setattr(owner, name, killing(getattr(owner, name)))
        open_memory(folder).curator().run()

    ended = forking.run(work)
    assert ended in (0, forking.KILLED)
    return ended == forking.KILLED


@pytest.mark.slow
@pytest.mark.repeated
def test_killed_anywhere_nothing_is_learnt_twice_and_nothing_is_left_out(tmp_path: Path, repeat: Repeat) -> None:
    """At every fifth place, and with `--soak` at all of them."""
    whole = open_memory(tmp_path / "before")
    whole.add(*lived_through(3)[:6])  # two domains
    whole.close()
    shutil.copytree(tmp_path / "before", tmp_path / "whole")
    whole = open_memory(tmp_path / "whole")
    whole.curator().run()
    expected = knowledge(whole)
    whole.close()
    assert expected[0]
    for first in repeat("fifths of the places at which a curator is killed", suite=1, soak=5):
        for at in itertools.count(first + 1, 5):
            folder = tmp_path / f"killed {at}"
            shutil.copytree(tmp_path / "before", folder)
            killed = run_and_be_killed(folder, at)
            memory = open_memory(folder)
            if killed:
                assert memory.curator().run().finished
            assert knowledge(memory) == expected, f"killed at place {at}"
            assert memory.db.problems() == []
            memory.close()
            if not killed:
                break
        assert at > 15, "hardly any place was reached: the test proves nothing"
