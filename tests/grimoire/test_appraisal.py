"""The quality gate: curiosity, importance, verification and affect."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.happened import EPISODES, PADS, observed, step, turn
from metnos.grimoire.affect import NEUTRAL, Pad
from metnos.grimoire.appraisal import (
    IMPORTANCE,
    Emotion,
    Known,
    Octant,
    Outcome,
    affect,
    curiosity,
    deviation,
    emotion,
    importance,
    novelty,
    octant,
    rarity,
    rejudged,
    signature,
    specificity,
    verdict,
)
from metnos.grimoire.domain import HOME
from metnos.grimoire.episode import Episode, Provenance, Verdict
from metnos.grimoire.evidence import Baseline

COUNTS = st.integers(0, 1000)
OUTCOMES = st.builds(Outcome, st.sampled_from([None, True, False]), st.booleans(), st.integers(0, 5))
KNOWN = st.builds(
    Known,
    nearest=st.one_of(st.none(), st.floats(-1, 1)),
    texts=st.lists(st.text(max_size=20), max_size=3).map(tuple),
    seen=COUNTS,
    alike=COUNTS,
    baselines=st.dictionaries(
        st.text(max_size=4), st.builds(Baseline, st.floats(-1e6, 1e6), st.floats(0, 1e6), COUNTS), max_size=2
    ),
)


def note(text: str, **changes: object) -> Episode:
    base = Episode(id="N1", ts=turn().ts, text=text, source="n", kind="note", provenance=Provenance.OWNER)
    return replace(base, **changes)  # type: ignore[arg-type]


# -- of any episode, however odd its payload


@given(EPISODES, KNOWN)
def test_curiosity_is_a_share_whatever_is_taken_in(episode: Episode, known: Known) -> None:
    assert 0 <= curiosity(episode, known, HOME.measured(episode)) <= 1


@given(EPISODES, OUTCOMES)
def test_importance_is_a_share_whatever_happened(episode: Episode, outcome: Outcome) -> None:
    assert 0 <= importance(episode, outcome) <= 1


@given(EPISODES, OUTCOMES)
def test_affect_stays_in_its_cube_whatever_happened(episode: Episode, outcome: Outcome) -> None:
    pad = affect(episode, outcome)
    assert all(-1 <= part <= 1 for part in (pad.pleasure, pad.arousal, pad.dominance))


@given(EPISODES, OUTCOMES)
def test_what_was_taken_back_or_disliked_is_never_verified(episode: Episode, outcome: Outcome) -> None:
    bad = replace(outcome, feedback=False) if outcome.feedback is not True else replace(outcome, undone=True)
    assert verdict(episode, bad) is Verdict.REJECTED


@given(EPISODES, OUTCOMES)
def test_a_rejection_stands_until_the_owner_says_otherwise(episode: Episode, outcome: Outcome) -> None:
    rejected = replace(episode, verdict=Verdict.REJECTED)
    if outcome.feedback is not True:
        assert rejudged(rejected, outcome) is Verdict.REJECTED


@given(EPISODES)
def test_a_judgement_is_never_taken_away_for_want_of_evidence(episode: Episode) -> None:
    if verdict(episode) is Verdict.UNJUDGED:
        assert rejudged(episode) is episode.verdict


# -- curiosity


def test_what_was_never_seen_is_more_surprising_than_what_is_seen_daily() -> None:
    seen_daily = Known(nearest=0.98, seen=100, alike=90)
    never_seen = Known(nearest=0.1, seen=100, alike=0)
    assert curiosity(turn(), never_seen) > 0.9 > 0.2 > curiosity(turn(), seen_daily)


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_the_nearer_the_known_the_less_novel(one: float, other: float) -> None:
    near, far = max(one, other), min(one, other)
    assert novelty("x", Known(nearest=near)) <= novelty("x", Known(nearest=far))


def test_without_vectors_words_say_how_new_a_text_is() -> None:
    known = Known(texts=("water the plants on friday", "pay the rent"))
    assert novelty("water the plants on friday", known) == 0
    assert novelty("water the plants on monday", known) < novelty("the router was replaced", known) < 1
    assert novelty("compile kernels", known) == 1


@given(COUNTS, COUNTS, COUNTS)
def test_the_more_often_the_less_rare(one: int, other: int, seen: int) -> None:
    often, seldom = max(one, other), min(one, other)
    assert 0 <= rarity(often, seen) <= rarity(seldom, seen) <= 1


def test_the_first_of_its_kind_is_wholly_rare() -> None:
    assert rarity(0, 0) == rarity(0, 50) == 1
    assert rarity(50, 50) < 0.01


def test_a_measure_far_from_its_baseline_is_a_surprise_by_itself() -> None:
    usual = {"temperature": Baseline(20.0, 1.0, 30)}
    same = Known(nearest=1.0, seen=50, alike=50, baselines=usual)
    plain, odd = observed(temperature=20.2), observed(temperature=35.0)
    assert curiosity(odd, same, HOME.measured(odd)) > curiosity(plain, same, HOME.measured(plain)) + 0.4


def test_a_baseline_of_two_says_nothing_about_what_is_odd() -> None:
    assert deviation([("t", 9.0)], {"t": Baseline(1.0, 0.1, 2)}) is None


def test_how_an_episode_ended_is_part_of_what_is_rare_in_its_domain() -> None:
    well, badly = turn(), turn("", step(ok=False, kind="not_found"), state="failed")
    assert signature(well) != signature(badly)
    assert signature(note("nothing was done")) == ""


# -- importance


@pytest.mark.parametrize(
    "outcome", [Outcome(feedback=False), Outcome(feedback=True), Outcome(undone=True), Outcome(repeated=2)]
)
def test_every_sign_that_it_mattered_makes_it_more_important(outcome: Outcome) -> None:
    assert importance(turn(), outcome) > importance(turn())


def test_a_failure_matters_more_than_a_success_and_a_dislike_more_than_a_like() -> None:
    failed = turn("x", step(ok=False, kind="timeout"), state="failed")
    assert importance(failed) > importance(turn("x"))
    assert importance(turn("x"), Outcome(feedback=False)) > importance(turn("x"), Outcome(feedback=True))


def test_what_cannot_be_taken_back_matters() -> None:
    final = step("delete_files") | {"irreversible": True}
    tried = step("delete_files", ok=False, kind="denied") | {"irreversible": True}
    assert importance(turn("x", final)) > importance(turn("x", step("delete_files")))
    assert importance(turn("x", tried)) == importance(turn("x", step("delete_files", ok=False, kind="denied")))


def test_what_the_owner_asked_to_remember_matters_most_of_all() -> None:
    told = note("the boiler is serviced in May", tags=("remember",))
    assert importance(told) > 0.7 > importance(note("the boiler is serviced in May"))


def test_time_and_money_matter() -> None:
    assert importance(turn("x", payload={"cost_ms": 60_000.0})) > importance(turn("x", payload={"cost_ms": 10.0}))
    assert importance(turn("x", payload={"usd": 0.5})) > importance(turn("x"))


def test_of_mere_texts_the_one_that_says_more_matters_more() -> None:
    assert importance(note("ok")) < importance(note("the meeting with Ada moved to 14:30 on 3 June in Torino"))
    assert specificity("") == 0 < specificity("yes") < specificity("Yes, on 12 May at the Porta Susa station") < 1


# -- verification


def test_an_outcome_that_was_seen_is_evidence() -> None:
    assert verdict(turn()) is Verdict.VERIFIED
    assert verdict(turn("x", step(), step(ok=False, kind="denied"), state="partly")) is Verdict.VERIFIED


def test_a_failure_is_verified_as_a_failure() -> None:
    assert verdict(turn("x", step(ok=False, kind="not_found"), state="failed")) is Verdict.VERIFIED


def test_what_nothing_speaks_for_stays_unjudged() -> None:
    talked = turn("what do you think", state="talked", payload={"steps": []})
    assert verdict(talked) is Verdict.UNJUDGED
    assert verdict(turn("x", state="waiting")) is Verdict.UNJUDGED
    assert verdict(note("somebody said so", provenance=Provenance.SELF)) is Verdict.UNJUDGED
    assert verdict(note("somebody said so", provenance=Provenance.LETHE)) is Verdict.UNJUDGED
    assert verdict(talked, Outcome(feedback=True)) is Verdict.VERIFIED
    assert verdict(talked, Outcome(repeated=1)) is Verdict.VERIFIED


def test_the_owners_own_word_and_a_measured_number_are_evidence() -> None:
    assert verdict(note("the key hangs behind the door")) is Verdict.VERIFIED
    assert verdict(observed(temperature=20.0)) is Verdict.VERIFIED
    assert verdict(replace(observed(temperature=20.0), provenance=Provenance.MARKET)) is Verdict.UNJUDGED


def test_a_word_of_the_owner_that_comes_later_changes_the_verdict() -> None:
    good = turn()
    assert rejudged(good, Outcome(undone=True)) is Verdict.REJECTED
    assert rejudged(replace(good, verdict=Verdict.REJECTED), Outcome(feedback=True)) is Verdict.VERIFIED


# -- affect


def test_success_pleases_and_failure_hurts() -> None:
    failed = turn("x", step(ok=False, kind="timeout"), state="failed")
    assert affect(turn()).pleasure > 0 > affect(failed).pleasure
    assert affect(turn()).dominance > 0 > affect(failed).dominance
    assert affect(failed).arousal > affect(turn()).arousal


def test_feedback_and_undo_are_felt() -> None:
    plain = affect(turn())
    assert affect(turn(), Outcome(feedback=True)).pleasure > plain.pleasure
    assert affect(turn(), Outcome(feedback=False)).pleasure < 0 < plain.pleasure
    assert affect(turn(), Outcome(undone=True)).dominance < plain.dominance


@given(st.floats(0, 1), st.floats(0, 1))
def test_what_the_owner_tells_is_welcome_however_new_it_is(one: float, other: float) -> None:
    more, less = max(one, other), min(one, other)
    new, known = affect(note("the spare key is under the mat", curiosity=more)), affect(note("so", curiosity=less))
    assert new.pleasure >= known.pleasure > 0
    assert new.arousal >= known.arousal
    assert new.dominance <= known.dominance
    feared = affect(note("the spare key is under the mat", curiosity=more), Outcome(feedback=False))
    assert feared.pleasure < 0


def test_a_note_is_no_threat_and_what_nobody_told_may_be_one() -> None:
    assert (octant(affect(note("x", curiosity=1.0))), emotion(affect(note("x", curiosity=1.0)))) == (
        Octant.DEPENDENT,
        Emotion.SURPRISE,
    )
    assert octant(affect(note("x", curiosity=0.0))) is Octant.RELAXED
    assert octant(affect(note("x", curiosity=1.0, provenance=Provenance.SELF))) is Octant.ANXIOUS


@given(st.floats(0, 1), st.floats(0, 1))
def test_surprise_arouses(one: float, other: float) -> None:
    more, less = max(one, other), min(one, other)
    assert affect(turn(curiosity=more)).arousal >= affect(turn(curiosity=less)).arousal


def test_none_of_the_four_is_a_constant_even_for_mere_texts() -> None:
    texts = ["ok", "the meeting with Ada moved to 14:30", "the meeting with Ada moved to 15:30", "rain"]
    known: list[str] = []
    felt, curious, important = set(), set(), set()
    for text in texts:
        surprise = curiosity(note(text), Known(texts=tuple(known)))
        curious.add(round(surprise, 3))
        important.add(round(importance(note(text)), 3))
        felt.add(affect(note(text, curiosity=surprise)))
        known.append(text)
    assert min(len(curious), len(important), len(felt)) > 1
    assert {verdict(turn()), verdict(turn(state="waiting")), verdict(turn(), Outcome(undone=True))} == set(Verdict)


def test_the_octants_are_named_by_their_signs() -> None:
    assert octant(Pad(0.5, 0.5, 0.5)) is Octant.EXUBERANT
    assert octant(Pad(0.5, 0.5, -0.5)) is Octant.DEPENDENT
    assert octant(Pad(0.5, -0.5, 0.5)) is Octant.RELAXED
    assert octant(Pad(0.5, -0.5, -0.5)) is Octant.DOCILE
    assert octant(Pad(-0.5, 0.5, 0.5)) is Octant.HOSTILE
    assert octant(Pad(-0.5, 0.5, -0.5)) is Octant.ANXIOUS
    assert octant(Pad(-0.5, -0.5, 0.5)) is Octant.DISDAINFUL
    assert octant(Pad(-0.5, -0.5, -0.5)) is Octant.BORED


@given(PADS, st.floats(0.2, 1))
def test_an_emotion_is_a_direction_and_not_a_strength(pad: Pad, factor: float) -> None:
    fainter = Pad(pad.pleasure * factor, pad.arousal * factor, pad.dominance * factor)
    named = emotion(fainter)
    if named is not None:
        assert emotion(pad) is not None
    if math.hypot(pad.pleasure, pad.arousal, pad.dominance) < 0.05:
        assert named is None


def test_joy_anger_fear_and_sadness_lie_where_they_are_felt() -> None:
    assert emotion(Pad(0.7, 0.4, 0.4)) is Emotion.JOY
    assert emotion(Pad(-0.5, 0.6, 0.4)) is Emotion.ANGER
    assert emotion(Pad(-0.5, 0.6, -0.5)) is Emotion.FEAR
    assert emotion(Pad(-0.6, -0.4, -0.4)) is Emotion.SADNESS
    assert emotion(NEUTRAL) is None


def test_what_whoever_told_it_says_it_is_worth_counts() -> None:
    plain = replace(observed(event="The heating in the cellar was repaired."), payload={})
    said = {value: importance(replace(plain, payload={IMPORTANCE: value})) for value in (0.0, 0.3, 7, -1)}
    assert said == {0.0: 0.0, 0.3: 0.3, 7: 1.0, -1: 0.0}
    for no_number in ("much", True, None, math.nan):
        assert importance(replace(plain, payload={IMPORTANCE: no_number})) == importance(plain)
