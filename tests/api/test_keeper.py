from pathlib import Path

import pytest

from metnos.api.keeper import Keeper
from metnos.core.errors import SettingsError


class Thing:
    """Knows its number and whether it was closed."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


class Shop:
    def __init__(self, folder: Path) -> None:
        self.settings = folder / "metnos.toml"
        self.settings.write_text("1")
        self.made: list[Thing] = []
        self.broken = False
        self.logged: list[str] = []
        self.keeper = Keeper(self.open, (self.settings, folder / "SOUL.md"), self.logged.append)

    def open(self) -> Thing:
        if self.broken:
            raise SettingsError("a line is wrong")
        self.made.append(Thing(len(self.made)))
        return self.made[-1]

    def change(self) -> None:
        self.settings.write_text(self.settings.read_text() + "x")


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


def test_it_is_opened_once_for_all(shop: Shop) -> None:
    with shop.keeper.lease() as one, shop.keeper.lease() as other:
        assert one is other
    with shop.keeper.lease() as third:
        assert third is one
    assert (len(shop.made), shop.made[0].closed, shop.logged) == (1, 0, [])


def test_after_a_change_the_next_gets_a_fresh_one_and_the_old_goes_on_to_its_end(shop: Shop, tmp_path: Path) -> None:
    with shop.keeper.lease() as old:
        shop.change()
        with shop.keeper.lease() as fresh:
            assert fresh is not old
            assert not old.closed
    assert (old.closed, fresh.closed) == (1, 0)
    assert len(shop.logged) == 1
    (tmp_path / "SOUL.md").write_text("a file that was not there")
    with shop.keeper.lease() as newest:
        assert newest.number == 2
    assert fresh.closed == 1


def test_what_cannot_be_opened_is_said_to_everybody_until_it_can(shop: Shop) -> None:
    with shop.keeper.lease() as old:
        shop.change()
        shop.broken = True
        for _ in range(2):
            with pytest.raises(SettingsError), shop.keeper.lease():
                pass
        assert not old.closed
    shop.broken = False
    with shop.keeper.lease() as fresh:
        assert fresh.number == 1
    assert old.closed == 1


def test_closing_does_not_wait_for_anybody(shop: Shop) -> None:
    with shop.keeper.lease() as held:
        shop.keeper.close()
        assert held.closed == 1
    assert held.closed == 1
    shop.keeper.close()
    with shop.keeper.lease() as fresh:
        assert fresh.number == 1
