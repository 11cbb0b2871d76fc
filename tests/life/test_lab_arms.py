"""What a generation leaves to the next, arm by arm, with real testaments."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Kind
from metnos.life.lab_arms import KEEPING, Arm, Left, Line, Way, further_arms, main_arms
from metnos.life.lab_mind import EVERY
from metnos.life.lab_world import STREAMS, Size, Task, tasks

SIZE = Size(generations=2, ticks=EVERY, forms=4, areas=2)
STILL = tasks(STREAMS[0], 1, SIZE)


def lived(way: Way, folder: Path, entries: int = 6) -> Line:
    """A line whose first generation has worked."""
    folder.mkdir()
    line = Line(Arm(str(way), way, entries), folder, "still 1", STILL)
    work(line, STILL[:EVERY])
    return line


def work(line: Line, todo: list[Task]) -> int:
    """How much was wrong."""
    wrong = 0
    for number, task in enumerate(todo):
        decided = line.learner.decide(task, random.Random(number))
        wrong += decided.way != task.right
        line.learner.see(task, decided)
    return wrong


@pytest.mark.slow
def test_who_inherits_nothing_knows_nothing(tmp_path: Path) -> None:
    line = lived(Way.NONE, tmp_path / "a")
    left = line.succeed()
    assert (left.known > 0, left.taken, line.learner.facts.count()) == (True, 0, 0)
    line.close()


@pytest.mark.slow
@pytest.mark.parametrize("way", [Way.BOTTLENECK, Way.RANDOM])
def test_a_testament_carries_so_many_entries_and_no_more_discounted(way: Way, tmp_path: Path) -> None:
    line = lived(way, tmp_path / "a")
    left = line.succeed()
    assert left.known > left.crossed == 6 >= left.taken > 0
    assert left.size > 1000
    known = line.learner.facts.find(standings=())
    assert {fact.provenance for fact in known} == {Provenance.TESTAMENT}
    assert all(fact.confidence <= 0.4 for fact in known)
    line.close()


@pytest.mark.slow
def test_the_bottleneck_never_leaves_a_warning_behind(tmp_path: Path) -> None:
    line = lived(Way.BOTTLENECK, tmp_path / "a", entries=3)
    warned = {fact.data["executor"] for fact in line.learner.facts.find(kinds=(Kind.ANTI,))}
    line.succeed()
    assert warned == {fact.data["executor"] for fact in line.learner.facts.find(kinds=(Kind.ANTI,))}
    assert warned
    line.close()


@pytest.mark.slow
def test_an_heir_decides_by_what_it_inherited_and_makes_it_its_own(tmp_path: Path) -> None:
    line = lived(Way.BOTTLENECK, tmp_path / "a", entries=20)
    line.succeed()
    todo = STILL[EVERY : 2 * EVERY]
    assert line.learner.decide(todo[0], random.Random(0)).is_inherited
    assert work(line, todo) < len(todo) / 2
    assert any(fact.provenance is Provenance.SELF for fact in line.learner.facts.find())
    line.close()


@pytest.mark.slow
@pytest.mark.parametrize("way", [Way.TOTAL, Way.DEATHLESS])
def test_who_does_not_die_goes_on_as_it_is(way: Way, tmp_path: Path) -> None:
    line = lived(way, tmp_path / "a")
    before = line.learner
    assert line.succeed() == Left()
    assert line.learner is before
    assert (before.facts.rules == KEEPING) == (way is Way.TOTAL)
    line.close()


@pytest.mark.slow
def test_the_same_name_gives_the_same_testament(tmp_path: Path) -> None:
    found = []
    for place in ("a", "b"):
        line = lived(Way.RANDOM, tmp_path / place)
        line.succeed()
        found.append([(fact.id, fact.text, fact.confidence) for fact in line.learner.facts.find(standings=())])
        line.close()
    assert found[0] == found[1] != []


def test_who_never_doubts_believes_no_less_what_misled(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    line = Line(Arm("stubborn", Way.TOTAL, stubborn=True), tmp_path / "a", "still 1", STILL)
    assert line.learner.facts.rules == replace(KEEPING, weakening=0.0)
    line.close()


def test_arms_have_names_of_their_own() -> None:
    names = [arm.name for arm in (*main_arms(16), *further_arms(16))]
    assert len(set(names)) == len(names) == 11
