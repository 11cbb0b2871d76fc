import json
from collections.abc import Callable
from datetime import timedelta

import pytest
from click.testing import CliRunner

from grimoire.traces import trace
from metnos.app import App, learning
from metnos.cli import Choice
from metnos.cli import ager as command
from metnos.core.clock import MovableClock
from metnos.grimoire.trace import Passing

DAY = timedelta(days=1)
Type = Callable[..., str]


@pytest.fixture
def type_in(equipped: App, clock: MovableClock, monkeypatch: pytest.MonkeyPatch) -> Type:
    """Types ``metnos ager ...`` at a workspace in which one passing was recorded."""
    passed = (Passing("find_files", "1.0.0", "read_files", "1.0.0", "reference", 1, 2),)
    equipped.medium.close(trace("T1", asked=clock.now(), closed=clock.now(), passings=passed))
    learning.catch_up(equipped)
    monkeypatch.setattr(command, "open_app", lambda _: equipped)
    monkeypatch.setattr(App, "close", lambda _: None)

    def type_in(*line: str) -> str:
        done = CliRunner().invoke(command.ager, line, obj=Choice(None))
        assert done.exit_code == 0, done.output
        return done.output

    return type_in


def test_a_run_says_what_it_did_and_a_second_one_that_there_is_nothing_left(type_in: Type, clock: MovableClock) -> None:
    clock.move(30 * DAY)
    said = type_in("run")
    assert "faded a little" in said
    assert "now on the way out" in said
    assert "A snapshot of 2026-12 was kept." in said
    assert type_in("run") == "Everything was weighed today already; there is nothing to do.\n"


def test_a_dry_run_says_what_would_happen(type_in: Type, clock: MovableClock, equipped: App) -> None:
    clock.move(30 * DAY)
    before = equipped.catalog.db.query("SELECT * FROM mnests ORDER BY id")
    said = type_in("run", "--dry-run")
    assert "would fade a little" in said
    assert "A snapshot of 2026-12 would be kept." in said
    assert equipped.catalog.db.query("SELECT * FROM mnests ORDER BY id") == before
    data = json.loads(type_in("run", "--dry-run", "--json"))
    assert (data["dry_run"], data["snapshot"], data["again"]) == (True, "2026-12", False)
    assert data["weighed"] > 0


def test_the_facts_for_programs(type_in: Type, clock: MovableClock) -> None:
    clock.move(DAY)
    data = json.loads(type_in("run", "--json"))
    assert data["weighed"] > 0
    assert (data["removed"], data["proposals"], data["dry_run"]) == ([], [], False)
