from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.fastpath.slots_calendar import away, easter, month_of, months_away, period, week_of

days = st.dates(date(1950, 1, 1), date(2100, 1, 1))


@pytest.mark.parametrize(
    ("year", "day"),
    [(1961, (4, 2)), (2000, (4, 23)), (2024, (3, 31)), (2026, (4, 5)), (2027, (3, 28)), (2038, (4, 25))],
)
def test_easter(year: int, day: tuple[int, int]) -> None:
    assert easter(year) == date(year, *day)


@given(st.integers(1583, 3000))
def test_easter_is_a_sunday_of_spring(year: int) -> None:
    day = easter(year)
    assert day.weekday() == 6
    assert date(year, 3, 22) <= day <= date(year, 4, 25)


@given(days, st.integers(-500, 500))
def test_the_same_day_of_another_month_or_its_last(day: date, months: int) -> None:
    other = months_away(day, months)
    assert (other.year * 12 + other.month) - (day.year * 12 + day.month) == months
    assert other.day == day.day or (other.day < day.day and (other + timedelta(days=1)).day == 1)


@given(days, st.sampled_from(["week", "weekend", "month", "year"]), st.integers(-20, 20))
def test_a_period_ends_where_the_next_begins(day: date, unit: str, step: int) -> None:
    first, last = period(unit, step, day)
    following, _ = period(unit, step + 1, day)
    gap = (following - last).days
    assert gap == (6 if unit == "weekend" else 1)
    assert first <= last


@given(days)
def test_a_day_lies_in_its_week_and_month(day: date) -> None:
    for first, last in (week_of(day), month_of(day.year, day.month)):
        assert first <= day <= last


@given(days, st.sampled_from(["day", "week", "month", "year"]), st.integers(0, 50))
def test_further_away_is_later(day: date, unit: str, amount: int) -> None:
    assert away(day, unit, amount) <= away(day, unit, amount + 1)
    assert away(day, unit, -amount) <= day
