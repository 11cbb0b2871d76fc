"""The curator, with real stores: what it learns, what it never learns from, and that nothing stops it for good."""

import os
import random
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from grimoire.happened import START, observed, step, turn
from metnos.core.clock import MovableClock
from metnos.core.ids import UlidMaker
from metnos.grimoire import happenings
from metnos.grimoire.affect import NEUTRAL
from metnos.grimoire.appraisal import Outcome
from metnos.grimoire.curator import Curator, Numbers
from metnos.grimoire.curator_rules import CuratorRules
from metnos.grimoire.curator_state import CuratorState, Place
from metnos.grimoire.episode import Episode, Scope, Verdict, Where
from metnos.grimoire.episodes import Episodes, open_episodes
from metnos.grimoire.fact import Fact, Kind, Standing
from metnos.grimoire.facts import Facts
from metnos.grimoire.memory_schema import MIGRATIONS
from metnos.grimoire.mood import Mood
from metnos.grimoire.reports import Reports
from metnos.store.db import Database

NOW = START + timedelta(days=1)


@dataclass
class Memory:
    """A memory with a curator."""

    db: Database
    clock: MovableClock
    episodes: Episodes
    facts: Facts
    outcomes: dict[str, Outcome]
    considered: list[tuple[list[Fact], int]]

    def curator(self, episodes: Episodes | None = None, rules: CuratorRules | None = None, **more: Any) -> Curator:
        return Curator(
            self.db,
            self.clock,
            UlidMaker(self.clock),
            episodes or self.episodes,
            self.facts,
            outcome_of=lambda source: self.outcomes.get(source, Outcome()),
            playbook=self._consider,
            numbers=Numbers(curator=rules or CuratorRules()),
            **more,
        )

    def _consider(self, heuristics: Sequence[Fact], ticks: int) -> tuple[int, int]:
        self.considered.append((list(heuristics), ticks))
        return 0, 0

    def add(self, *lived: Episode) -> list[Episode]:
        """Take in, as capture does: without any judgement."""
        raw = [replace(each, verdict=Verdict.UNJUDGED, importance=None, seq=0) for each in lived]
        self.episodes.add(raw, None, None)
        return raw

    def known(self, *kinds: Kind) -> list[Fact]:
        return self.facts.find(kinds=kinds, standings=())

    def get(self, episode: Episode) -> Episode:
        (found,) = self.episodes.get([episode.id])
        return found

    def close(self) -> None:
        self.episodes.close()
        self.db.close()


def open_memory(folder: Path) -> Memory:
    clock = MovableClock(NOW)
    db = Database(folder / "grimoire.db", MIGRATIONS, busy_timeout_s=30)
    facts = Facts(db, clock, UlidMaker(clock), happenings.tell(db, clock))
    return Memory(db, clock, open_episodes(folder / "episodes", "sqlite", clock, 30), facts, {}, [])


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    made = open_memory(tmp_path)
    yield made
    made.close()


def failing(count: int, url: str = "slow.example", **changes: Any) -> list[Episode]:
    bad = step("fetch_pages", ok=False, kind="timeout", url=url)
    return [
        turn("fetch {url}", bad, at=timedelta(minutes=place), state="failed", domain="web", **changes)
        for place in range(count)
    ]


def corrected(place: int) -> list[Episode]:
    at, talk = place * timedelta(hours=1), f"S{place}"
    bad, good = step("move_files", to="/srv/old"), step("move_files", to="/srv/papers")
    first = turn("move the {glob}", bad, at=at, session=talk, payload={"feedback": False})
    return [first, turn("move the {glob}", good, at=at + timedelta(minutes=1), session=talk)]


# -- what is learnt


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


def test_a_model_is_asked_about_topics_and_its_failure_changes_nothing_else(memory: Memory) -> None:
    import numpy as np

    from metnos.core.embedding import Space
    from metnos.core.errors import ModelError

    space = Space("test", "1", "", 4)
    lived = [replace(each, verdict=Verdict.UNJUDGED) for each in failing(4)]
    memory.episodes.add(lived, np.tile(np.array([[1, 0, 0, 0]], np.float32), (4, 1)), space)
    asked: list[str] = []

    def think(material: str) -> str:
        asked.append(material)
        raise ModelError("it does not answer", kind="timeout")

    assert memory.curator(think=think).run().finished
    assert len(asked) == 1
    assert lived[0].text in asked[0]
    assert memory.known(Kind.ANTI)


# -- what is not learnt from


@pytest.mark.parametrize("payload", [{"feedback": False}, {"undone": True}, {"state": "waiting"}, {"steps": []}])
def test_what_is_not_verified_never_consolidates(memory: Memory, payload: dict[str, Any]) -> None:
    measured = {**payload, "measures": {"temperature": 20.0}}
    memory.add(*(turn("x", step("fetch_pages", url="a"), payload=measured) for _ in range(6)))
    memory.curator().run()
    assert memory.known() == []


def test_what_is_bound_to_one_conversation_is_not_learnt_from(memory: Memory) -> None:
    memory.add(*failing(6, scope=Scope.SESSION))
    memory.curator().run()
    assert memory.known() == []


def test_what_different_people_said_is_never_put_together(memory: Memory) -> None:
    memory.add(*failing(2, sender="guest", scope=Scope.SENDER), *failing(2))
    memory.curator().run()
    assert memory.known(Kind.ANTI) == []
    memory.add(*failing(2, sender="guest", scope=Scope.SENDER))
    memory.curator().run()
    assert [(each.sender, each.scope) for each in memory.known(Kind.ANTI)] == [("guest", Scope.SENDER)]


def test_judging_marks_episodes_and_moves_the_mood(memory: Memory) -> None:
    (good, bad) = memory.add(turn(), turn(payload={"undone": True}))
    memory.curator().run()
    assert (memory.get(good).verdict, memory.get(bad).verdict) == (Verdict.VERIFIED, Verdict.REJECTED)
    assert memory.get(good).importance != memory.get(bad).importance
    assert memory.get(good).pad.pleasure > 0 > memory.get(bad).pad.pleasure
    assert Mood(memory.db, memory.clock).now() != NEUTRAL


def test_a_word_that_comes_later_is_noticed_and_weakens_what_was_learnt(memory: Memory) -> None:
    lived = memory.add(*failing(3))
    memory.curator().run()
    (before,) = memory.known(Kind.HEURISTIC)
    memory.outcomes[lived[0].source] = Outcome(feedback=False)
    memory.curator().run()
    (after,) = memory.known(Kind.HEURISTIC)
    assert memory.get(lived[0]).verdict is Verdict.REJECTED
    assert after.confidence == pytest.approx(before.confidence * 2 / 3, rel=0.01)


def test_what_is_verified_later_is_learnt_from_later(memory: Memory) -> None:
    talked = [turn("x", state="talked", payload={"steps": [], "measures": {"stars": 5.0}}) for _ in range(3)]
    memory.add(*talked)
    memory.curator().run()
    assert memory.known() == []
    memory.outcomes.update({each.source: Outcome(feedback=True) for each in talked})
    memory.curator().run()
    assert "stars" in {each.data["metric"] for each in memory.known(Kind.BASELINE)}


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


# -- room


def test_when_there_is_no_room_the_least_worth_goes_and_what_is_marked_stays(memory: Memory) -> None:
    lived = memory.add(*(turn(domain="d") for _ in range(12)))
    memory.curator().run()
    from metnos.grimoire.episode import Mark

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
    from metnos.grimoire.episode import Mark

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


def lived_through(days: int) -> list[Episode]:
    """Several domains, each with something to learn."""
    made = []
    for domain in ("a", "b", "c", "d", "e"):
        for place in range(days):
            bad = step(f"fetch_{domain}", ok=False, kind="timeout", url=f"{domain}.example")
            made.append(turn(f"get {domain}", bad, at=timedelta(hours=place), state="failed", domain=domain))
    return made


def knowledge(memory: Memory) -> tuple[Any, ...]:
    """All that was learnt and felt, and how often it was reported."""
    facts = sorted(
        (str(each.kind), each.text, round(each.confidence, 6), each.data.get("count"), tuple(sorted(each.sources)))
        for each in memory.known()
    )
    return facts, Mood(memory.db, memory.clock).now(), len(Reports(memory.db, memory.clock).latest("curator", 100))


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


def test_it_stops_by_itself_when_its_seconds_are_used_up(memory: Memory) -> None:
    memory.add(*lived_through(4))
    cycle = memory.curator(rules=CuratorRules(cpu_s=0.0)).run()
    assert (cycle.finished, cycle.why) == (False, "cpu")
    assert memory.curator().run().finished


def test_progress_is_shown(memory: Memory) -> None:
    memory.add(*lived_through(3))
    seen: list[tuple[str, int, int]] = []
    memory.curator().run(progress=lambda *step_: seen.append(step_))
    assert {what for what, _, _ in seen} == {"judging", "learning"}
    assert seen[-1][1] == seen[-1][2] == 7  # five domains, the order of things, fading


def kill_in_the_middle(folder: Path, steps: int, late_s: float) -> bool:
    """Begin or go on with a cycle in a process that is killed so long after so many steps; whether it was in time."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            memory, left = open_memory(folder), iter(range(steps, -1, -1))

            def stop() -> bool:
                if next(left, None) == 0:
                    os.write(theirs, b"x")
                return False

            memory.curator().run(stop=stop)
        finally:
            os._exit(0)
    os.close(theirs)
    reached = os.read(ours, 1) == b"x"
    time.sleep(late_s if reached else 0)
    os.kill(child, signal.SIGKILL)
    os.close(ours)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def test_killed_at_any_moment_nothing_is_learnt_twice_and_nothing_is_left_out(tmp_path: Path) -> None:
    chance, lived = random.Random(5), lived_through(4)
    whole = open_memory(tmp_path / "whole")
    whole.add(*lived)
    whole.curator().run()
    expected = knowledge(whole)
    whole.close()
    kills = 0
    for round_ in range(3):
        memory = open_memory(tmp_path / f"killed {round_}")
        memory.add(*lived)
        memory.close()
        for steps in range(6):
            kills += kill_in_the_middle(tmp_path / f"killed {round_}", steps % 4, chance.random() * 0.02)
        memory = open_memory(tmp_path / f"killed {round_}")
        if not knowledge(memory)[2]:
            assert memory.curator().run().finished
        assert knowledge(memory) == expected
        assert memory.db.problems() == []
        memory.close()
    assert kills > 6, "hardly any process was killed: the test proves nothing"
