"""Somatic markers: properties of what a situation feels like."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.grimoire import somatic_rules as rules
from metnos.grimoire.appraisal import NO_OUTCOME, Outcome
from metnos.grimoire.somatic_rules import FORM, RULES, End, Felt, Situation

NOW = datetime(2026, 11, 1, tzinfo=UTC)
THING, FORMED = Situation("move_files", "path", "/data/taxes"), Situation("move_files", FORM, "move {path}")
ENDS = st.builds(
    End,
    source=st.text("0123456789", min_size=1, max_size=4),
    ts=st.floats(0, 400).map(lambda days: NOW - timedelta(days=days)),
    ok=st.booleans(),
    kind=st.sampled_from(["", "not_found"]),
    irreversible=st.booleans(),
)
OUTCOMES = st.builds(Outcome, st.sampled_from([None, True, False]), st.booleans(), st.integers(0, 3))
FELT = st.builds(rules.felt, ENDS, OUTCOMES)


def ended(ok: bool, days: float = 0, outcome: Outcome = NO_OUTCOME, irreversible: bool = False) -> Felt:
    return rules.felt(End("t", NOW - timedelta(days=days), ok, irreversible=irreversible), outcome)


@given(st.lists(FELT, max_size=8), FELT)
def test_a_marker_is_bounded_and_moves_towards_what_comes_new(ends: list[Felt], new: Felt) -> None:
    before = rules.marker(ends, NOW)
    after = rules.marker([*ends, new], NOW)
    assert -1 <= before <= 1
    if ends and new.value <= before:
        assert after <= before + 1e-12
    if ends and new.value >= before:
        assert after >= before - 1e-12


@given(st.lists(FELT, min_size=1, max_size=6), st.floats(0, 300), st.floats(0, 300))
def test_a_bad_end_weighs_less_the_older_it_is(ends: list[Felt], one: float, other: float) -> None:
    newer, older = sorted((one, other))
    good = [each for each in ends if each.value > 0]
    fresh, faint = (rules.marker([*good, ended(False, days)], NOW) for days in (newer, older))
    assert faint >= fresh - 1e-12


@given(st.lists(FELT, max_size=8))
def test_without_a_bad_end_nobody_is_warned(ends: list[Felt]) -> None:
    good = [each for each in ends if each.value > 0]
    assert not rules.warns(THING, good, NOW)
    assert not rules.warns(FORMED, good, NOW)


@given(st.lists(FELT, max_size=8))
def test_a_form_warns_only_where_a_thing_would(ends: list[Felt]) -> None:
    assert not rules.warns(FORMED, ends, NOW) or rules.warns(THING, ends, NOW)


@given(ENDS, OUTCOMES)
def test_what_the_owner_says_outweighs_how_it_ended(end: End, outcome: Outcome) -> None:
    found = rules.felt(end, outcome)
    assert found.why in rules.WHYS
    if outcome.feedback is not None:
        assert (found.value < 0) is (outcome.feedback is False) or outcome.undone
    assert (found.why == "well") is (found.value > 0)


def test_one_bad_end_on_the_same_thing_is_enough_and_one_good_end_makes_up_for_it() -> None:
    assert rules.warns(THING, [ended(False)], NOW)
    assert not rules.warns(THING, [ended(False), ended(True)], NOW)
    assert rules.warns(THING, [ended(False), ended(True), ended(False)], NOW)


def test_what_was_taken_back_takes_more_to_be_made_up_for() -> None:
    taken_back = ended(True, outcome=Outcome(undone=True))
    assert rules.warns(THING, [taken_back, ended(True), ended(True)], NOW)
    assert not rules.warns(THING, [taken_back, *[ended(True)] * 5], NOW)


def test_a_form_of_request_needs_two_bad_ends() -> None:
    assert not rules.warns(FORMED, [ended(False)], NOW)
    assert rules.warns(FORMED, [ended(False), ended(False)], NOW)


@pytest.mark.parametrize(
    ("outcome", "irreversible", "value"),
    [
        (Outcome(feedback=False), True, RULES.for_good),
        (Outcome(feedback=False), False, RULES.disliked),
        (Outcome(undone=True), False, RULES.undone),
        (Outcome(feedback=True), True, RULES.liked),
        (NO_OUTCOME, True, RULES.well),
    ],
)
def test_what_came_after_is_what_is_felt(outcome: Outcome, irreversible: bool, value: float) -> None:
    assert ended(True, outcome=outcome, irreversible=irreversible).value == value


def test_only_what_names_something_makes_a_situation() -> None:
    args = {"path": "/data", "limit": 10, "deep": True, "x": "ab", "names": ["one.txt", "b"], "entries": ["/data/x"]}
    found = [(each.place, each.value) for each in rules.situations("find_files", " find  {path} ", args)]
    assert found == [("names", "one.txt"), ("path", "/data"), (FORM, "find {path}")]
    assert [each.place for each in rules.situations("find_files", "", {"path": "{{step1.path}}"})] == []


def test_what_one_person_met_says_nothing_to_another() -> None:
    assert THING.digest("owner") != THING.digest("telegram:7")
    assert "taxes" not in THING.digest("owner")
