"""Somatic markers as they are kept: warned at once, from digests, by what is known now."""

from datetime import timedelta
from pathlib import Path

import pytest

from grimoire.happened import START, step, turn
from metnos.core.clock import MovableClock
from metnos.grimoire.appraisal import NO_OUTCOME, Outcome
from metnos.grimoire.memory_schema import MIGRATIONS
from metnos.grimoire.somatic import KEPT, Planned, Somatic, Warned
from metnos.store.db import Database

FORM = "move the files in {path}"


class World:
    def __init__(self, folder: Path) -> None:
        self.clock = MovableClock(START)
        self.db = Database(folder / "grimoire.db", MIGRATIONS, clock=self.clock)
        self.somatic = Somatic(self.db, self.clock)
        self.outcomes: dict[str, Outcome] = {}

    def met(
        self, *, ok: bool = True, path: str = "/data/taxes", state: str = "", form: str = FORM, **more: object
    ) -> str:
        self.clock.move(timedelta(hours=1))
        steps = [step("move_files", ok=ok, kind="" if ok else "not_found", path=path)]
        episode = turn(form, *steps, state=state or ("done" if ok else "failed"), ts=self.clock.now(), **more)  # type: ignore[arg-type]
        self.somatic.note(episode)
        return episode.source

    def warned(self, path: str = "/data/taxes", form: str = FORM, sender: str = "owner") -> list[Warned]:
        steps = [Planned("move_files", {"path": path})]
        return self.somatic.warnings(steps, form, sender, lambda source: self.outcomes.get(source, NO_OUTCOME))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_one_failure_warns_the_next_time_and_only_of_the_same_thing(world: World) -> None:
    source = world.met(ok=False)
    (found,) = world.warned()
    assert (found.place, found.situation.value, found.bad, found.of) == (1, "/data/taxes", 1, 1)
    assert (found.last.end.source, found.last.why, found.last.end.kind) == (source, "failed", "not_found")
    assert world.warned("/data/other") == []


def test_two_failures_warn_of_the_form_of_request(world: World) -> None:
    world.met(ok=False, path="/a/one")
    assert world.warned("/c/three") == []
    world.met(ok=False, path="/b/two")
    (found,) = world.warned("/c/three")
    assert found.situation.place == "form"


def test_what_went_well_warns_of_nothing_until_it_is_taken_back_or_disliked(world: World) -> None:
    source = world.met()
    assert world.warned() == []
    world.outcomes[source] = Outcome(undone=True)
    assert world.warned()[0].last.why == "undone"
    world.outcomes[source] = Outcome(feedback=False)
    assert world.warned()[0].last.why == "disliked"
    world.outcomes[source] = Outcome(feedback=True)
    assert world.warned() == []


def test_a_success_makes_up_for_a_failure(world: World) -> None:
    world.met(ok=False)
    world.met()
    assert world.warned() == []


def test_the_worst_situation_of_a_step_speaks_for_it(world: World) -> None:
    world.met(ok=False)
    world.met(ok=False, path="/b/two")
    world.met(ok=False, path="/b/three")
    world.outcomes[world.met(path="/data/taxes", form="other words")] = Outcome(feedback=False)
    (found,) = world.warned()
    assert found.situation.place == "path"


def test_taking_the_same_episode_in_again_counts_once(world: World) -> None:
    episode = turn(FORM, step("move_files", ok=False, path="/data/taxes"), state="failed")
    assert world.somatic.note(episode) == 2
    assert world.somatic.note(episode) == 0


def test_what_never_ended_leaves_nothing(world: World) -> None:
    world.met(ok=False, state="refused")
    world.met(ok=False, state="waiting")
    assert world.warned() == []


def test_what_flowed_from_another_step_is_no_situation(world: World) -> None:
    flowed = {**step("move_files", ok=False, path="/data/taxes"), "flowed": ["path"]}
    world.somatic.note(turn("", flowed, state="failed"))
    assert world.warned(form="") == []


def test_only_the_newest_ends_are_kept_and_none_for_longer_than_a_year(world: World) -> None:
    for _ in range(KEPT + 4):
        world.met(ok=False, form="")
    assert world.db.first("SELECT count(*) FROM somatic") == (KEPT,)
    world.clock.move(timedelta(days=400))
    world.met(path="/else/where", form="")
    assert world.db.first("SELECT count(*) FROM somatic") == (1,)


def test_one_persons_scars_warn_nobody_else(world: World) -> None:
    world.met(ok=False, sender="telegram:7")
    assert world.warned() == []
    assert world.warned(sender="telegram:7")


def test_nothing_that_was_said_can_be_read_in_it_and_it_is_forgotten_with_its_turn(
    world: World, tmp_path: Path
) -> None:
    source = world.met(ok=False)
    world.db.first("PRAGMA wal_checkpoint(TRUNCATE)")
    assert b"taxes" not in (tmp_path / "grimoire.db").read_bytes()
    assert world.somatic.forget([source]) == 2
    assert world.warned() == []


def test_a_plan_without_steps_asks_nothing(world: World) -> None:
    assert world.somatic.warnings([], "x", "owner", lambda _: NO_OUTCOME) == []
