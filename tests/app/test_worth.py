"""What turns teach about executors, in a workspace."""

import pytest

from app.headings import NAME, count, counting
from grimoire.traces import step, trace
from metnos.app import App, learning, worth
from metnos.executors import fitness
from metnos.grimoire.trace import State
from metnos.law.principal import at_terminal


@pytest.fixture
def app(equipped: App) -> App:
    return counting(equipped)


def told(app: App, name: str = NAME) -> dict[str, tuple[float, int]]:
    return {each["goal"]: (round(each["fitness"], 1), each["uses"]) for each in worth.told(app, name)["fitness"]}


def test_a_turn_is_worth_something_as_soon_as_it_is_over_and_counts_once(app: App) -> None:
    count(app)
    assert told(app) == {"count headings": (1.0, 1)}
    learning.catch_up(app)
    app.medium.offer_again(fitness.PROJECTION)
    learning.catch_up(App.open(app.workspace, app.clock))
    assert told(app) == {"count headings": (1.0, 1)}
    count(app, broken=True)
    assert told(app) == {"count headings": (0.0, 2)}


def test_what_is_only_rehearsed_or_run_by_hand_is_worth_nothing(app: App) -> None:
    app.medium.close(trace("01REHEARSED", state=State.REHEARSED, steps=(step(audit=0),)))
    learning.catch_up(app)
    assert told(app, "find_files") == {}


def test_a_bad_word_changes_what_a_call_was_worth_and_a_better_one_changes_it_back(app: App) -> None:
    turn = count(app).ended.turn
    app.medium.feedback(turn, False)
    learning.catch_up(app)
    assert told(app) == {"count headings": (-2.0, 1)}
    app.medium.feedback(turn, True)
    learning.catch_up(app)
    assert told(app) == {"count headings": (1.0, 1)}


def test_an_undo_reopens_the_gap_and_a_redo_closes_it(app: App) -> None:
    from pathlib import Path

    from turn.turning import take

    (Path.home() / "in").mkdir()
    (Path.home() / "in/a.txt").write_text("x")
    done = take(app, "move ~/in/a.txt to ~/out")
    assert done.trace is not None
    assert done.trace.state is State.DONE, done.ended.text
    (before,) = [value for value, _ in told(app, "move_files").values()]
    (action,) = done.ended.undo
    app.undo.undo(action, by=at_terminal())
    learning.catch_up(app)
    (undone,) = [value for value, _ in told(app, "move_files").values()]
    app.undo.redo(action, by=at_terminal())
    learning.catch_up(app)
    (redone,) = [value for value, _ in told(app, "move_files").values()]
    assert (before, undone, redone) == (1.0, -1.0, 1.0)


def test_the_goal_is_what_the_plan_ends_with_also_when_it_did_not_get_there() -> None:
    planned = {"steps": [{"executor": "find_files", "args": {}}, {"executor": "count_text", "args": {}}]}
    assert worth.goal_of(trace(plan=planned, steps=(step(),))) == "count text"
    assert worth.goal_of(trace(plan={})) == "move files"
    assert worth.goal_of(trace(plan={}, steps=())) == ""


def test_a_word_on_what_went_on_after_a_yes_is_one_on_all_of_it(app: App) -> None:
    plan = {"steps": [{"executor": "find_files", "args": {}}, {"executor": "move_files", "args": {}}]}
    app.medium.close(trace("01FIRST", plan=plan, state=State.WAITING, steps=(step(wall_ms=0),)))
    moved = step(1, "move_files", wall_ms=0, action="01ACTION")
    app.medium.close(trace("01THEN", plan=plan, continues="01FIRST", steps=(moved,)))
    learning.catch_up(app)
    app.medium.feedback("01THEN", False)
    learning.catch_up(app)
    found = fitness.in_class(app.catalog.db, "move files", app.clock.now())
    assert {name: each.value for (name, _), each in found.items()} == {"find_files": -2.0, "move_files": -2.0}
