from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.clock import MovableClock, SystemClock, from_text, to_text

moments = st.datetimes(datetime(1970, 1, 2), datetime(9000, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 -- bounds


@given(moments, moments)
def test_text_order_is_time_order(one: datetime, other: datetime) -> None:
    one, other = (moment.replace(microsecond=moment.microsecond // 1000 * 1000) for moment in (one, other))
    assert (to_text(one) < to_text(other)) == (one < other)
    assert from_text(to_text(one)) == one


def test_text_is_utc_whatever_the_zone() -> None:
    rome = datetime(2026, 4, 22, 0, 14, tzinfo=timezone(timedelta(hours=2)))
    assert to_text(rome) == "2026-04-21T22:14:00.000Z"


def test_a_time_without_a_zone_is_refused() -> None:
    naive = datetime(2026, 4, 21)  # noqa: DTZ001
    with pytest.raises(ValueError, match="zone"):
        to_text(naive)
    with pytest.raises(ValueError, match="zone"):
        from_text("2026-04-21T22:14:00")
    with pytest.raises(ValueError, match="zone"):
        MovableClock(naive)


def test_a_movable_clock_stands_still_until_it_is_moved() -> None:
    clock = MovableClock(datetime(2026, 1, 1, tzinfo=UTC))
    assert clock.now() == clock.now()
    clock.move(timedelta(days=-1))
    assert clock.now() == datetime(2025, 12, 31, tzinfo=UTC)


def test_the_system_clock_is_aware() -> None:
    assert SystemClock().now().tzinfo is UTC
