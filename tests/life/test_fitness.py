"""Facts are scored when a turn closes, and once more when the owner says something."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from grimoire.facts_made import fact
from grimoire.traces import step
from metnos.core.clock import MovableClock
from metnos.grimoire.appraisal import NO_OUTCOME, Outcome
from metnos.grimoire.fact import Fact, Kind
from metnos.life import schema
from metnos.life.fitness import Fitness
from metnos.life.fitness_rules import Foretold
from metnos.store.db import Database
from support import START

HOW = fact("how", kind=Kind.PROCEDURAL, confidence=0.9, data={"prefer": {"executor": "find_files"}})
FAILS = fact("fails", kind=Kind.ANTI, confidence=0.9, data={"executor": "move_files"})
STEPS = (step(1, "find_files"), step(2, "move_files"))


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "life.db", schema.MIGRATIONS)
    yield made
    made.close()


@pytest.fixture
def fitness(db: Database, clock: MovableClock) -> Fitness:
    return Fitness(db, clock)


def nothing(_turn: str) -> Outcome:
    return NO_OUTCOME


def test_before_anything_was_foretold_it_is_whole(fitness: Fitness) -> None:
    assert fitness.value() == 1.0
    assert fitness.counts() == (0, 0)


def test_what_came_true_and_what_did_not_is_counted_once(fitness: Fitness) -> None:
    assert fitness.note("t1", START, [HOW, FAILS], STEPS) == 2
    assert fitness.note("t1", START, [HOW, FAILS], STEPS) == 0
    assert fitness.counts() == (2, 1)  # the move went well, which was not foretold
    assert 0.8 < fitness.value() < 1.0


def test_a_complaint_within_a_day_turns_a_score_round_and_the_warning_was_right(
    fitness: Fitness, clock: MovableClock
) -> None:
    fitness.note("t1", START, [HOW, FAILS], STEPS)
    clock.move(timedelta(hours=1))
    assert fitness.settle(nothing) == 0
    assert fitness.settle(lambda _: Outcome(feedback=False)) == 2
    assert fitness.counts() == (2, 1)  # now it is the other one
    assert fitness.settle(nothing) == 0  # what the owner said is final


def test_after_a_day_nothing_changes_any_more(fitness: Fitness, clock: MovableClock) -> None:
    fitness.note("t1", START, [HOW], STEPS)
    clock.move(timedelta(days=1, seconds=1))
    assert fitness.settle(nothing) == 0
    assert fitness.settle(lambda _: Outcome(undone=True)) == 0
    assert fitness.counts() == (1, 1)


def test_each_turn_is_asked_about_once_however_many_facts_it_has(fitness: Fitness) -> None:
    asked: list[str] = []
    facts: list[Fact] = [HOW, FAILS, fact("more", kind=Kind.ANTI, data={"executor": "find_files"})]
    fitness.note("t1", START, facts, STEPS)

    def outcome(turn: str) -> Outcome:
        asked.append(turn)
        return NO_OUTCOME

    fitness.settle(outcome)
    assert asked == ["t1"]


def test_what_was_only_watched_is_final_at_once(fitness: Fitness, db: Database) -> None:
    assert fitness.score("event", START, [Foretold("usual", 0.7, 1, True, False)]) == 1
    assert fitness.settle(lambda _: Outcome(feedback=True)) == 0
    assert fitness.counts() == (1, 0)
    assert db.query("SELECT final FROM scores") == [(1,)]


def test_many_wrong_ones_make_it_senescent(fitness: Fitness) -> None:
    for number in range(40):
        fitness.note(f"t{number}", START, [FAILS], STEPS)
    assert fitness.value() < 0.35


def test_what_is_forgotten_has_no_score(fitness: Fitness) -> None:
    fitness.note("t1", START, [HOW, FAILS], STEPS)
    fitness.note("t2", START, [HOW, FAILS], STEPS)
    assert fitness.forget(["t1"], []) == 2
    assert fitness.forget([], ["fails"]) == 1
    assert fitness.counts() == (1, 1)
