"""What calls were worth, as the store keeps it."""

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grimoire.traces import SECRET, START, secretive, step
from metnos.app import tables
from metnos.executors import fitness
from metnos.executors.fitness_rules import Said
from metnos.store.db import Database

DAY = timedelta(days=1)
DIGEST = "d" * 64
WELL = step(wall_ms=0)
ILL = step(ok=False, kind="failed", gap_after=2, wall_ms=0)


@pytest.fixture
def db(tmp_path: Path) -> Database:
    return Database(tmp_path / "mnest.sqlite", tables.of_mnestome())


def value(db: Database, name: str = "find_files", digest: str = DIGEST) -> dict[str, float]:
    return {each.goal: each.value for each in fitness.of(db, name, digest, START)}


def test_a_turn_counts_once_and_every_step_serves_its_goal(db: Database) -> None:
    steps = (WELL, step(2, "move_files", wall_ms=0, action="01ACTION"))
    assert fitness.record(db, "01A", START, "move files", steps) is True
    assert fitness.record(db, "01A", START, "move files", (ILL,)) is False
    assert value(db) == {"move files": 1.0}
    assert value(db, "move_files") == {"move files": 1.0}
    assert fitness.unapplied(db, ["01A", "01B"]) == ["01B"]


def test_what_never_ran_is_no_use(db: Database) -> None:
    fitness.record(db, "01A", START, "find files", (step(audit=0), step(2, digest="")))
    assert value(db) == {}
    assert fitness.unapplied(db, ["01A"]) == []


def test_an_unknown_goal_is_a_use_and_adds_nothing_whatever_is_said(db: Database) -> None:
    fitness.record(db, "01A", START, "", (WELL,))
    fitness.settle(db, {"01A": Said(owner=True)})
    (found,) = fitness.of(db, "find_files", DIGEST, START)
    assert (found.goal, found.value, found.uses, found.signals) == ("", 0.0, 1, 0)
    assert fitness.goals(db) == {}


def test_a_new_version_begins_anew(db: Database) -> None:
    fitness.record(db, "01A", START, "find files", (ILL,))
    fitness.record(db, "01B", START, "find files", (step(digest="e" * 64, wall_ms=0),))
    assert value(db) == {"find files": -1.0}
    assert value(db, digest="e" * 64) == {"find files": 1.0}
    found = fitness.in_class(db, "find files", START)
    assert {key[1][0]: each.value for key, each in found.items()} == {"d": -1.0, "e": 1.0}


def test_what_is_said_later_holds_and_what_is_taken_back_does_not(db: Database) -> None:
    moved = step(executor="move_files", wall_ms=0, action="01ACTION")
    fitness.record(db, "01A", START, "move files", (moved,))
    assert fitness.settle(db, {"01A": Said(undone=True)}) == 1
    assert value(db, "move_files") == {"move files": -1.0}
    assert fitness.settle(db, {"01A": Said(undone=True)}) == 0
    assert fitness.settle(db, {"01A": Said(owner=False, undone=True)}) == 1
    assert value(db, "move_files") == {"move files": -2.0}
    assert fitness.settle(db, {}) == 1
    assert value(db, "move_files") == {"move files": 1.0}


def test_a_critic_is_heard_where_nothing_can_be_measured_and_the_owner_before_it(db: Database) -> None:
    fitness.record(db, "01A", START, "summarise text", (step(executor="summarise_text"),))
    assert fitness.of(db, "summarise_text", DIGEST, START)[0].signals == 0
    fitness.settle(db, {"01A": Said(critic=7.0)})
    assert value(db, "summarise_text") == {"summarise text": 0.5}
    assert fitness.settle(db, {"01A": Said(critic=7.0)}) == 0
    fitness.settle(db, {"01A": Said(owner=False, critic=1.0)})
    assert value(db, "summarise_text") == {"summarise text": -2.0}


def test_what_a_critic_said_stays_until_somebody_else_speaks(db: Database) -> None:
    for turn in ("01A", "01B", "01C"):
        fitness.record(db, turn, START, "summarise text", (step(executor="summarise_text"),))
    fitness.record(db, "01D", START, "find files", (WELL,))
    fitness.record(db, "01E", START - 30 * DAY, "summarise text", (step(executor="summarise_text"),))
    assert fitness.unjudged(db, START - DAY, "", 9) == ["01A", "01B", "01C"]
    assert fitness.unjudged(db, START - DAY, "01A", 1) == ["01B"]
    fitness.settle(db, {"01B": Said(owner=True)})
    assert fitness.unjudged(db, START - DAY, "", 9) == ["01A", "01C"]
    fitness.criticise(db, "01A", -0.5)
    fitness.criticise(db, "01B", -1.0)
    assert value(db, "summarise_text") == {"summarise text": pytest.approx(1.0 - 0.5)}, "the owner is heard before it"
    assert fitness.settle(db, {"01B": Said(owner=True)}) == 0
    assert fitness.unjudged(db, START - DAY, "", 9) == ["01C"]
    fitness.settle(db, {"01A": Said(owner=True), "01B": Said(owner=True)})
    assert value(db, "summarise_text") == {"summarise text": 2.0}


def test_what_was_undone_so_long_ago_that_nobody_knows_stays_undone(db: Database) -> None:
    fitness.record(db, "01A", START, "move files", (step(executor="move_files", wall_ms=0, action="01ACTION"),))
    fitness.settle(db, {"01A": Said(undone=True)}, known_since=START - DAY)
    assert fitness.settle(db, {}, known_since=START + DAY) == 0
    assert value(db, "move_files") == {"move files": -1.0}
    assert fitness.settle(db, {"01A": Said(owner=False)}, known_since=START + DAY) == 1
    assert value(db, "move_files") == {"move files": -2.0}
    assert fitness.settle(db, {}, known_since=START - DAY) == 1  # it was redone


def test_what_is_old_is_dropped(db: Database) -> None:
    fitness.record(db, "01A", START - 401 * DAY, "find files", (WELL,))
    fitness.record(db, "01B", START, "find files", (WELL,))
    assert fitness.forget(db, START - 400 * DAY) == 1
    assert value(db) == {"find files": 1.0}
    assert fitness.goals(db) == {"find files": (1, 1)}


def test_nothing_that_anybody_said_is_kept(db: Database, tmp_path: Path) -> None:
    fitness.record(db, "01A", START, "find files", secretive().steps)
    rows = db.query("SELECT * FROM executor_fitness")
    assert rows
    assert SECRET not in str(rows)


events = st.lists(
    st.tuples(st.sampled_from(["01A", "01B", "01C"]), st.booleans(), st.sampled_from([None, True, False])), max_size=12
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=settings().max_examples // 2)
@given(events=events, again=st.integers(1, 3))
def test_however_often_and_in_whatever_order_turns_and_words_come_the_sum_is_the_same(
    tmp_path: Path, events: list[tuple[str, bool, bool | None]], again: int
) -> None:
    """The first that is told of a turn is the turn; the last that is said of it holds."""
    turns = {turn: well for turn, well, _ in reversed(events)}
    said = {turn: Said(owner=word) for turn, _, word in events if word is not None}
    found = []
    for order in (list(turns), list(turns)[::-1]):
        db = Database(tmp_path / f"{len(list(tmp_path.iterdir()))}.sqlite", tables.of_mnestome())
        for turn in order * again:
            fitness.record(db, turn, START, "find files", (WELL if turns[turn] else ILL,))
            fitness.settle(db, said)
        found.append(value(db))
        db.close()
    expected = [
        -2.0 if said.get(turn, Said()).owner is False else 1.0 if well else -1.0 for turn, well in turns.items()
    ]
    assert found[0] == found[1] == ({"find files": sum(expected)} if expected else {})
