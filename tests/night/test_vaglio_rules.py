"""The scoring of spontaneous needs: bounded, and each part moves it the way it should."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.night import vaglio_rules
from metnos.night.vaglio_rules import Rules, Standing, Verdict
from metnos.synt.need import Evidence, Need, Way

RULES = Rules()
END = "Save me time on what I do again and again"
share = st.floats(0, 1)
days = st.lists(st.floats(0, 4000), max_size=6).map(tuple)
evidences = st.builds(Evidence, uses=st.integers(0, 10_000), saved_ms=st.floats(0, 1e9), saved_usd=st.floats(0, 1e4))
standings = st.builds(Standing, refused=days, lately=days, waiting=st.integers(0, 40))
ends = st.lists(st.tuples(share, share, st.text(max_size=5)), max_size=5)
texts = st.text(alphabet="abcdefghij klmnopqrstuvwxyz", max_size=200)


def need(**evidence: float) -> Need:
    return Need("describe urls", Way.DIRECT, name="describe_urls", evidence=Evidence(**evidence))  # type: ignore[arg-type]


def score(evidence: Evidence, served: object, strength: float, standing: Standing) -> float:
    made = replace(need(), evidence=evidence)
    return vaglio_rules.judge(made, served, strength, standing, RULES).score  # type: ignore[arg-type]


@given(evidences, ends, share, standings)
def test_every_part_lies_between_nought_and_one(
    evidence: Evidence, served: list[tuple[float, float, str]], strength: float, standing: Standing
) -> None:
    judged = vaglio_rules.judge(replace(need(), evidence=evidence), served, strength, standing, RULES)
    assert all(0 <= part <= 1 for part in (judged.score, judged.worth, judged.support, judged.bother))
    assert judged.score <= judged.worth * judged.support + 1e-12
    assert judged.reason


@given(evidences, ends, share, standings, st.integers(0, 500), st.floats(0, 1e8), st.floats(0, 100), share)
def test_more_evidence_never_makes_it_less(
    evidence: Evidence, served: list[tuple[float, float, str]], strength: float, standing: Standing,
    uses: int, ms: float, usd: float, stronger: float,
) -> None:  # fmt: skip
    more = Evidence(uses=evidence.uses + uses, saved_ms=evidence.saved_ms + ms, saved_usd=evidence.saved_usd + usd)
    before = score(evidence, served, strength, standing)
    assert score(more, served, max(strength, stronger), standing) >= before - 1e-12


@given(evidences, share, standings, share, share, share)
def test_a_weightier_end_never_makes_it_less_and_one_without_weight_gives_nothing(
    evidence: Evidence, strength: float, standing: Standing, weight: float, more: float, relevant: float
) -> None:
    light, heavy = sorted((weight, more))
    one = score(evidence, [(light, relevant, "")], strength, standing)
    assert score(evidence, [(heavy, relevant, "")], strength, standing) >= one - 1e-12
    assert score(evidence, [(0.0, relevant, ""), (light, relevant, "")], strength, standing) == one
    nothing = vaglio_rules.judge(replace(need(), evidence=evidence), [(0.0, 1.0, "")], strength, Standing(), RULES)
    assert (nothing.score, nothing.verdict) == (0.0, Verdict.NOT_NOW)


@given(standings, st.floats(0, 4000), st.integers(1, 10))
def test_every_refusal_and_every_question_that_waits_is_a_bother(standing: Standing, ago: float, more: int) -> None:
    cost = vaglio_rules.bother(standing, RULES)
    for worse in (
        replace(standing, refused=(*standing.refused, ago)),
        replace(standing, lately=(*standing.lately, ago)),
        replace(standing, waiting=standing.waiting + more),
    ):
        assert vaglio_rules.bother(worse, RULES) >= cost


@given(st.floats(0, 1000), st.floats(0, 1000))
def test_a_refusal_is_forgotten_with_time_and_weighs_most_for_the_same_thing(one: float, other: float) -> None:
    early, late = sorted((one, other))
    bother = {ago: vaglio_rules.bother(Standing(refused=(ago,)), RULES) for ago in (early, late)}
    assert bother[late] <= bother[early]
    assert vaglio_rules.bother(Standing(lately=(early,)), RULES) <= bother[early]


@given(texts, texts, st.integers(1, 30))
def test_words_raise_relevance_only_so_far_and_the_same_words_twice_count_once(end: str, said: str, times: int) -> None:
    base = vaglio_rules.relevance(end, "", said, need(), RULES)
    assert 0 <= base <= RULES.said
    assert vaglio_rules.relevance(end, "", f"{said} " * times, need(), RULES) == base
    # The whole end and everything else said with it, too.
    assert vaglio_rules.relevance(end, "", f"{end} {said}", need(), RULES) <= RULES.said


@given(texts, share)
def test_no_words_lift_a_score_above_what_evidence_and_weight_allow(said: str, weight: float) -> None:
    made = replace(need(uses=3), text=f"{END} {said}")
    relevant = vaglio_rules.relevance(END, said, made.text, made, RULES)
    judged = vaglio_rules.judge(made, [(weight, relevant, END)], 0.0, Standing(), RULES)
    assert judged.score <= weight * vaglio_rules.support(made.evidence, 0.0, RULES) + 1e-12


def test_saying_more_that_no_end_wants_makes_a_text_less_relevant() -> None:
    short = vaglio_rules.relevance("learn italian", "", "learn italian", need(), RULES)
    long = vaglio_rules.relevance("learn italian", "", "learn italian verbs songs history poems", need(), RULES)
    assert 0 < long < short


def test_what_it_brings_comes_from_evidence_and_not_from_words() -> None:
    assert vaglio_rules.relevance(END, "", "", need(uses=3), RULES) == 1.0
    assert vaglio_rules.relevance(END, "", "", need(uses=2), RULES) == 0.0
    assert vaglio_rules.relevance("Spend less money", "", "", need(uses=2, saved_usd=0.5), RULES) > 0.5
    mended = replace(need(), way=Way.REPAIR)
    assert vaglio_rules.relevance("Nothing breaks", "", "", mended, RULES) == 0.5
    assert vaglio_rules.relevance("Risparmiare tempo", "", "", need(uses=3), RULES) == 1.0


@pytest.mark.parametrize(
    ("standing", "verdict", "reason"),
    [
        (Standing(), Verdict.ASK, "well enough"),
        (Standing(refused=(0.0,)), Verdict.NOT_NOW, "you refused it not long ago"),
        (Standing(refused=(400.0,)), Verdict.ASK, "well enough"),
        (Standing(refused=(900.0, 800.0, 700.0)), Verdict.NEVER, "3 times"),
        (Standing(lately=(0.0,) * 6), Verdict.NOT_NOW, "bother"),
        (Standing(waiting=6), Verdict.NOT_NOW, "6 questions wait"),
    ],
)
def test_the_verdict_follows_from_what_the_owner_said(standing: Standing, verdict: Verdict, reason: str) -> None:
    judged = vaglio_rules.judge(need(uses=3), [(0.7, 1.0, END)], 0.0, standing, RULES)
    assert judged.verdict is verdict
    assert reason in judged.reason


def test_a_strong_mnest_toward_what_is_done_already_is_evidence_but_never_enough_alone() -> None:
    three = vaglio_rules.support(Evidence(uses=3), 0.0, RULES)
    assert vaglio_rules.support(Evidence(uses=3), 0.9, RULES) > three
    assert vaglio_rules.support(Evidence(), 1.0, RULES) == RULES.mnest
