"""What the doctor says of a life."""

from pathlib import Path

import pytest

from app.mortal import mortal
from life.lived import live
from metnos.app import App, ailing, dying, examine, retired, retiring
from metnos.core import files
from metnos.core.clock import MovableClock
from metnos.core.errors import TestamentError
from metnos.core.records import Check, Level
from metnos.law.principal import at_terminal
from metnos.life.cause import Cause
from metnos.life.thanatopsis import Wishes


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "left.testament"


def said(check: Check) -> tuple[Level, str, str]:
    assert check.name == "life"
    return check.level, check.found, check.fix


def test_a_newborn_is_well(opened: App) -> None:
    level, found, _ = said(ailing.check(opened))
    assert level is Level.GREEN
    assert found == "thriving: vitality 1.00 after 0 ticks"


@pytest.mark.slow
def test_the_doctor_asks(opened: App, clock: MovableClock) -> None:
    assert [each.level for each in examine(opened.workspace, clock) if each.name == "life"] == [Level.GREEN]


class TestTheEnd:
    def test_one_that_was_interrupted_is_to_be_finished(self, opened: App, target: Path) -> None:
        way = retired.thanatopsis(opened)
        way.accept(Cause.OWNER, Wishes(str(target)))
        level, found, fix = said(ailing.check(opened))
        assert (level, fix) == (Level.RED, "metnos life retire --resume")
        assert "interrupted" in found
        with files.held(opened.workspace.memory / retired.LOCK):
            level, found, _ = said(ailing.check(opened))
        assert level is Level.YELLOW
        assert "just now" in found

    def test_a_testament_that_is_there_is_lost_or_was_changed(
        self, equipped: App, target: Path, clock: MovableClock
    ) -> None:
        retiring.retire(live(equipped), to=target)
        level, found, _ = said(ailing.check(equipped))
        assert level is Level.GREEN
        assert str(target) in found
        executors = next(each for each in examine(equipped.workspace, clock) if each.name == "executors")
        assert executors.level is Level.GREEN  # nothing to be lifted here
        target.write_bytes(target.read_bytes() + b" ")
        level, found, fix = said(ailing.check(equipped))
        assert (level, fix) == (Level.RED, "metnos life retire --to FILE")
        assert "is not what it left" in found
        target.unlink()
        level, found, fix = said(ailing.check(equipped))
        assert (level, fix) == (Level.RED, "metnos life retire --to FILE")
        assert "is not there" in found

    def test_a_clock_that_ran_out_is_said(self, equipped: App) -> None:
        app = mortal(equipped, limit=1)
        app.living.beat("one")
        level, found, fix = said(ailing.check(app))
        assert (level, fix) == (Level.YELLOW, "metnos life retire")
        assert "its time has come" in found
        app.close()


class TestMoney:
    @pytest.mark.parametrize(
        ("balance", "ticks", "level", "says"),
        [
            (0.0, "heartbeat", Level.YELLOW, "nothing is kept for its end"),
            (0.3, "heartbeat", Level.RED, "nothing to live on"),
            (0.2, "turn", Level.RED, "nothing to live on"),
            (20.0, "heartbeat", Level.GREEN, "thriving"),
            (0.0, "turn", Level.GREEN, "thriving"),
        ],
    )
    def test_the_reserve(self, equipped: App, balance: float, ticks: str, level: Level, says: str) -> None:
        app = mortal(equipped, balance=balance, ticks=ticks)
        found = said(ailing.check(app))
        assert found[0] is level
        assert says in found[1]
        app.close()


def test_a_profile_that_is_not_there_and_a_broken_file_are_said(opened: App) -> None:
    opened.set_setting("life.profile", "nobody", at_terminal())
    again = App.open(opened.workspace, opened.clock)
    assert said(ailing.check(again))[0] is Level.RED
    again.close()
    opened.workspace.life_db.write_bytes(b"this is no database" * 100)
    broken = App.open(opened.workspace, opened.clock)
    level, found, _ = said(ailing.check(broken))
    assert level is Level.RED
    assert "life.db" in found
    broken.close()


def test_who_is_not_told_where_it_is_left_is_told_why_it_takes_nothing(opened: App, target: Path) -> None:
    retired.thanatopsis(opened).accept(Cause.OWNER, Wishes(str(target)))
    with pytest.raises(TestamentError, match="is being retired") as told:
        retired.refuse_dead(opened)
    assert "--resume" in told.value.fix
    assert dying.RETIRED not in told.value.what
