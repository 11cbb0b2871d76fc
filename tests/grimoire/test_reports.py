"""Reports: the newest first, bounded, and only of known kinds."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from metnos.core.clock import MovableClock
from metnos.grimoire.memory_schema import MIGRATIONS
from metnos.grimoire.reports import Reports
from metnos.store.db import Database


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "grimoire.db", MIGRATIONS)
    yield made
    made.close()


def test_the_newest_report_comes_first(db: Database, clock: MovableClock) -> None:
    reports = Reports(db, clock)
    for number in range(3):
        reports.add("curator", {"cycle": number})
        clock.move(timedelta(hours=1))
    reports.add("dream", {"products": 2})
    assert [each.data for each in reports.latest("curator", 2)] == [{"cycle": 2}, {"cycle": 1}]
    assert reports.latest()[0].kind == "dream"
    assert reports.latest()[0].ts == clock.now()


def test_of_each_kind_the_newest_are_kept(db: Database, clock: MovableClock) -> None:
    reports = Reports(db, clock, kept=3)
    reports.add("dream", {})
    for number in range(10):
        reports.add("curator", {"cycle": number})
    assert [each.data["cycle"] for each in reports.latest("curator", 100)] == [9, 8, 7]
    assert len(reports.latest("dream")) == 1


def test_there_are_no_reports_of_other_kinds(db: Database, clock: MovableClock) -> None:
    with pytest.raises(ValueError, match="curator"):
        Reports(db, clock).add("diary", {})


def test_a_report_is_kept_or_lost_with_the_work_that_it_is_about(db: Database, clock: MovableClock) -> None:
    reports = Reports(db, clock)
    with pytest.raises(RuntimeError), db.write():
        reports.add("curator", {})
        raise RuntimeError
    assert reports.latest() == []
