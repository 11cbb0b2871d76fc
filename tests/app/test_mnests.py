"""Mnests for whoever shows them: months are read once and not for ever kept, and a map stays as it is."""

from datetime import timedelta

import pytest

from metnos.app import App, ageing, learning, mnests
from metnos.app.mnests import Wanted
from metnos.core.clock import MovableClock
from metnos.core.errors import UsageError
from metnos.mnestome.rules import State
from metnos.mnestome.snapshot import Snapshots


@pytest.fixture
def seeded(equipped: App) -> App:
    """Its executors say what they may feed."""
    learning.follow_executors(equipped)
    return equipped


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    really = Snapshots.open
    monkeypatch.setattr(Snapshots, "open", lambda self, month: found.append(month) or really(self, month))
    return found


def test_a_packed_month_is_unpacked_once_and_a_few_are_kept(seeded: App, clock: MovableClock, reads: list[str]) -> None:
    for _ in range(5):
        ageing.snapshots(seeded).make(clock.now())
        clock.move(timedelta(days=31))
    clock.move(timedelta(days=500))
    assert len(ageing.snapshots(seeded).pack(clock.now())) == 5
    months = mnests.months(seeded)
    for month in (months[0], months[0], months[1], months[0]):
        found = mnests.month_of(seeded, month)
        assert {each.state for each in found.mnests} == {State.SEED}
        assert found.as_of <= clock.now()
    assert reads == months[:2]
    for month in (*months[2:], months[0]):
        mnests.month_of(seeded, month)
    assert reads == [*months, months[0]]


def test_a_month_that_is_not_there_is_refused(seeded: App) -> None:
    for month in ("2001-01", "../../etc", ""):
        with pytest.raises(UsageError):
            mnests.month_of(seeded, month)


def test_a_map_stays_where_it_is_while_weights_fade(seeded: App, clock: MovableClock) -> None:
    before = mnests.graph(seeded, Wanted())
    clock.move(timedelta(days=20))
    after = mnests.graph(seeded, Wanted())
    assert [(each["name"], each["x"], each["y"]) for each in after["nodes"]] == [
        (each["name"], each["x"], each["y"]) for each in before["nodes"]
    ]
    assert after["nodes"][0]["traffic"] < before["nodes"][0]["traffic"]
