"""``metnos life`` as a person meets it."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from app.mortal import mortal
from app.turned import close, pdfs
from cli.terminal import on_a_terminal
from metnos.app import App
from metnos.core.workspace import Workspace
from metnos.law.principal import at_terminal
from support import Say

pytestmark = pytest.mark.usefixtures("typist")


@pytest.fixture
def app(root: Path) -> App:
    return App.open(Workspace(root))


def lived(app: App, ticks: int) -> None:
    for number in range(ticks):
        close(app, number, *pdfs(f"f{number}"))
    app.living.catch_up()


@pytest.mark.usefixtures("root")
def test_a_newborn(say: Say) -> None:
    ran = say("life", "status")
    assert ran.code == 0
    assert ran.out.startswith("Thriving  vitality 1.00, nothing lived yet, profile home\n")
    assert "without a bound" in ran.out
    assert "it does not age" in ran.out
    assert "│" not in ran.out


def test_a_life_with_a_picture(app: App, say: Say) -> None:
    lived(app, 4)
    ran = say("life", "status")
    assert "4 turns lived" in ran.out
    assert "thriving │" in ran.out
    assert ran.out.count("│") == 10
    assert "learnt from every 50 turns" in ran.out


def test_turns_that_nobody_lived_yet_are_lived_first(app: App, say: Say) -> None:
    close(app, 1, *pdfs("docs"))
    assert "1 turn lived" in say("life", "status").out


def test_money_and_what_is_kept_of_it(app: App, say: Say) -> None:
    mortal(app, balance=5.0).living.account.fund("life").hold(1.0)
    ran = say("life", "status")
    assert "$1.0000 spent of $5.00, $3.7000 left; $0.30 more are kept for its end" in ran.out


def test_the_end_is_said_with_what_to_do(app: App, say: Say) -> None:
    lived(mortal(app, limit=3), 3)
    ran = say("life", "status")
    assert ran.out.startswith("Terminal  vitality 0.00")
    assert "At its end: its time has come, by the dice or by its age." in ran.out
    assert "metnos life retire" in ran.out
    assert "shown 40% of what it could be" in ran.out


def test_more_money_is_seen_at_once_and_counts_with_the_next_turn(app: App, say: Say) -> None:
    poor = mortal(app, balance=5.0)
    poor.living.account.fund("life").hold(4.7)
    lived(poor, 1)
    assert "the money it had to live on is spent" in say("life", "status").out
    app.set_setting("life.balance_usd", "500", at_terminal())
    ran = say("life", "status")
    assert ran.out.startswith("Terminal  vitality 0.99")
    assert "With its next turn it will be thriving." in ran.out
    assert "At its end" not in ran.out


def test_a_retired_one_says_so(app: App, say: Say, tmp_path: Path) -> None:
    lived(app, 2)
    assert say("life", "retire", "--to", str(tmp_path / "last.testament")).code == 0
    ran = say("life", "status")
    assert ran.out.startswith("Retired  vitality")
    assert f"It left a testament: {tmp_path}/last.testament" in ran.out


def test_json_and_a_drawing(app: App, say: Say, tmp_path: Path) -> None:
    lived(app, 3)
    ran = say("life", "status", "--json", "--svg", str(tmp_path / "life.svg"))
    found = json.loads(ran.out)
    assert (found["tick"], found["phase"], len(found["points"])) == (3, "thriving", 3)
    assert ElementTree.parse(tmp_path / "life.svg").getroot().tag.endswith("svg")
    assert "drawn into" in ran.err
    ran = say("life", "status", "--svg", str(tmp_path / "no" / "life.svg"))
    assert (ran.code, "cannot be written" in ran.err) == (2, True)


def test_dice(app: App, say: Say) -> None:
    assert "No dice were thrown" in say("life", "dice").out
    mortal_one = mortal(app, limit=10**6)
    lived(mortal_one, 3)
    ran = say("life", "dice")
    assert (ran.code, ran.out) == (0, "3 throws: every one was made by this agent's key, and obeyed.\n")
    with mortal_one.life_db.write() as tx:
        tx.execute("UPDATE ticks SET roll = 0.5 WHERE tick = 2")
    ran = say("life", "dice")
    assert ran.code == 1
    assert "1 throw of 3 cannot be trusted:\n- tick 2: the throw is not what its proof says" in ran.out
    assert json.loads(say("life", "dice", "--json").out)["throws"] == 3


@pytest.mark.usefixtures("root")
def test_a_profile_that_is_not_there_is_an_error_that_names_those_that_are(say: Say, app: App) -> None:
    app.set_setting("life.profile", "ghost", at_terminal())
    ran = say("life", "status")
    assert ran.code == 1
    assert "there is no profile called 'ghost'" in ran.err
    assert "golem, home" in ran.err


def test_on_a_terminal_phases_have_colours(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    lived(app, 3)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    ran = on_a_terminal("life", "status")
    assert "\x1b[32m" in ran.out
    assert "█" in ran.out
