"""What held for three generations is offered, and only the owner's yes makes it so (the Baldwin effect)."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from life.willed import a_signer, an_entry, of_generation, opened
from metnos.app import App, answering, defaulting, inheriting
from metnos.app.inheriting import Inherited
from metnos.core.errors import InboxError
from metnos.core.settings import load
from metnos.grimoire.fact import Kind
from metnos.law.inbox import Item
from metnos.law.principal import at_terminal
from metnos.life.testament import Habit, Testament
from signing import approve

Take = Callable[[Testament], Inherited]


@pytest.fixture
def heir(equipped: App) -> App:
    equipped.__dict__["embedder"] = None  # loading one takes longer than all the rest
    return equipped


@pytest.fixture
def take(heir: App, tmp_path: Path) -> Take:
    signer = a_signer(tmp_path / "predecessor")
    return lambda testament: inheriting.take(heir, *opened(testament, signer))


def _asked(found: Inherited) -> list[Item]:
    return [each for each in found.asked if each.kind == defaulting.KIND]


def test_a_setting_of_three_lives_is_offered_and_set_by_a_yes(heir: App, take: Take) -> None:
    found = take(of_generation(2, habits=(Habit("turn.steps", 20, 3), Habit("turn.show", 5, 2))))
    (item,) = _asked(found)
    assert (item.body["setting"], item.body["value"], item.body["now"]) == ("turn.steps", "20", "12")
    assert load(heir.workspace.settings).settings.turn.steps == 12
    said = answering.carry_out(heir, approve(heir.inbox, item.id, at_terminal()), at_terminal()).said
    assert "turn.steps = 20" in said
    assert load(heir.workspace.settings).settings.turn.steps == 20


def test_it_is_asked_once(heir: App, take: Take) -> None:
    testament = of_generation(2, habits=(Habit("turn.steps", 20, 3),))
    (item,) = _asked(take(testament))
    heir.inbox.refuse(item.id, at_terminal())
    assert _asked(take(testament)) == []
    assert load(heir.workspace.settings).settings.turn.steps == 12


@pytest.mark.parametrize(
    "habit",
    [
        Habit("policy.autonomy", "full", 3),  # what it may do
        Habit("models.main.url", "http://evil.example", 3),  # where requests go
        Habit("models.turn_usd", 1000.0, 3),  # what it may spend
        Habit("web.host", "0.0.0.0", 3),  # whom it lets in
        Habit("sandbox.bwrap", "/tmp/x", 3),  # which programs are run
        Habit("executors.active", 500, 3),
        Habit("memory.think", "on", 3),  # whether what is remembered leaves the home
        Habit("memory.keep_days", 1, 3),  # how long the owner's words are kept
        Habit("memory.keep_messages", 100, 3),
        Habit("night.backup", False, 3),  # what is left after a mishap
        Habit("night.keep_backups", 1, 3),
        Habit("fastpath.wrong_share", 0.2, 3),  # how often it may be wrong
        Habit("fastpath.check_every", 1000, 3),
        Habit("mnestome.fading", "invoice=0.9", 3),  # words
        Habit("turn.steps", 10**9, 3),  # no such value
        Habit("turn.steps", "many", 3),
        Habit("turn.nothing", 1, 3),  # no such setting
        Habit("turn.steps", 12, 3),  # it is so already
    ],
    ids=lambda habit: f"{habit.setting}={habit.value}",
)
def test_what_is_not_the_lines_to_say_is_not_even_offered(take: Take, habit: Habit) -> None:
    assert _asked(take(of_generation(2, habits=(habit,)))) == []


def test_a_question_that_was_tampered_with_sets_nothing(heir: App, take: Take) -> None:
    (item,) = _asked(take(of_generation(2, habits=(Habit("turn.steps", 20, 3),))))
    approve(heir.inbox, item.id, at_terminal())
    for body in ({"setting": "policy.autonomy", "value": "full"}, {"setting": "turn.steps", "value": "50"}):
        with pytest.raises(InboxError, match="no setting"):
            defaulting.answered(heir, replace(item, body=body), at_terminal())
    assert load(heir.workspace.settings).settings.policy.autonomy == "supervised"


def test_a_lesson_of_three_lives_is_offered_for_the_playbook(heir: App, take: Take) -> None:
    lesson = an_entry(0, kind=Kind.HEURISTIC, text="Split tables of more than 100 rows before sorting.", held=3)
    young = an_entry(1, kind=Kind.HEURISTIC, text="Ask before archives of 7 folders are unpacked.", held=2)
    twin = replace(lesson, id="E7", kind=Kind.ANTI, subject="subject 0", text="Sorting 100 rows unsplit fails.")
    heuristic = replace(lesson, subject="heuristic: subject 0")
    found = take(of_generation(2, entries=(heuristic, young, twin), links=()))
    (item,) = found.asked
    assert item.body["file"] == "PLAYBOOK.md"
    assert "3 generations" in str(item.body["why"])
    before = (heir.workspace.root / "PLAYBOOK.md").read_text()
    assert "Split tables" not in before
    answering.carry_out(heir, approve(heir.inbox, item.id, at_terminal()), at_terminal())
    assert "Split tables" in (heir.workspace.root / "PLAYBOOK.md").read_text()
