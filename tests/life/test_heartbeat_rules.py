"""When a golem beats: properties of the schedule."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from metnos.life import heartbeat_rules as rules
from metnos.life import profile
from metnos.life.heartbeat_rules import Beat, Pulse

RATES = profile.read("golem").rates
NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
AGO = st.floats(-5000, 5000).map(lambda seconds: NOW - timedelta(seconds=seconds))
PULSES = st.builds(
    Pulse,
    last=st.dictionaries(st.sampled_from(Beat), AGO),
    curious=st.floats(0, 1),
    fresh=st.integers(0, 500),
)
BOUNDS = {Beat.GAMMA: (10.0, 10.0), Beat.THETA: (30.0, 120.0), Beat.DELTA: (300.0, 1200.0)}


@given(st.sampled_from(Beat), PULSES)
def test_no_beat_is_sooner_than_its_shortest_time_nor_later_than_its_longest(beat: Beat, pulse: Pulse) -> None:
    shortest, longest = BOUNDS[beat]
    assert shortest <= rules.interval(beat, pulse, RATES).total_seconds() <= longest


@given(st.sampled_from(Beat), st.floats(0, 1), st.floats(0, 1), st.integers(0, 100), st.integers(0, 100))
def test_more_pressure_never_makes_a_beat_later(beat: Beat, one: float, other: float, few: int, many: int) -> None:
    calm, tense = sorted((one, other))
    less, more = sorted((few, many))
    quiet = rules.interval(beat, Pulse(curious=calm, fresh=less), RATES)
    assert rules.interval(beat, Pulse(curious=tense, fresh=more), RATES) <= quiet


@given(PULSES, st.integers(1, 100), st.integers(1, 100))
def test_the_fewer_are_enough_the_sooner_is_consolidated(pulse: Pulse, one: int, other: int) -> None:
    few, many = sorted((one, other))
    sooner, later = (rules.interval(Beat.DELTA, replace(pulse, enough=each), RATES) for each in (few, many))
    assert sooner <= later


@given(PULSES)
def test_what_was_just_done_is_not_due_and_what_was_never_done_is(pulse: Pulse) -> None:
    for beat in Beat:
        done = Pulse({**pulse.last, beat: NOW}, pulse.curious, pulse.fresh)
        assert beat not in rules.due(done, RATES, NOW)
        never = Pulse({kind: ts for kind, ts in pulse.last.items() if kind is not beat}, pulse.curious, pulse.fresh)
        assert beat in rules.due(never, RATES, NOW)


@given(PULSES)
def test_something_is_due_exactly_when_it_is_time_to_wake(pulse: Pulse) -> None:
    wake = rules.wake(pulse, RATES, NOW)
    assert bool(rules.due(pulse, RATES, NOW)) == (wake <= NOW)
    assert wake <= NOW + timedelta(seconds=RATES.gamma)


def test_a_clock_that_was_set_back_silences_nothing() -> None:
    ahead = Pulse(dict.fromkeys(Beat, NOW + timedelta(days=400)))
    assert rules.due(ahead, RATES, NOW) == tuple(Beat)


def test_an_hour_of_a_quiet_golem_and_of_a_busy_one() -> None:
    def hour(curious: float, fresh: int) -> dict[Beat, int]:
        last: dict[Beat, datetime] = {}
        done = dict.fromkeys(Beat, 0)
        for second in range(3600):
            now = NOW + timedelta(seconds=second)
            for beat in rules.due(Pulse(last, curious, fresh), RATES, now):
                last[beat] = now
                done[beat] += 1
        return done

    assert hour(0.0, 0) == {Beat.GAMMA: 360, Beat.THETA: 30, Beat.DELTA: 3}
    assert hour(1.0, 500) == {Beat.GAMMA: 360, Beat.THETA: 120, Beat.DELTA: 12}
