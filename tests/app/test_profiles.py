"""Which profile and pack a workspace lives by, and what that changes in it."""

import pytest

from metnos.app import App, profiles, sight
from metnos.context.budgets import SHAPES, Task
from metnos.core.errors import SettingsError
from metnos.grimoire.domain import HOME
from metnos.law.principal import at_terminal
from metnos.life.pack import SHIPPED
from metnos.life.profile import SHIPPED as PROFILES


def reopened(app: App, **settings: str) -> App:
    for name, value in settings.items():
        app.set_setting(f"life.{name}", value, at_terminal())
    return App.open(app.workspace, app.clock)


def test_a_workspace_lives_at_home_unless_told(opened: App) -> None:
    assert profiles.profile(opened).name == "home"
    assert profiles.pack(opened) == opened.grimoire.pack() == HOME


def test_the_memory_and_what_a_model_is_shown_follow_the_profile(opened: App) -> None:
    golem = reopened(opened, profile="golem")
    assert golem.grimoire.pack().name == "defi"
    shapes = sight.sight(golem)._shapes
    assert shapes[Task.PLAN] != SHAPES[Task.PLAN]
    assert shapes[Task.REFLECT] == SHAPES[Task.REFLECT]


def test_the_owners_own_profile_and_pack(opened: App) -> None:
    for folder, shipped, name in ((profiles.FOLDER, PROFILES, "home"), (profiles.PACKS, SHIPPED, "home")):
        (opened.workspace.root / folder).mkdir()
        text = (shipped / f"{name}.toml").read_text()
        changed = text.replace('pack = "home"', 'pack = "greenhouse"').replace("time taken (ms)", "warmth")
        (opened.workspace.root / folder / "greenhouse.toml").write_text(changed)
    found = reopened(opened, profile="greenhouse")
    assert profiles.profile(found).pack == "greenhouse"
    assert list(found.grimoire.pack().measures) == ["warmth"]


def test_a_profile_that_is_not_there_is_said_before_a_turn_begins(equipped: App) -> None:
    wrong = reopened(equipped, profile="hermit")
    with pytest.raises(SettingsError, match="no profile called 'hermit'"):
        _ = wrong.turns
