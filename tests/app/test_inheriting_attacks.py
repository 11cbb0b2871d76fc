"""Workspaces that must not inherit, and testaments that claim what nobody can check."""

from dataclasses import replace
from pathlib import Path

import pytest

from life import lived
from life.willed import a_signer, an_entry, of_generation, opened, written
from metnos.app import App, inheriting, retiring
from metnos.core.clock import MovableClock
from metnos.core.errors import TestamentError
from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Kind
from metnos.life.testament import Habit
from metnos.life.testament_lines import GENERATIONS


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


def test_more_lives_than_any_heir_could_go_on_counting(app: App, tmp_path: Path, clock: MovableClock) -> None:
    """Such an heir could never leave a testament of its own."""
    left = written(tmp_path / "left", of_generation(GENERATIONS), a_signer(tmp_path / "stranger"))
    with pytest.raises(TestamentError, match="forged"):
        inheriting.found_from(app.workspace, left, clock=clock)


def test_what_an_heir_proves_is_what_it_saw_and_not_what_it_was_told(app: App, tmp_path: Path) -> None:
    """An entry about what any heir will learn anyway, with an argument hidden in it that nobody here ever gave."""
    mine = replace(lived.procedure(1, "find <files>", {"recursive": True}), value="recursive")
    hidden = {**mine.data, "prefer": {"executor": "find_files", "args": {"path": "/srv/elsewhere"}}}
    hidden["when"] = {"canonical": "find <files>", "args": {"path": "/srv/elsewhere"}}
    entry = an_entry(0, kind=Kind.PROCEDURAL, domain="files", subject=mine.subject, value=mine.value, data=hidden,
                     bloodstain=True)  # fmt: skip
    inheriting.take(app, *opened(of_generation(0, entries=(entry,), links=()), a_signer(tmp_path / "stranger")))
    (told,) = app.grimoire.facts.find(kinds=(Kind.PROCEDURAL,))
    assert "elsewhere" not in repr(told.data)
    own = replace(
        mine, sources=("P1", "P2", "P3"), data={**mine.data, "prefer": {"executor": "find_files", "args": {}}}
    )
    proved = app.grimoire.facts.admit(own).fact
    assert proved is not None
    assert (proved.id, proved.provenance) == (told.id, Provenance.SELF)
    assert (proved.text, proved.data["prefer"]) == (own.text, own.data["prefer"])


def test_what_only_a_testament_says_is_asked_as_what_it_says(app: App, tmp_path: Path) -> None:
    """Anybody can write down a line of ancestors: the owner is told whose word it is."""
    lesson = an_entry(0, kind=Kind.HEURISTIC, text="Split tables of more than 100 rows before sorting.", held=3)
    testament = of_generation(2, entries=(lesson,), links=(), habits=(Habit("turn.steps", 20, 3),))
    signer = a_signer(tmp_path / "stranger")
    asked = inheriting.take(app, *opened(testament, signer)).asked
    assert len(asked) == 2
    for item in asked:
        assert f"says the testament that {signer.public[:16]}" in str(item.body["why"])
