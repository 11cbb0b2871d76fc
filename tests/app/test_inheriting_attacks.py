"""Workspaces that must not inherit, and testaments that claim what nobody can check."""

from pathlib import Path

import pytest

from life.willed import a_signer, an_entry, of_generation, opened, written
from metnos.app import App, inheriting, retiring
from metnos.core.clock import MovableClock
from metnos.core.errors import TestamentError
from metnos.grimoire.fact import Kind
from metnos.life.testament import Habit


@pytest.fixture
def app(equipped: App) -> App:
    equipped.__dict__["embedder"] = None  # loading one takes longer than all the rest
    return equipped


@pytest.fixture
def left(tmp_path: Path) -> Path:
    return written(tmp_path / "left", of_generation(1), a_signer(tmp_path / "predecessor"))


def test_an_agent_that_was_retired_inherits_nothing(app: App, left: Path, tmp_path: Path, clock: MovableClock) -> None:
    """It never lived to have an episode, and is dead all the same."""
    retiring.retire(app, to=tmp_path / "own.testament")
    with pytest.raises(TestamentError, match="was retired") as told:
        inheriting.found_from(app.workspace, left, clock=clock)
    assert "--workspace FOLDER init --from" in told.value.fix
    assert inheriting.lineage(app).origins() is None


def test_an_heir_that_was_retired_does_not_go_on_inheriting(
    app: App, left: Path, tmp_path: Path, clock: MovableClock
) -> None:
    inheriting.found_from(app.workspace, left, clock=clock)
    retiring.retire(app, to=tmp_path / "own.testament")
    with pytest.raises(TestamentError, match="was retired"):
        inheriting.found_from(app.workspace, left, clock=clock)


def test_what_only_a_testament_says_is_asked_as_what_it_says(app: App, tmp_path: Path) -> None:
    """Anybody can write down a line of ancestors: the owner is told whose word it is."""
    lesson = an_entry(0, kind=Kind.HEURISTIC, text="Split tables of more than 100 rows before sorting.", held=3)
    testament = of_generation(2, entries=(lesson,), links=(), habits=(Habit("turn.steps", 20, 3),))
    signer = a_signer(tmp_path / "stranger")
    asked = inheriting.take(app, *opened(testament, signer)).asked
    assert len(asked) == 2
    for item in asked:
        assert f"says the testament that {signer.public[:16]}" in str(item.body["why"])
