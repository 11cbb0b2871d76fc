from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from grimoire.traces import START
from metnos.core.clock import MovableClock
from metnos.core.ids import UlidMaker
from metnos.grimoire import memory_schema
from metnos.grimoire.appraisal import NO_OUTCOME, Outcome
from metnos.grimoire.episode import Episode, Provenance
from metnos.grimoire.episodes import Engine, open_episodes
from metnos.grimoire.fact import Decay, Fact, Kind
from metnos.grimoire.facts import Facts
from metnos.grimoire.usefulness import WAIT, Usefulness
from metnos.store.db import Database

STEERED = ({"id": "01FACT", "kind": "fact", "steered": True},)
SHOWN = ({"id": "01EPISODE", "kind": "episode", "score": 0.5}, {"id": "01FACT", "kind": "fact"})


class World:
    def __init__(self, folder: Path) -> None:
        self.clock = MovableClock(START)
        self.db = Database(folder / "grimoire.db", memory_schema.MIGRATIONS, clock=self.clock)
        self.facts = Facts(self.db, self.clock, UlidMaker(self.clock))
        self.episodes: Engine = open_episodes(folder / "episodes", "sqlite", self.clock)
        self.useful = Usefulness(self.db, self.clock)
        self.outcome = NO_OUTCOME
        self.episodes.add([Episode("01EPISODE", START, "it rained", "01EPISODE")], None, None)
        self.facts.put(
            Fact("01FACT", Kind.ANTI, "find_files fails on /srv.", "files", 0.6, 0.6, Provenance.SELF, Decay.STRATEGIC,
                 START, START, START)
        )  # fmt: skip

    def settle(self) -> int:
        return len(self.useful.settle(self.facts, self.episodes, lambda _turn: self.outcome))

    def counted(self) -> tuple[int, int, int]:
        (fact,), (episode,) = self.facts.get(["01FACT"]), self.episodes.get(["01EPISODE"])
        return fact.helped, fact.harmed, episode.used


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.episodes.close()
    made.db.close()


def test_being_shown_strengthens_nothing(world: World) -> None:
    world.useful.note("01TURN", SHOWN)
    world.clock.move(2 * WAIT)
    assert world.settle() == 0
    assert world.counted() == (0, 0, 0)


def test_what_steered_a_plan_that_was_let_stand_helped_once(world: World) -> None:
    world.useful.note("01TURN", STEERED)
    assert world.settle() == 0  # nobody can know yet
    world.clock.move(WAIT + timedelta(minutes=1))
    assert world.settle() == 1
    assert world.settle() == 0
    assert world.counted() == (1, 0, 0)


@pytest.mark.parametrize("outcome", [Outcome(feedback=False), Outcome(undone=True)])
def test_what_steered_a_plan_that_was_taken_back_did_harm(world: World, outcome: Outcome) -> None:
    world.useful.note("01TURN", STEERED)
    world.outcome = outcome
    assert world.settle() == 1
    assert world.counted() == (0, 1, 0)


def test_the_owners_praise_is_for_everything_that_was_shown(world: World) -> None:
    world.useful.note("01TURN", SHOWN)
    world.outcome = Outcome(feedback=True)
    assert world.settle() == 2
    assert world.counted() == (1, 0, 1)


def test_taking_a_turn_in_again_counts_nothing_twice(world: World) -> None:
    for _ in range(2):
        world.useful.note("01TURN", STEERED)
    world.outcome = Outcome(feedback=True)
    world.settle()
    world.useful.note("01TURN", STEERED)
    world.settle()
    assert world.counted() == (1, 0, 0)


def test_facts_that_helped_in_one_turn_are_linked(world: World) -> None:
    (fact,) = world.facts.get(["01FACT"])
    world.facts.put(replace(fact, id="01OTHER", subject="other", text="list_files is slow on /net."))
    world.useful.note("01TURN", (*STEERED, {"id": "01OTHER", "kind": "fact", "steered": True}))
    world.outcome = Outcome(feedback=True)
    assert world.settle() == 2
    assert "01OTHER" in {*world.facts.links("01FACT", "used_with"), *world.facts.links("01OTHER", "used_with")}


def test_what_is_no_memory_is_not_noted(world: World) -> None:
    world.useful.note("01TURN", ({"kind": "fact", "text": "x"}, {"id": "1", "kind": "rumour"}))
    assert world.db.query("SELECT * FROM recalls") == []


def test_what_is_forgotten_leaves_no_row(world: World) -> None:
    world.useful.note("01TURN", STEERED)
    world.useful.note("01OTHER", SHOWN)
    assert world.useful.forget(["01TURN"], ["01EPISODE"]) == 2
    assert world.db.query("SELECT turn, memory FROM recalls") == [("01OTHER", "01FACT")]
