from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from grimoire.traces import trace
from metnos.core.clock import MovableClock, to_text
from metnos.grimoire.activity import Activity
from metnos.grimoire.medium import MIGRATIONS, Medium
from metnos.store.db import Database

START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)


def medium(path: Path, *asked: datetime, channel: str = "terminal") -> Database:
    db = Database(path, MIGRATIONS)
    found = Medium(db, MovableClock(START))
    for number, moment in enumerate(asked):
        found.close(trace(f"{channel}{number}", asked=moment, closed=moment, channel=channel))
    return db


def test_days_on_which_the_owner_asked_for_something(tmp_path: Path) -> None:
    db = medium(tmp_path / "medium.db", START, START + timedelta(hours=3), START + 2 * DAY, START + 9 * DAY)
    there = Activity.until(db, START + 5 * DAY)
    assert there.days_after(START - DAY) == 2
    assert there.days_after(START) == 2  # there was another turn that day
    assert there.days_after(START + timedelta(hours=3)) == 1
    assert there.days_after(START + 3 * DAY) == 0  # what lies ahead was a wrong clock's
    db.close()


def test_programs_and_the_night_are_not_the_owner(tmp_path: Path) -> None:
    db = medium(tmp_path / "medium.db", START, channel="api")
    medium(tmp_path / "medium.db", START, channel="night").close()
    assert Activity.until(db, START + DAY).days_after(START - DAY) == 0
    medium(tmp_path / "medium.db", START, channel="telegram").close()
    assert Activity.until(db, START + DAY).days_after(START - DAY) == 1
    db.close()


def test_a_day_is_one_where_the_owner_was(tmp_path: Path) -> None:
    east = timezone(timedelta(hours=9))
    late, early = datetime(2026, 11, 15, 23, 30, tzinfo=east), datetime(2026, 11, 16, 0, 30, tzinfo=east)
    db = medium(tmp_path / "medium.db", late, early)  # one day in UTC
    assert Activity.until(db, START + DAY).days_after(START - 9 * DAY) == 2
    db.close()


@given(hours=st.sets(st.integers(0, 24 * 40), max_size=20), since=st.integers(-24, 24 * 41))
def test_each_day_counts_once_and_fewer_lie_behind_a_later_moment(hours: set[int], since: int) -> None:
    moments = [START + timedelta(hours=hour) for hour in hours]
    last = {moment.date(): moment for moment in sorted(moments)}
    there = Activity(tuple(map(to_text, last.values())))
    moment = START + timedelta(hours=since)
    assert there.days_after(moment) == len({each.date() for each in moments if each > moment})
    assert there.days_after(moment) >= there.days_after(moment + DAY)
