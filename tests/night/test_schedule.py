import time as system_time
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.night.schedule import (
    FIRST_PAUSE,
    LONGEST_SLEEP,
    MOST_TRIES,
    Past,
    Verdict,
    hour_of,
    judge,
    nap,
    next_hour,
    night_of,
    paused_until,
    read_hour,
)

# One that has no summer time, ordinary ones, one that changes by half an hour, and one that once left out a whole day.
ZONES = ("UTC", "Europe/Rome", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia")
NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)

# Hypothesis wants its bounds naive.
moments = st.datetimes(datetime(2005, 1, 1), datetime(2036, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
hours = st.builds(time, st.integers(0, 23), st.integers(0, 59))
zones = st.sampled_from([ZoneInfo(name) for name in ZONES])


@given(moments, hours, zones)
def test_the_night_is_the_last_one_whose_hour_has_struck(now: datetime, at: time, zone: ZoneInfo) -> None:
    night = night_of(now, at, zone)
    assert hour_of(night, at, zone) <= now < hour_of(night + DAY, at, zone)


@given(moments, hours, zones)
def test_the_next_hour_is_the_first_one_to_come(now: datetime, at: time, zone: ZoneInfo) -> None:
    coming = next_hour(now, at, zone)
    assert now < coming <= now + timedelta(hours=49)
    assert night_of(coming, at, zone) > night_of(now, at, zone)
    assert night_of(coming - timedelta(microseconds=1), at, zone) == night_of(now, at, zone)


@given(moments, st.timedeltas(timedelta(0), timedelta(days=900)), hours, zones)
def test_nights_never_go_back_while_time_does_not(now: datetime, later: timedelta, at: time, zone: ZoneInfo) -> None:
    assert night_of(now + later, at, zone) >= night_of(now, at, zone)


def test_an_hour_that_summer_time_leaves_out_comes_later_and_one_that_comes_twice_counts_once() -> None:
    rome, at = ZoneInfo("Europe/Rome"), time(2, 30)
    assert hour_of(date(2026, 3, 29), at, rome) == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)  # half past three there
    twice = hour_of(date(2026, 10, 25), at, rome)
    assert twice == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert night_of(twice + timedelta(hours=1), at, rome) == date(2026, 10, 25)  # the second half past two


@pytest.fixture
def rome(monkeypatch: pytest.MonkeyPatch) -> Iterator[ZoneInfo]:
    """The machine's own zone."""
    monkeypatch.setenv("TZ", "Europe/Rome")
    system_time.tzset()
    yield ZoneInfo("Europe/Rome")
    monkeypatch.undo()
    system_time.tzset()


def test_without_a_zone_it_is_the_machines_own(rome: ZoneInfo) -> None:
    for number in range(730):
        night, at = date(2026, 1, 1) + number * DAY, time(2, 30)
        assert hour_of(night, at) == hour_of(night, at, rome)
        assert night_of(hour_of(night, at), at) == night


def test_what_is_done_is_done() -> None:
    assert judge(Past(), NOW) is Verdict.DUE
    assert judge(Past(done=True), NOW) is Verdict.DONE
    assert judge(Past(done=True, tries=3, last_failed=NOW), NOW, active=False) is Verdict.DONE
    assert judge(Past(), NOW, active=False) is Verdict.QUIET


def test_what_failed_waits_longer_each_time_and_is_given_up() -> None:
    waits = [paused_until(Past(tries=tries, last_failed=NOW)) for tries in range(1, MOST_TRIES)]
    assert waits == [NOW + FIRST_PAUSE * 2**number for number in range(MOST_TRIES - 1)]
    assert judge(Past(tries=1, last_failed=NOW), NOW) is Verdict.PAUSED
    assert judge(Past(tries=1, last_failed=NOW), NOW + FIRST_PAUSE) is Verdict.DUE
    assert judge(Past(tries=MOST_TRIES, last_failed=NOW - DAY), NOW) is Verdict.GIVEN_UP


def test_what_was_killed_does_not_wait() -> None:
    assert judge(Past(tries=1), NOW) is Verdict.DUE


@given(st.integers(1, 60), st.timedeltas(timedelta(days=-900), timedelta(days=900)))
def test_no_failure_holds_anything_up_for_long(tries: int, moved: timedelta) -> None:
    past = Past(tries=tries, last_failed=NOW)
    until = paused_until(past)
    assert until is not None
    assert FIRST_PAUSE <= until - NOW <= timedelta(minutes=16)
    held = judge(past, NOW + moved) is Verdict.PAUSED
    assert held == (tries < MOST_TRIES and timedelta(0) <= moved < until - NOW)


@given(moments, moments)
def test_a_nap_is_bounded(now: datetime, wake: datetime) -> None:
    assert 0 <= nap(now, wake) <= LONGEST_SLEEP.total_seconds()
    assert nap(now, now + timedelta(seconds=3)) == 3


def test_the_hour_is_read_as_the_settings_write_it() -> None:
    assert read_hour("04:05") == time(4, 5)
    assert read_hour("23:59") == time(23, 59)
