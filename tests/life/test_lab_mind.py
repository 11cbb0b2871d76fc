"""A learner of the lab: it learns what its owner puts right, avoids what fails, and gives up what misleads."""

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from metnos.core.clock import MovableClock
from metnos.grimoire import fact_rules
from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Kind
from metnos.life.lab_mind import EVERY, START, Learner
from metnos.life.lab_world import Task

WAYS = ("file_letters_date", "file_letters_sender", "file_letters_size")
TRAP = "file_letters_size"


@pytest.fixture
def learner(tmp_path: Path) -> Iterator[Learner]:
    made = Learner(tmp_path / "0", MovableClock(START), fact_rules.RULES)
    yield made
    made.close()


def task(number: int, right: str = WAYS[0], form: str = "file the letters of amber north") -> Task:
    return Task(number / 3, form, "letters", WAYS, right, frozenset({TRAP}))


def work(learner: Learner, first: int, count: int, right: str = WAYS[0]) -> list[str]:
    """So many tasks; what was decided."""
    done = []
    for number in range(first, first + count):
        todo = task(number, right)
        decided = learner.decide(todo, random.Random(number))
        done.append(decided.way)
        learner.see(todo, decided)
    return done


@pytest.mark.slow
def test_it_guesses_until_the_first_consolidation_and_knows_after_it(learner: Learner) -> None:
    before = work(learner, 0, EVERY)
    assert {WAYS[0], WAYS[1]} < set(before)
    assert set(work(learner, EVERY, 5)) == {WAYS[0]}
    assert learner.facts.find(kinds=(Kind.PROCEDURAL,))


def test_it_is_warned_of_what_failed_and_guesses_something_else(learner: Learner) -> None:
    work(learner, 0, EVERY)
    (warning,) = learner.facts.find(kinds=(Kind.ANTI,))
    assert warning.data["executor"] == TRAP
    other = [
        learner.decide(task(EVERY, form="file the letters of birch river"), random.Random(n)).way for n in range(40)
    ]
    assert set(other) == set(WAYS) - {TRAP}


@pytest.mark.slow
def test_what_misleads_is_given_up(learner: Learner) -> None:
    work(learner, 0, EVERY)
    work(learner, EVERY, EVERY, right=WAYS[1])
    assert set(work(learner, 2 * EVERY, 5, right=WAYS[1])) == {WAYS[1]}


@pytest.mark.slow
def test_the_same_tasks_teach_the_same_with_the_same_ids(tmp_path: Path) -> None:
    known = []
    for place in ("one", "two"):
        (tmp_path / place).mkdir()
        made = Learner(tmp_path / place / "0", MovableClock(START), fact_rules.RULES)
        work(made, 0, EVERY)
        known.append([(fact.id, fact.text, fact.confidence) for fact in made.facts.find(standings=())])
        made.close()
    assert known[0] == known[1] != []


@pytest.mark.slow
def test_a_strict_one_heeds_only_what_is_its_own(tmp_path: Path) -> None:
    made = Learner(tmp_path / "0", MovableClock(START), fact_rules.RULES, strict=True)
    work(made, 0, EVERY)
    assert made.decide(task(EVERY), random.Random(1)).fact is not None
    for fact in made.facts.find():
        made.facts.put(replace(fact, provenance=Provenance.TESTAMENT))
    made.learn()  # what is known is looked up again
    assert made.decide(task(EVERY), random.Random(1)).fact is None
    made.close()
