"""Three clocks, their product, phases that do not tremble, and a throw that anyone can check."""

import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metnos.context.budgets import Phase
from metnos.life.cause import Cause
from metnos.life.vitality_rules import (
    ORDER,
    RULES,
    Clocks,
    Score,
    cause_of,
    economic,
    effects,
    fitness,
    hayflick_ratio,
    hazard,
    phase_of,
    survival,
    throw_of,
)
from tables import try_each

shares = st.floats(0, 1)
clocks = st.builds(Clocks, shares, shares, shares)
money = st.floats(0, 1e6)
scores = st.builds(Score, shares, st.booleans())
phases = st.sampled_from(ORDER)
limits = st.integers(1, 100_000)


class TestTheProduct:
    @given(clocks)
    def test_it_lies_in_bounds_and_below_every_clock(self, found: Clocks) -> None:
        assert 0 <= found.vitality <= min(found.economic, found.epistemic, found.stochastic)

    @given(shares, shares)
    def test_any_clock_at_zero_is_the_end(self, one: float, other: float) -> None:
        for found in (Clocks(0, one, other), Clocks(one, 0, other), Clocks(one, other, 0)):
            assert found.vitality == 0
            assert phase_of(found.vitality) is Phase.TERMINAL
            assert cause_of(found) is not None

    @given(clocks)
    def test_a_life_is_over_only_for_a_clock_that_ran_out(self, found: Clocks) -> None:
        over = cause_of(found)
        assert (over is Cause.STOCHASTIC) == (found.stochastic == 0)
        if over is None:
            assert found.economic > 0
            assert found.epistemic >= RULES.senescence


class TestMoney:
    @given(money, money, money, money)
    def test_spending_more_never_makes_more_alive(
        self, balance: float, reserve: float, one: float, more: float
    ) -> None:
        before, after = economic(balance, reserve, one), economic(balance, reserve, one + more)
        assert 0 <= after <= before <= 1

    @given(money)
    def test_without_a_bound_it_stands_still(self, spent: float) -> None:
        assert economic(0.0, 0.3, spent) == 1.0

    def test_the_reserve_is_not_to_live_on(self) -> None:
        assert economic(10.0, 0.3, 0.0) == 1.0
        assert economic(10.0, 0.3, 4.85) == pytest.approx(0.5)
        assert economic(10.0, 0.3, 9.7) == 0.0
        assert economic(0.3, 0.3, 0.0) == 0.0  # all of it is reserve


class TestFitness:
    @given(st.lists(scores, max_size=200))
    def test_it_lies_in_bounds(self, found: list[Score]) -> None:
        assert 0 <= fitness(found) <= 1

    @given(st.lists(scores, max_size=60), shares)
    def test_what_came_true_never_lowers_it_and_what_did_not_never_raises_it(
        self, found: list[Score], sure: float
    ) -> None:
        before = fitness(found)
        assert fitness([*found, Score(sure, True)]) >= before - 1e-12
        assert fitness([*found, Score(sure, False)]) <= before + 1e-12

    @given(st.lists(scores, min_size=1, max_size=60), st.data())
    def test_one_that_comes_true_after_all_never_lowers_it(self, found: list[Score], data: st.DataObject) -> None:
        place = data.draw(st.integers(0, len(found) - 1))
        right = [Score(each.confidence, each.hit or number == place) for number, each in enumerate(found)]
        assert fitness(right) >= fitness(found) - 1e-12

    def test_a_newborn_is_taken_to_be_right(self) -> None:
        assert fitness([]) == 1.0

    def test_what_is_always_wrong_becomes_senescent_and_what_mends_recovers(self) -> None:
        wrong = [Score(1.0, False)]
        assert fitness(wrong * 13) > RULES.senescence > fitness(wrong * 14)
        assert fitness(wrong * 14 + [Score(1.0, True)] * 64) > 0.75

    def test_it_comes_near_the_true_share_whatever_was_long_ago(self) -> None:
        dice = random.Random(7)
        found = [Score(0.8, False)] * 500 + [Score(0.8, dice.random() < 0.75) for _ in range(600)]
        assert fitness(found) == pytest.approx(0.75, abs=0.1)

    def test_the_surer_counts_more(self) -> None:
        assert fitness([Score(0.9, False)]) < fitness([Score(0.3, False)]) < fitness([])


class TestAge:
    @given(st.integers(0, 200_000), st.integers(0, 1000), limits)
    def test_living_longer_is_never_likelier(self, tick: int, more: int, limit: int) -> None:
        assert 0 <= survival(tick + more, limit) <= survival(tick, limit) <= 1

    @given(st.integers(1, 200_000), limits)
    def test_the_hazard_is_a_chance_and_certain_at_the_limit(self, tick: int, limit: int) -> None:
        assert 0 <= hazard(tick, limit) <= 1
        if tick >= limit:
            assert hazard(tick, limit) == 1.0

    @settings(max_examples=settings().max_examples // 2)
    @given(st.integers(2, 150))
    def test_surviving_every_hazard_is_the_chance_of_having_lived_so_long(self, limit: int) -> None:
        lived = 1.0
        for tick in range(1, limit):
            lived *= 1 - hazard(tick, limit)
            assert lived == pytest.approx(survival(tick, limit), rel=1e-6)

    @given(limits)
    def test_the_hazard_only_rises(self, limit: int) -> None:
        seen = [hazard(tick, limit) for tick in range(1, limit + 1, max(1, limit // 20))]
        assert all(one <= other + 1e-9 for one, other in pairwise(seen))

    @given(st.integers(0, 10**6))
    def test_without_a_limit_nobody_ages(self, tick: int) -> None:
        assert survival(tick, 0) == 1.0
        assert hazard(tick, 0) == 0.0
        assert hayflick_ratio(tick, 0) == 0.0

    def test_half_live_to_where_sharing_hurries_and_a_tenth_to_the_limit(self) -> None:
        assert survival(850, 1000) == pytest.approx(0.5, abs=0.01)
        assert survival(999, 1000) == pytest.approx(0.1, abs=0.01)

    @pytest.mark.slow
    def test_agents_that_are_thrown_for_really_die_at_that_rate(self) -> None:
        dice, limit, agents = random.Random(11), 60, 1000
        ended = [next(t for t in range(1, limit + 1) if dice.random() < hazard(t, limit)) for _ in range(agents)]
        assert sum(each > 51 for each in ended) / agents == pytest.approx(survival(51, limit), abs=0.05)
        assert max(ended) <= limit


class TestTheThrow:
    @given(st.text(alphabet="0123456789abcdef", min_size=128, max_size=128))
    def test_it_is_a_number_from_0_up_to_1_and_always_the_same(self, proof: str) -> None:
        assert 0 <= throw_of(proof) < 1
        assert throw_of(proof) == throw_of(proof)

    def test_throws_are_even(self) -> None:
        thrown = [throw_of(f"{number:0128x}") for number in range(4000)]
        for low in range(10):
            assert sum(low / 10 <= each < (low + 1) / 10 for each in thrown) == pytest.approx(400, abs=80)


class TestPhases:
    @given(shares, phases | st.none())
    def test_without_a_past_the_bounds_alone_decide(self, vitality: float, before: Phase | None) -> None:
        found = phase_of(vitality, before)
        bare = phase_of(vitality)
        assert ORDER.index(found) >= ORDER.index(bare)
        assert found is bare or (before is not None and ORDER.index(before) >= ORDER.index(found))

    @try_each(
        ("vitality", "phase"),
        [
            (1.0, Phase.THRIVING),
            (0.7, Phase.THRIVING),
            (0.69, Phase.STABLE),
            (0.5, Phase.STABLE),
            (0.49, Phase.CONSERVATION),
            (0.29, Phase.DECLINING),
            (0.1, Phase.DECLINING),
            (0.09, Phase.TERMINAL),
            (0.0, Phase.TERMINAL),
        ],
    )
    def test_the_bounds(self, vitality: float, phase: Phase) -> None:
        assert phase_of(vitality) is phase

    @given(shares, phases)
    def test_a_phase_stays_while_nothing_changes(self, vitality: float, before: Phase) -> None:
        once = phase_of(vitality, before)
        assert phase_of(vitality, once) is once

    @given(shares, shares, phases)
    def test_more_vitality_never_means_a_later_phase(self, one: float, other: float, before: Phase) -> None:
        low, high = sorted((one, other))
        assert ORDER.index(phase_of(high, before)) <= ORDER.index(phase_of(low, before))

    @given(st.sampled_from(RULES.bounds), st.lists(st.floats(0, 0.999), min_size=2, max_size=50), phases)
    def test_a_value_that_trembles_around_a_bound_changes_the_phase_at_most_twice(
        self, bound: float, trembling: list[float], before: Phase
    ) -> None:
        seen = [before]
        for each in trembling:
            seen.append(phase_of(bound - RULES.margin / 2 + each * RULES.margin, seen[-1]))
        assert sum(one is not other for one, other in pairwise(seen)) <= 2

    def test_up_takes_a_margin_more_than_down(self) -> None:
        assert phase_of(0.49, Phase.STABLE) is Phase.CONSERVATION
        assert phase_of(0.54, Phase.CONSERVATION) is Phase.CONSERVATION
        assert phase_of(0.55, Phase.CONSERVATION) is Phase.STABLE
        assert phase_of(0.05, Phase.THRIVING) is Phase.TERMINAL
        assert phase_of(1.0, Phase.TERMINAL) is Phase.THRIVING


class TestEffects:
    @given(phases, phases, shares, shares)
    def test_later_never_gets_more_or_waits_longer_or_shares_less(
        self, one: Phase, other: Phase, young: float, old: float
    ) -> None:
        early, late = sorted((one, other), key=ORDER.index)
        young, old = sorted((young, old))
        before, after = effects(early, young), effects(late, old)
        assert after.context <= before.context
        assert after.curator_every <= before.curator_every
        assert after.share <= before.share

    def test_the_numbers_of_the_design(self) -> None:
        assert [effects(phase).context for phase in ORDER] == [1.0, 0.8, 0.7, 0.6, 0.4]
        assert effects(Phase.THRIVING, 0.85).share == 0.6
        assert effects(Phase.THRIVING, 0.86).share == 0.4
        assert effects(Phase.TERMINAL).share == 0.4
        assert effects(Phase.THRIVING).curator_every == 50
