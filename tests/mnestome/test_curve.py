from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.decay import Ebbinghaus
from metnos.mnestome.curve import curve, steps, weight_at
from metnos.mnestome.rules import Event, Kind, Rules, replay
from support import START

DAY = timedelta(days=1)
RATE = Rules().decay_lambda


def used(day: float, delta: float = 0.15) -> Event:
    return Event(START + DAY * day, Kind.REINFORCE, delta, RATE)


def test_between_two_uses_a_weight_fades() -> None:
    found = curve([used(0, 0.30), used(40)], START + DAY * 80)
    moments = {round((moment - START) / DAY, 3): weight for moment, weight in found}
    assert moments[0] == pytest.approx(0.30)
    assert moments[40] == pytest.approx(0.30 * Ebbinghaus.per_day(RATE).factor(40) + 0.15)
    before = max(day for day in moments if day < 40)
    assert moments[before] == pytest.approx(0.30 * Ebbinghaus.per_day(RATE).factor(before), abs=1e-6)
    assert found[-1][0] == START + DAY * 80
    assert [weight for day, weight in moments.items() if day >= 40] == sorted(
        (weight for day, weight in moments.items() if day >= 40), reverse=True
    )


@given(st.lists(st.tuples(st.floats(0, 700), st.floats(0, 0.5)), min_size=1, max_size=300))
def test_a_curve_is_bounded_ordered_and_ends_where_its_events_lead(told: list[tuple[float, float]]) -> None:
    events = [used(day, delta) for day, delta in sorted(told)]
    now = START + DAY * 800
    found = curve(events, now)
    assert len(found) <= 240
    assert [moment for moment, _ in found] == sorted({moment for moment, _ in found})
    assert all(0 <= weight <= 1 for _, weight in found)
    weight, at = replay(events, RATE)
    assert at is not None
    assert found[-1] == (now, pytest.approx(Ebbinghaus.per_day(RATE).apply(weight, (now - at) / DAY)))


def test_before_its_first_event_it_weighed_nothing() -> None:
    assert weight_at(steps([used(5, 0.3)]), START) == 0.0
    assert curve([], START) == []
