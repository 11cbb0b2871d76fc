"""The ager wired into a workspace."""

from datetime import timedelta

import pytest

from grimoire.traces import trace
from metnos.app import App, ageing
from metnos.core.clock import MovableClock
from metnos.core.errors import InboxError
from metnos.grimoire.medium import Medium
from metnos.grimoire.trace import Desired, Passing
from metnos.law.principal import Autonomy, Channel, Principal
from signing import approve

OWNER = Principal(Channel.TERMINAL, "owner", Autonomy.FULL)
DAY = timedelta(days=1)


def turn(app: App, number: int, **facts: object) -> None:
    """A turn of the owner's, as the medium keeps it."""
    now = app.clock.now()
    assert isinstance(app.medium, Medium)
    app.medium.close(trace(id=f"T{number:05}", asked=now, closed=now, **{"passings": (), "desired": (), **facts}))


PASSED = (Passing("find_files", "1.0.0", "read_files", "1.0.0", "reference", 1, 2),)


def test_a_mnest_that_nobody_uses_is_asked_about_once_and_goes_with_a_yes(equipped: App, clock: MovableClock) -> None:
    turn(equipped, 0, passings=PASSED)
    ageing.learning.catch_up(equipped)
    for number in range(1, 200):
        clock.move(DAY)
        turn(equipped, number)
    report = ageing.age(equipped)
    assert report.aged.by_disuse is True
    asked = [each for each in equipped.inbox.waiting() if each.kind == ageing.ARCHIVAL]
    assert report.asked == len(asked) > 0
    clock.move(DAY)
    turn(equipped, 200)
    ageing.age(equipped)
    again = {each.id for each in equipped.inbox.waiting() if each.kind == ageing.ARCHIVAL}
    assert {each.id for each in asked} <= again
    (item,) = [each for each in equipped.inbox.waiting() if each.body.get("uses") == 1 and "find_files" in each.title][
        :1
    ]
    approved = approve(equipped.inbox, item.id, OWNER)
    assert ageing.archive(equipped, approved) is True
    db = equipped.catalog.db
    assert db.query("SELECT reason FROM mnests_archive WHERE id = ?", (item.body["mnest"],)) == [
        ("the owner let it go",)
    ]
    with pytest.raises(InboxError):
        ageing.archive(equipped, approved)


def test_a_dry_run_changes_nothing_at_all(equipped: App, clock: MovableClock) -> None:
    turn(equipped, 0, passings=PASSED)
    ageing.learning.catch_up(equipped)
    clock.move(30 * DAY)
    before = equipped.catalog.db.query("SELECT * FROM mnests ORDER BY id")
    report = ageing.age(equipped, dry_run=True)
    assert report.snapshot == "2026-12"
    assert report.aged.weighed > 0
    assert equipped.catalog.db.query("SELECT * FROM mnests ORDER BY id") == before
    assert ageing.snapshots(equipped).all() == []


def test_a_night_keeps_the_month_and_moves_the_year(equipped: App, clock: MovableClock) -> None:
    turn(equipped, 0, passings=PASSED)
    ageing.learning.catch_up(equipped)
    done = ageing.job(equipped)
    assert done.message == "snapshot of 2026-11"
    clock.move(60 * DAY)
    done = ageing.job(equipped)
    assert done.counts["events moved"] > 0
    assert [each.month for each in ageing.snapshots(equipped).all()] == ["2026-11", "2027-01"]
    assert ageing.job(equipped).counts == {"weighed": 0}


def test_a_month_is_put_back_and_what_happened_since_is_worked_in_again(equipped: App, clock: MovableClock) -> None:
    wish = Desired("sign_files", "request", "", {"summary": "a secret"})
    turn(equipped, 0, passings=PASSED, desired=(wish,))
    ageing.learning.catch_up(equipped)
    ageing.age(equipped)
    clock.move(DAY)
    turn(equipped, 1, passings=PASSED)
    ageing.learning.catch_up(equipped)
    equipped.medium.redact("T00000")
    db = equipped.catalog.db
    uses = "SELECT uses FROM mnests WHERE src_executor = 'find_files' AND dst_executor = 'read_files' AND uses > 1"
    before = db.query(uses)
    with db.write() as tx:
        tx.execute("UPDATE mnests SET uses = 77, weight = 0.77")
    done = ageing.put_back(equipped, "2026-11", lambda: False)
    assert done.aside.exists()
    assert db.query(uses) == before
    assert db.query("SELECT desired_sig FROM mnests WHERE dst_executor = 'sign_files'") == [("{}",)]
