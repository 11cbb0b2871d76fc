"""Deliberation: what hangs on events, in the light of what is known."""

from dataclasses import replace
from pathlib import Path

import pytest

from grimoire.facts_made import fact
from life.watching import Watching
from metnos.core.clock import MovableClock
from metnos.core.errors import ModelError
from metnos.grimoire.episode import Provenance, Scope
from metnos.grimoire.fact import Kind
from metnos.life import deliberation
from metnos.life.deliberation import Deliberated, Deliberation, Ponder, Thought


@pytest.fixture
def mind(tmp_path: Path, clock: MovableClock) -> Watching:
    return Watching(tmp_path, clock)


def think(mind: Watching, ponder: Ponder | None = None) -> Deliberated:
    return Deliberation(mind, mind.places, ponder).think()


def worth(mind: Watching, key: str) -> float | None:
    (found,) = mind.episodes.get([key])
    return found.importance


def test_the_most_curious_events_are_weighed_and_the_weight_stays_with_them(mind: Watching) -> None:
    keys = [mind.sees("transfer", curiosity=0.1) for _ in range(10)]
    alarm = mind.sees("liquidation", curiosity=0.9)
    found = think(mind)
    assert (found.seen, len(found.thoughts)) == (11, 5)
    assert worth(mind, alarm) == pytest.approx(0.7 * 0.9)
    assert sum(worth(mind, key) is not None for key in keys) == 4
    assert {each.task for each in found.thoughts} == {"routine_monitoring", "anomaly_investigation"}


def test_each_event_is_thought_about_once(mind: Watching) -> None:
    mind.sees("swap")
    assert think(mind).seen == 1
    assert think(mind).seen == 0
    mind.sees("swap")
    assert think(mind).seen == 1


def test_what_a_heartbeat_thought_is_not_overruled_by_consolidation(mind: Watching) -> None:
    alarm = mind.sees("liquidation", curiosity=0.9)
    think(mind)
    before = worth(mind, alarm)
    mind.consolidate(60.0)
    assert worth(mind, alarm) == before


def test_what_is_warned_of_matters_more(mind: Watching) -> None:
    first = mind.sees("swap")
    think(mind)
    scope = {"domain": "pool", "scope": Scope.AGENT}
    mind.facts.put(
        fact(kind=Kind.ANTI, text="swaps at pool lose money", confidence=0.9, data={"event": "swap"}, **scope)
    )
    second, other = mind.sees("swap"), mind.sees("mint")
    think(mind)
    assert (worth(mind, second) or 0) > (worth(mind, first) or 0)
    assert worth(mind, other) == pytest.approx(0.7 * 0.4)


def test_a_place_where_everything_reverts_is_learnt_as_a_warning_and_what_happens_there_matters_more(
    mind: Watching,
) -> None:
    before = mind.sees("swap", about="trap")
    for _ in range(12):
        mind.sees("reverted", about="trap")
    think(mind)
    mind.consolidate(60.0)
    (warning,) = mind.facts.find(kinds=(Kind.ANTI,), domains=("trap",), count=5)
    assert warning.tags == ("risk_events",)
    after, elsewhere = mind.sees("swap", about="trap"), mind.sees("swap", about="pool")
    think(mind)
    assert (worth(mind, after) or 0) > (worth(mind, elsewhere) or 0)
    assert before


def test_baselines_foretell_and_what_they_foretold_is_scored(mind: Watching) -> None:
    for number in range(30):
        mind.sees("transfer", 1.0 + number % 3 / 10)
    think(mind)
    mind.consolidate(60.0)
    usual, odd = mind.sees("transfer", 1.1), mind.sees("transfer", 50.0)
    found = think(mind).foretold
    assert [each.ok for each in found[usual]] == [True, True, True]
    assert sorted(each.ok for each in found[odd]) == [False, True, True]
    assert all(each.expects and 0 < each.confidence <= 1 and each.fact for told in found.values() for each in told)


def test_a_newborn_foretells_nothing(mind: Watching) -> None:
    mind.sees("transfer")
    assert think(mind).foretold == {}


def test_a_model_can_make_an_event_more_important_and_never_less(mind: Watching) -> None:
    low, high = mind.sees("liquidation"), mind.sees("transfer")

    def ponder(thought: Thought) -> float:
        return 0.05 if thought.episode.id == low else 7.0

    found = think(mind, ponder)
    assert (found.asked, found.unanswered) == (2, 0)
    assert worth(mind, low) == pytest.approx(0.63)
    assert worth(mind, high) == 1.0


def test_a_model_that_fails_costs_its_word_and_nothing_else(mind: Watching) -> None:
    key = mind.sees("liquidation")

    def ponder(_: Thought) -> float:
        raise ModelError("it is away", kind="unreachable")

    found = think(mind, ponder)
    assert (found.asked, found.unanswered) == (1, 1)
    assert worth(mind, key) == pytest.approx(0.63)


def test_the_owner_hears_of_what_matters_most_first(mind: Watching) -> None:
    mind.sees("transfer")
    key = mind.sees("liquidation")
    thoughts = think(mind, lambda thought: 0.95 if thought.episode.id == key else 0.85).thoughts
    assert [each.importance for each in deliberation.told(thoughts)] == [0.95, 0.85]
    assert deliberation.told(think(mind).thoughts) == []


def test_what_somebody_else_expected_is_not_scored(mind: Watching) -> None:
    """A testament with absurd baselines would end its heir by them."""
    for number in range(30):
        mind.sees("transfer", 1.0 + number % 3 / 10)
    think(mind)
    mind.consolidate(60.0)
    for each in mind.facts.find(kinds=(Kind.BASELINE,)):
        mind.facts.put(replace(each, provenance=Provenance.TESTAMENT))
    mind.sees("transfer", 50.0)
    assert think(mind).foretold == {}
