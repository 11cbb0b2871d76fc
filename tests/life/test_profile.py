"""Profiles: what is shipped, what the owner may write, what is refused."""

from pathlib import Path

import pytest

from metnos.core.errors import SettingsError
from metnos.life import profile
from metnos.life.profile import SHIPPED, Ticks

GOLEM = (SHIPPED / "golem.toml").read_text(encoding="utf-8")


def own(folder: Path, text: str, name: str = "mine") -> Path:
    (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    return folder


def test_home_lives_by_turns_and_nothing_ends_it() -> None:
    home = profile.read("home")
    assert home.ticks is Ticks.TURN
    assert not home.beats
    assert (home.pack, home.clocks.stochastic, home.budgets.balance_usd, home.budgets.ticks) == ("home", False, 0.0, 0)


def test_golem_beats_by_itself_at_the_rates_of_the_design_and_is_mortal() -> None:
    golem = profile.read("golem")
    assert golem.beats
    assert (golem.rates.gamma, golem.rates.theta, golem.rates.delta) == (10.0, (30.0, 120.0), (300.0, 1200.0))
    assert golem.clocks.economic
    assert golem.clocks.epistemic
    assert golem.clocks.stochastic
    assert golem.budgets.balance_usd > 0
    assert golem.budgets.ticks > 0
    assert golem.pack == "defi"


def test_a_file_of_the_owner_is_another_profile(tmp_path: Path) -> None:
    found = profile.read("mine", own(tmp_path, GOLEM.replace('pack = "defi"', 'pack = "home"')))
    assert (found.name, found.pack, found.beats) == ("mine", "home", True)


def test_a_file_of_the_owner_wins_over_the_shipped_one(tmp_path: Path) -> None:
    changed = GOLEM.replace("balance_usd = 20.0", "balance_usd = 3")
    assert profile.read("golem", own(tmp_path, changed, "golem")).budgets.balance_usd == 3.0


def test_what_is_not_said_has_its_default(tmp_path: Path) -> None:
    short = 'ticks = "heartbeat"\npack = "home"\n[clocks]\neconomic = false\nepistemic = true\nstochastic = false\n'
    found = profile.read("mine", own(tmp_path, short))
    assert (found.rates.gamma, found.budgets.beat_usd) == (10.0, 0.01)


def test_a_name_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no profile called 'hermit'") as caught:
        profile.read("hermit", own(tmp_path, GOLEM))
    assert caught.value.fix == "There are: golem, home, mine."


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('ticks = "heartbeat"', 'ticks = "sometimes"', "`ticks`"),
        ('pack = "defi"', 'pack = "../defi"', "`pack`"),
        ("economic = true", 'economic = "yes"', "`clocks.economic`"),
        ("economic = true\n", "", "`clocks.economic`"),
        ("balance_usd = 20.0", "balance_usd = -1", "`budgets.balance_usd`"),
        ("beat_tokens = 4000", "beat_token = 4000", "`budgets.beat_token`"),
        ("gamma_s = 10.0", "gamma_s = 0", "`rates.gamma_s`"),
        ("gamma_s = 10.0", "gamma_s = 60.0", "at least as often"),
        ("[30.0, 120.0]", "[120.0, 30.0]", "at least as often"),
        ("[30.0, 120.0]", "[30.0]", "`rates.theta_s`"),
        ("gamma_s = 10.0", "gamma_s = nan", "`rates.gamma_s`"),
        ("[clocks]", "[clocks", "not valid TOML"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert old in GOLEM
    with pytest.raises(SettingsError) as caught:
        profile.read("mine", own(tmp_path, GOLEM.replace(old, new, 1)))
    assert says in caught.value.what
    assert str(tmp_path / "mine.toml") in caught.value.what
    assert caught.value.fix
