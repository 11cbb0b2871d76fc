"""Who is hidden from planners."""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from executors.samples import write_sample
from grimoire.traces import step
from metnos.app import App
from metnos.core.clock import MovableClock
from metnos.executors import fitness, index
from metnos.executors.fitness_rules import Rules, Why
from metnos.executors.selection import Selection
from metnos.executors.state import State
from metnos.turn.tools import Toolbox
from signing import sign

DAY = timedelta(days=1)
NAME = "sample_lines"


@pytest.fixture
def mine(equipped: App) -> App:
    """A workspace with one executor of the owner's."""
    write_sample(equipped.workspace.executors, NAME)
    sign(equipped, NAME, "test")
    return equipped


def digest(app: App, name: str = NAME) -> str:
    entry = index.current(app.catalog.db, name)
    assert entry is not None
    return entry.digest


def use(app: App, number: int, name: str = NAME, *, ok: bool = True, goal: str = "sample lines") -> None:
    made = step(1, name, digest=digest(app, name), ok=ok, kind="" if ok else "failed", gap_after=1 if ok else 2)
    fitness.record(app.catalog.db, f"T{number:05}", app.clock.now(), goal, (made,))


def every_day(app: App) -> Callable[[datetime], int]:
    """An owner who is there every day."""
    return lambda since: int((app.clock.now() - since) / DAY)


def judge(app: App, rules: Rules = Rules()) -> tuple[list[str], list[str]]:  # noqa: B008 -- frozen
    found = Selection(app.catalog.db, rules).judge(app.clock.now(), every_day(app))
    return [f"{each.name} {each.why}" for each in found.hidden], list(found.shown)


def test_what_keeps_failing_is_hidden_once_and_seen_again_when_it_does_better(mine: App) -> None:
    for number in range(5):
        use(mine, number, ok=False)
    assert judge(mine) == ([f"{NAME} unfit"], [])
    assert judge(mine) == ([], [])
    for number in range(10, 16):
        use(mine, number)
    assert judge(mine) == ([], [NAME])
    assert mine.selection.hidden() == {}


def test_a_grudge_fades(mine: App, clock: MovableClock) -> None:
    for number in range(5):
        use(mine, number, ok=False)
    judge(mine, Rules(dormant_days=3000))
    clock.move(91 * DAY)
    assert judge(mine, Rules(dormant_days=3000)) == ([], [NAME])


def test_what_nobody_can_judge_is_on_trial_and_then_hidden(mine: App) -> None:
    for number in range(10):
        assert judge(mine) == ([], [])
        use(mine, number, goal="")
    assert judge(mine) == ([f"{NAME} unproven"], [])


def test_what_is_built_in_is_always_seen(mine: App, clock: MovableClock) -> None:
    for number in range(20):
        use(mine, number, "find_files", ok=False)
    clock.move(400 * DAY)
    assert judge(mine) == ([f"{NAME} dormant"], [])


def test_dormant_is_what_was_not_used_while_the_owner_was_there(mine: App, clock: MovableClock) -> None:
    clock.move(400 * DAY)
    away = Selection(mine.catalog.db, Rules())
    assert away.judge(clock.now(), lambda _since: 89).hidden == ()
    (found,) = away.judge(clock.now(), lambda _since: 90).hidden
    assert found.why is Why.DORMANT
    index.record_use(mine.catalog.db, index.Use(NAME, digest(mine), clock.now(), ok=True))
    assert away.judge(clock.now(), every_day(mine)).shown == (NAME,)


def test_a_new_version_is_seen_although_the_old_one_was_hidden(mine: App, tmp_path: Path) -> None:
    for number in range(5):
        use(mine, number, ok=False)
    judge(mine)
    box = Toolbox(mine.catalog, lambda: None, tmp_path / "vectors.npz", mine.selection)
    assert NAME in box.kit().tools
    assert NAME not in box.kit().shown
    write_sample(mine.workspace.executors, NAME, version="1.0.1")
    sign(mine, NAME, "mended")
    assert NAME in box.kit().shown
    assert judge(mine) == ([], [NAME])


def test_what_is_switched_off_is_not_judged_and_quarantine_ends_in_extinction(mine: App, clock: MovableClock) -> None:
    mine.catalog.change(NAME, State.QUARANTINE, "3 faults")
    clock.move(29 * DAY)
    selection = Selection(mine.catalog.db, Rules())
    assert selection.judge(clock.now(), every_day(mine)).extinct == ()
    clock.move(DAY)
    found = selection.judge(clock.now(), every_day(mine))
    assert [entry.name for entry in found.extinct] == [NAME]
    assert found.hidden == ()
    clock.move(365 * DAY)
    assert selection.judge(clock.now(), lambda _since: 5).extinct == ()  # nobody was there to look at it


def test_the_owner_is_asked_once_about_an_executor_as_it_is(mine: App, clock: MovableClock) -> None:
    selection = mine.selection
    assert not selection.was_asked(NAME, "dormancy", "2026-01-01")
    selection.asked(NAME, "dormancy", "2026-01-01", clock.now())
    assert selection.was_asked(NAME, "dormancy", "2026-01-01")
    assert not selection.was_asked(NAME, "dormancy", "2026-02-01")
    assert not selection.was_asked(NAME, "room", "2026-01-01")
