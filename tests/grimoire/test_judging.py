"""Judging what is new, and again what a word may have come on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from grimoire.curated import Memory, failing, open_memory
from grimoire.happened import turn
from metnos.grimoire.affect import NEUTRAL
from metnos.grimoire.appraisal import Outcome
from metnos.grimoire.curator_rules import CuratorRules
from metnos.grimoire.episode import Mark, Verdict
from metnos.grimoire.fact import Kind
from metnos.grimoire.mood import Mood


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    made = open_memory(tmp_path)
    yield made
    made.close()


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


def test_a_verdict_that_somebody_else_noted_is_noticed(memory: Memory) -> None:
    talked = [turn("x", state="talked", payload={"steps": [], "measures": {"stars": 5.0}}) for _ in range(3)]
    memory.add(*talked)
    memory.curator().run()
    memory.episodes.mark([Mark(each.id, verdict=Verdict.VERIFIED) for each in talked])
    memory.curator().run()
    assert "stars" in {each.data["metric"] for each in memory.known(Kind.BASELINE)}


def test_after_two_weeks_nobody_waits_for_a_word_any_more(memory: Memory) -> None:
    (lived,) = memory.add(turn())
    memory.curator(rules=CuratorRules(watched_days=0)).run()
    memory.outcomes[lived.source] = Outcome(undone=True)
    memory.curator().run()
    assert memory.get(lived).verdict is Verdict.VERIFIED


def test_what_cannot_be_taken_back_and_was_disliked_leaves_a_stain(memory: Memory) -> None:
    (lived,) = memory.add(turn(payload={"irreversible": True}))
    memory.curator().run()
    assert not memory.get(lived).bloodstain
    memory.outcomes[lived.source] = Outcome(feedback=False)
    memory.curator().run()
    assert memory.get(lived).bloodstain
