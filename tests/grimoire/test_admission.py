from dataclasses import astuple, fields, replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grimoire.facts_made import START, fact
from metnos.grimoire import admission
from metnos.grimoire.admission import AdmissionRules, Factors, Known, Outcome, Weights
from metnos.grimoire.fact import Kind, Standing
from tables import try_each

DAY = timedelta(days=1)
SHARE = st.floats(0, 1)
FACTORS = st.builds(Factors, SHARE, SHARE, SHARE, SHARE, SHARE)
NAMES = [each.name for each in fields(Weights)]


class TestScore:
    def test_three_fresh_episodes_pass_one_is_at_most_doubted_and_none_does_not(self) -> None:
        for kind in set(Kind) - {Kind.WARNING}:
            levels = []
            for count in (0, 1, 3):
                seen = fact(kind=kind, sources=tuple(f"e{each}" for each in range(count)), episode_count=count)
                levels.append(admission.judge(seen, Known(), START).level)
            assert levels[0] is None
            assert levels[1] in (None, 0.3)
            assert levels[2] == 0.6, kind

    @pytest.mark.parametrize(("bias", "level"), [(-9.0, None), (-0.2007, 0.3), (0.0, 0.3), (0.2, 0.3), (0.21, 0.6)])
    def test_its_score_says_at_what_confidence(self, bias: float, level: float | None) -> None:
        rules = AdmissionRules(Weights(0, 0, 0, 0, 0, bias + 1e-4))
        assert admission.judge(fact(), Known(), START, rules).level == level

    def test_a_warning_needs_only_to_be_news(self) -> None:
        warned = fact(kind=Kind.WARNING, sources=(), episode_count=0, confidence=0.4)
        assert admission.judge(warned, Known(), START).level == 0.4
        assert admission.judge(warned, Known(likest=0.99), START).level is None

    @given(FACTORS)
    def test_it_is_a_share_and_grows_with_every_factor(self, factors: Factors) -> None:
        score = admission.score_of(factors, Weights())
        assert 0 <= score <= 1
        for each in fields(Factors):
            more = replace(factors, **{each.name: 1.0})
            assert admission.score_of(more, Weights()) >= score

    def test_no_factor_is_a_constant(self) -> None:
        poor = fact(text="Things happen", sources=(), episode_count=0, reinforced=START - 90 * DAY, kind=Kind.LINK)
        rich = fact(kind=Kind.ANTI, data={"warning": "x"}, episode_count=9)
        low = admission.factors_of(poor, Known(likest=0.9, harmed=5), START)
        high = admission.factors_of(rich, Known(helped=5), START)
        assert all(less < more for less, more in zip(astuple(low), astuple(high), strict=True))

    def test_quality_is_made_of_five_things_that_vary(self) -> None:
        vague, sharp = "Maybe some things are somehow slow", "Use read_pdf before 09:00 when /var/log has 200 files"
        for part in (admission.specificity, admission.actionability, admission.verifiability):
            assert part(fact(text=vague, sources=())) < part(fact(text=sharp, subject="read_pdf", value="slow"))
        assert admission.consistency(Known(contradicting=2)) < admission.consistency(Known()) == 1.0
        dull = admission.quality_of(fact(text=vague, sources=()), Known(0.9, contradicting=2))
        assert dull < admission.quality_of(fact(text=sharp), Known())

    @given(st.text(max_size=200), st.integers(0, 50), SHARE)
    def test_quality_is_a_share_of_any_text(self, text: str, contradicting: int, likest: float) -> None:
        assert 0 <= admission.quality_of(fact(text=text), Known(likest, contradicting=contradicting)) <= 1


class TestFitting:
    def test_without_outcomes_the_weights_stay(self) -> None:
        assert admission.fit([]) == Weights()

    def test_it_learns_what_told_good_from_bad(self) -> None:
        good = [Outcome(Factors(0.9, 0.5, 0.5, each / 40, 0.5), True) for each in range(40)]
        bad = [Outcome(Factors(0.1, 0.5, 0.5, each / 40, 0.5), False) for each in range(40)]
        fitted = admission.fit([*good, *bad])
        assert fitted.utility > Weights().utility
        assert fitted == admission.fit([*good, *bad])
        assert admission.score_of(good[0].factors, fitted) > 0.55 > 0.45 > admission.score_of(bad[0].factors, fitted)

    @settings(max_examples=settings().max_examples // 2)
    @given(st.lists(st.builds(Outcome, FACTORS, st.booleans()), max_size=20), st.sampled_from([1, 10, 250]))
    def test_whatever_came_the_gate_neither_opens_nor_shuts(self, outcomes: list[Outcome], times: int) -> None:
        fitted = admission.fit(outcomes * times)
        assert all(0 <= each <= 6 for each in astuple(fitted)[:-1])
        assert abs(fitted.bias) <= 6
        assert admission.score_of(Factors(1, 0, 1, 1, 1), fitted) < 0.45, "what no episode speaks for"
        for kind in set(Kind) - {Kind.WARNING}:
            shown = fact(kind=kind, sources=tuple(f"e{each}" for each in range(10)), episode_count=10)
            assert admission.judge(shown, Known(), START, AdmissionRules(fitted)).level == 0.6

    @pytest.mark.parametrize("good", [True, False])
    def test_not_even_a_flood_of_one_sort_opens_it_or_shuts_it(self, good: bool) -> None:
        fitted = admission.fit([Outcome(Factors(0.6, 0.65, 1, 1, 0.6), good)] * 5000)
        assert fitted != Weights()
        assert admission.score_of(Factors(1, 0, 1, 1, 1), fitted) < 0.45
        assert admission.score_of(Factors(0.5, 1, 1, 1, 0.4), fitted) > 0.55

    @settings(max_examples=settings().max_examples // 2)
    @given(st.lists(st.builds(Outcome, FACTORS, st.booleans()), max_size=20), st.sets(st.sampled_from(NAMES)))
    def test_what_is_fixed_stays(self, outcomes: list[Outcome], fixed: set[str]) -> None:
        start = Weights(bias=-4.0, novelty=0.3)
        fitted = admission.fit(outcomes * 9, start, fixed)
        assert all(getattr(fitted, name) == getattr(start, name) for name in fixed)

    def test_one_outcome_changes_little(self) -> None:
        fitted = admission.fit([Outcome(Factors(1, 1, 1, 1, 1), False)])
        assert all(abs(new - old) < 0.5 for new, old in zip(astuple(fitted), astuple(Weights()), strict=True))


class TestWhatBecameOfIt:
    @try_each(
        ("helped", "harmed", "standing", "contradicted", "ended", "good"),
        [
            (2, 1, Standing.PRUNED, True, False, True),
            (0, 1, Standing.ACTIVE, False, False, False),
            (0, 0, Standing.ACTIVE, True, False, None),
            (1, 1, Standing.ACTIVE, False, False, None),
            (0, 0, Standing.PRUNED, False, False, False),
            (0, 0, Standing.EXPIRED, False, False, False),
            (0, 0, Standing.EXPIRED, False, True, None),
            (0, 0, Standing.QUARANTINED, True, False, False),
            (0, 0, Standing.QUARANTINED, False, False, None),
        ],
    )
    def test_it_was_worth_it_or_not_or_nobody_knows(
        self, helped: int, harmed: int, standing: Standing, contradicted: bool, ended: bool, good: bool | None
    ) -> None:
        assert admission.became(helped, harmed, standing, contradicted, ended) is good

    @pytest.mark.parametrize(
        "kept", [None, 1, "abcde", [0.5] * 4, [0.5, 0.5, 0.5, 0.5, "x"], [0.1, 0.2, 0.3, 0.4, 1.5]]
    )
    def test_what_is_no_factor_is_none(self, kept: object) -> None:
        assert admission.came_by({admission.CAME_BY: kept}) is None
        assert admission.came_by({admission.CAME_BY: [0, 0.5, 1.0, 0.5, 1]}) == Factors(0, 0.5, 1, 0.5, 1)
