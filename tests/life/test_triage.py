"""Triage: how curious an event makes, and what is kept when there is too much. Properties first."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from metnos.grimoire.evidence import Baseline
from metnos.life import pack, triage
from metnos.life.event import Event
from metnos.life.triage import Known, TriageRules

DEFI = pack.read("defi")
NOW = datetime(2026, 11, 1, tzinfo=UTC)
KINDS = st.sampled_from([*DEFI.events, "unheard_of"])
VALUES = st.floats(0, 1e9)
USUAL = {"value (ETH)": Baseline(1.0, 0.1, 50)}


def event(kind: str = "swap", value: float = 1.0, number: int = 0, about: str = "pool") -> Event:
    return Event(kind, about, f"chain 1 {number}", NOW, "t", {"value_eth": value})


EVENTS = st.lists(st.tuples(KINDS, VALUES, st.sampled_from(["pool", "lending"])), max_size=40).map(
    lambda found: [event(kind, value, number, about) for number, (kind, value, about) in enumerate(found)]
)
KNOWN = st.builds(
    Known,
    kinds=st.dictionaries(KINDS, st.integers(0, 500), max_size=5),
    baselines=st.dictionaries(
        st.just("value (ETH)"), st.builds(Baseline, VALUES, st.floats(0, 1e6), st.integers(0, 500)), max_size=1
    ),
)


@given(KINDS, VALUES, KNOWN)
def test_curiosity_and_its_parts_lie_between_nothing_and_one(kind: str, value: float, known: Known) -> None:
    found = triage.judge(event(kind, value), known, DEFI)
    parts = [found.curiosity, found.prior, found.rarity, *([found.deviation] if found.deviation is not None else [])]
    assert all(0 <= part <= 1 for part in parts)
    assert found.curiosity <= max(parts[1:])
    assert found.curiosity >= min(parts[1:]) - 1e-12


@given(st.floats(0, 50), st.floats(0, 50))
def test_the_farther_from_what_is_usual_the_more_curious(one: float, other: float) -> None:
    near, far = sorted((one, other))
    known = Known({"swap": 30}, USUAL)
    scores = [triage.judge(event(value=1.0 + off), known, DEFI).curiosity for off in (near, far)]
    assert scores[0] <= scores[1]


@given(st.integers(0, 200))
def test_what_is_seen_again_and_again_makes_less_and_less_curious(times: int) -> None:
    def after(count: int) -> float:
        return triage.judge(event(), Known({"swap": count, "mint": 5}), DEFI).curiosity

    assert after(times + 1) <= after(times)


@given(EVENTS, st.integers(1, 30), st.floats(0, 1))
def test_what_is_kept_is_a_part_of_what_came_in_its_order_and_never_more_than_there_is_room(
    events: list[Event], room: int, curious: float
) -> None:
    rules = TriageRules(room=room, curious=curious)
    judged = triage.triage(events, {}, DEFI, rules)
    kept = triage.keep(judged, rules)
    assert [each.event for each in judged] == events
    assert len(kept) == min(room, len(events))
    places = [judged.index(each) for each in kept]
    assert places == sorted(places)
    assert triage.keep(judged, rules) == kept
    if len(events) > room and int(room * curious):
        assert max(judged, key=lambda each: each.curiosity).curiosity == max(each.curiosity for each in kept)


def test_a_flood_of_the_usual_does_not_wash_away_what_matters_and_the_usual_is_still_seen() -> None:
    usual = [event(number=number) for number in range(1000)]
    alarm = event("liquidation", 400.0, 1001)
    judged = triage.triage([*usual, alarm], {"pool": Known({"swap": 400}, USUAL)}, DEFI)
    kept = [each.event for each in triage.keep(judged)]
    assert alarm in kept
    assert len(kept) == triage.RULES.room
    assert sum(each.kind == "swap" for each in kept) > 50


def test_events_before_an_event_make_it_known() -> None:
    first, *_, last = triage.triage([event(number=number) for number in range(20)], {}, DEFI)
    assert first.rarity == 1.0
    assert last.curiosity < first.curiosity / 2
