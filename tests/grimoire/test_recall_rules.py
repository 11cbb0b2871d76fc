"""The order of memories: four factors, relevance as the gate, likeness, mood and where a memory comes from."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.grimoire.affect import NEUTRAL, Pad
from metnos.grimoire.episode import Provenance
from metnos.grimoire.recall_rules import (
    DISCOUNTS,
    Candidate,
    Rules,
    Signals,
    congruence,
    evidence,
    factors,
    most_given,
    order,
    recency,
)

NOW = datetime(2026, 11, 16, 9, 0, tzinfo=UTC)
RULES = Rules()
GLAD, SAD = Pad(0.8, 0.3, 0.4), Pad(-0.8, -0.3, -0.4)

shares = st.floats(0, 1)
parts = st.floats(-1, 1)
pads = st.builds(Pad, parts, parts, parts)


def candidate(key: str = "a", *, days_ago: float = 0.0, **rest) -> Candidate:
    return Candidate(id=key, text=key, ts=NOW - timedelta(days=days_ago), **rest)


def signals(relevance: float, *, own: float = 1.0, passed: bool = True) -> Signals:
    return Signals(relevance, relevance, 0.0, 0.0, 0.0, 1.0, own, 0.0, "by words" if passed else "")


def ordered(candidates, relevances, *, mood=NEUTRAL, count=10, rules=RULES, alike=None, passed=None) -> list[str]:
    alike = alike or [[float(one is other) for other in candidates] for one in candidates]
    passed = passed or [True] * len(candidates)
    seen = [signals(each, passed=may) for each, may in zip(relevances, passed, strict=True)]
    return [candidates[place].id for place, _ in order(candidates, seen, alike, mood, count, rules)]


# -- the factors


def test_the_four_weights_are_those_of_the_design_and_make_one() -> None:
    weights = (RULES.relevance, RULES.recency, RULES.importance, RULES.affect)
    assert weights == (0.40, 0.20, 0.25, 0.15)
    assert sum(weights) == pytest.approx(1.0)


@given(shares, st.floats(0, 5000), shares, pads, pads, st.sampled_from(Provenance), st.booleans(), st.booleans())
def test_every_factor_and_the_score_stay_in_their_bounds(
    rel, days, imp, pad, mood, provenance, stained, against
) -> None:
    each = candidate(days_ago=days, importance=imp, pad=pad, provenance=provenance, bloodstain=stained)
    made = factors(each, rel, NOW, mood, RULES, contrarian=against)
    for value in (made.relevance, made.recency, made.importance, made.affect, made.discount):
        assert 0 <= value <= 1
    assert 0 <= made.score <= RULES.bloodstain + 1e-9


@given(st.floats(0, 1000), st.floats(0, 1000))
def test_the_newer_of_two_is_never_less_recent(one: float, other: float) -> None:
    newer, older = sorted((one, other))
    assert recency(NOW - timedelta(days=newer), NOW, RULES) >= recency(NOW - timedelta(days=older), NOW, RULES)


def test_a_month_halves_recency() -> None:
    assert recency(NOW - timedelta(days=RULES.half_life_days), NOW, RULES) == pytest.approx(0.5)


@given(pads, pads)
def test_a_feeling_fits_a_mood_as_the_mood_fits_it_and_its_opposite_as_little(pad: Pad, mood: Pad) -> None:
    opposite = Pad(-pad.pleasure, -pad.arousal, -pad.dominance)
    assert congruence(pad, mood) == pytest.approx(congruence(mood, pad))
    assert congruence(opposite, mood) == pytest.approx(1 - congruence(pad, mood))


@given(pads)
def test_a_neutral_mood_prefers_nothing(pad: Pad) -> None:
    assert congruence(pad, NEUTRAL) == 0.5


def test_discounts_are_those_of_the_design_and_cover_every_provenance() -> None:
    assert set(DISCOUNTS) == set(Provenance)
    named = {Provenance.SELF: 1.0, Provenance.CLADE: 0.80, Provenance.LETHE: 0.50, Provenance.MARKET: 0.60}
    assert {each: DISCOUNTS[each] for each in named} == named


def test_what_ended_badly_counts_a_fifth_more() -> None:
    plain = factors(candidate(), 0.5, NOW, NEUTRAL, RULES, contrarian=False)
    stained = factors(candidate(bloodstain=True), 0.5, NOW, NEUTRAL, RULES, contrarian=False)
    assert stained.score == pytest.approx(1.2 * plain.score)


# -- the gate


def test_what_did_not_pass_the_floor_is_not_there() -> None:
    assert ordered([candidate("a"), candidate("b")], [0.9, 0.8], passed=[False, True]) == ["b"]
    assert ordered([candidate("a")], [0.9], passed=[False]) == []


def test_nothing_overtakes_what_is_clearly_more_relevant() -> None:
    relevant = candidate("relevant", days_ago=900)
    tempting = candidate("tempting", importance=1.0, pad=GLAD)
    assert ordered([tempting, relevant], [1.0 - RULES.band - 0.01, 1.0], mood=GLAD) == ["relevant", "tempting"]


def test_among_equally_relevant_ones_the_newer_comes_first() -> None:
    old, new = candidate("old", days_ago=60), candidate("new", days_ago=1)
    assert ordered([old, new], [0.8, 0.8]) == ["new", "old"]


def test_among_things_long_past_the_latest_still_comes_first() -> None:
    old, new = candidate("old", days_ago=2000), candidate("new", days_ago=1900)
    assert ordered([old, new], [0.8, 0.8]) == ["new", "old"]


def test_among_equally_relevant_ones_the_more_important_comes_first() -> None:
    assert ordered([candidate("a"), candidate("b", importance=0.9)], [0.8, 0.8]) == ["b", "a"]


@given(st.lists(st.tuples(shares, shares, st.floats(0, 1000), pads), min_size=1, max_size=12), pads)
def test_each_place_goes_to_one_within_the_band_of_the_best_that_is_left(drawn, mood: Pad) -> None:
    every = [
        candidate(str(place), days_ago=days, importance=imp, pad=pad) for place, (_, imp, days, pad) in enumerate(drawn)
    ]
    relevance = {each.id: rel for each, (rel, *_) in zip(every, drawn, strict=True)}
    left = dict(relevance)
    found = ordered(every, list(relevance.values()), mood=mood, count=len(every))
    assert sorted(found) == sorted(relevance)
    for key in found:
        assert left[key] >= max(left.values()) - RULES.band - 1e-9
        del left[key]


# -- whether anything is an answer


@given(shares, st.floats(0, 40), st.floats(-3, 12), st.booleans())
def test_more_of_anything_never_speaks_against_an_answer(
    cover: float, ahead: float, near: float, strange: bool
) -> None:
    found = evidence(cover, ahead, near, RULES, unknown=strange)
    assert evidence(min(1.0, cover + 0.1), ahead, near, RULES, unknown=strange) >= found
    assert evidence(cover, ahead + 1, near, RULES, unknown=strange) > found
    assert evidence(cover, ahead, near + 1, RULES, unknown=strange) >= found
    assert evidence(cover, ahead, near, RULES, unknown=True) <= found


def test_everything_that_was_asked_in_one_place_is_an_answer_though_a_name_is_strange() -> None:
    assert most_given(evidence(1.0, 0.0, 0.0, RULES, unknown=True), RULES) is None


def test_meaning_alone_is_enough_when_it_is_near_enough_and_nothing_when_chance_brings_it() -> None:
    assert most_given(evidence(0.0, 0.0, RULES.answers_nearness, RULES, unknown=False), RULES) == RULES.few_answers
    assert evidence(0.0, 0.0, RULES.nearness, RULES, unknown=False) == 0.0


@given(st.floats(-1, 3), st.floats(0, 1))
def test_more_evidence_never_gives_fewer_memories(found: float, more: float) -> None:
    many = [99 if each is None else each for each in (most_given(found, RULES), most_given(found + more, RULES))]
    assert many[0] <= many[1]


# -- mood, likeness, provenance


def test_a_mood_remembers_its_own_kind_and_every_fifth_time_the_other() -> None:
    every = [candidate(f"sad{number}", pad=SAD) for number in range(6)] + [candidate("glad", pad=GLAD)]
    found = ordered(every, [0.8] * 7, mood=SAD, count=7)
    assert found.index("glad") == RULES.contrarian - 1


def test_without_a_contrarian_share_the_other_kind_comes_last() -> None:
    every = [candidate(f"sad{number}", pad=SAD) for number in range(6)] + [candidate("glad", pad=GLAD)]
    assert ordered(every, [0.8] * 7, mood=SAD, count=7, rules=replace(RULES, contrarian=0))[-1] == "glad"


def test_what_says_the_same_as_a_chosen_one_gives_way_to_something_else() -> None:
    every = [candidate("a"), candidate("twin"), candidate("other")]
    alike = [[1, 0.99, 0.1], [0.99, 1, 0.1], [0.1, 0.1, 1]]
    assert ordered(every, [0.80, 0.80, 0.77], alike=alike) == ["a", "other", "twin"]


def test_a_later_one_that_says_something_else_about_the_same_supersedes_an_earlier_one() -> None:
    old, new = candidate("old", days_ago=90), candidate("new", days_ago=2)
    alike = [[1, 0.8], [0.8, 1]]
    assert ordered([old, new], [1.0, 0.8], alike=alike) == ["new", "old"]
    assert ordered([old, new], [1.0, 0.8], alike=[[1, 0.2], [0.2, 1]]) == ["old", "new"]


def test_an_earlier_one_never_supersedes_a_later_one() -> None:
    old, new = candidate("old", days_ago=90, importance=1.0), candidate("new", days_ago=2)
    assert ordered([new, old], [1.0, 0.8], alike=[[1, 0.8], [0.8, 1]]) == ["new", "old"]


def test_what_comes_from_strangers_gives_way_to_what_was_lived() -> None:
    strange, own = candidate("strange", provenance=Provenance.LETHE), candidate("own")
    assert ordered([strange, own], [1.0, 0.6]) == ["own", "strange"]


def test_a_fact_that_is_hardly_believed_gives_way() -> None:
    assert ordered([candidate("doubted", belief=0.3), candidate("believed", belief=0.9)], [0.9, 0.8])[0] == "believed"


# -- who may see what
