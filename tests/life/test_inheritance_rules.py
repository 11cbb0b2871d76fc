"""The formulas of inheritance, for all numbers that there are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.grimoire import fact_rules
from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Kind
from metnos.life import inheritance_rules as rules
from metnos.life.inheritance_rules import Proof, Shares

belief = st.floats(0, 1)
generations = st.integers(0, 60)
sources = st.sampled_from([Provenance.TESTAMENT, Provenance.DEATH, Provenance.ARCHIVE])
kinds = st.sampled_from(sorted(Kind))
beliefs = st.dictionaries(st.text(max_size=3), st.floats(0, 1), max_size=12)


class TestDiscounted:
    @pytest.mark.parametrize(
        ("believed", "generation", "expected"),
        [(0.9, 1, 0.34), (0.4, 1, 0.34), (0.2, 1, 0.17), (0.34, 2, 0.289), (0.9, 3, 0.4 * 0.85**3)],
    )
    def test_the_base_is_taken_once_and_085_for_each_generation(
        self, believed: float, generation: int, expected: float
    ) -> None:
        assert rules.discounted(believed, generation) == pytest.approx(expected)

    def test_the_seeds_own_example(self) -> None:
        assert rules.discounted(0.9, 2, Provenance.ARCHIVE) == pytest.approx(0.3 * 0.85**2)

    @given(belief, generations, sources, kinds)
    def test_nothing_is_believed_more_by_being_inherited(
        self, believed: float, generation: int, source: Provenance, kind: Kind
    ) -> None:
        found = rules.discounted(believed, generation, source, kind)
        assert 0.0 <= found <= believed
        assert kind is Kind.ANTI or found <= fact_rules.BASE[source] * 0.85

    @given(belief, belief, generations, sources, kinds)
    def test_grows_with_belief_and_sinks_with_age(
        self, one: float, other: float, generation: int, source: Provenance, kind: Kind
    ) -> None:
        less, more = sorted((one, other))
        assert rules.discounted(less, generation, source, kind) <= rules.discounted(more, generation, source, kind)
        older = rules.discounted(one, generation + 1, source, kind)
        assert older <= rules.discounted(one, generation, source, kind)

    @given(st.floats(0.4, 1), st.integers(1, 12))
    def test_handed_on_untried_it_is_the_base_times_085_to_the_n(self, believed: float, lives: int) -> None:
        """The discount is one and the same whether it is taken at once or one generation after the other."""
        carried = believed
        for generation in range(1, lives + 1):
            carried = rules.discounted(carried, generation)
        assert carried == pytest.approx(0.4 * 0.85**lives)

    @given(belief, generations)
    def test_anti_knowledge_never_sinks_below_its_floor(self, believed: float, generation: int) -> None:
        assert rules.discounted(believed, generation, kind=Kind.ANTI) >= min(believed, 0.3)


class TestAge:
    @given(generations)
    def test_what_a_life_showed_itself_is_one_death_old(self, generation: int) -> None:
        assert rules.age(Provenance.SELF, generation) == 1
        assert rules.age(Provenance.TESTAMENT, generation) == generation + 1

    @given(st.sampled_from(Provenance))
    def test_a_death_washes_nothing(self, known_as: Provenance) -> None:
        """What never may steer a plan may not do so by having been inherited."""
        heir = rules.heir_provenance(known_as)
        assert (heir in fact_rules.NEVER_ACTS) is (known_as in fact_rules.NEVER_ACTS)
        assert heir not in rules.OWN
        assert fact_rules.BASE[heir] <= max(fact_rules.BASE[known_as], 0.4)


class TestLeftOut:
    @given(st.text(), st.text(), kinds, st.booleans(), st.integers(0, 6))
    def test_the_same_heir_leaves_out_the_same(self, key: str, heir: str, kind: Kind, stained: bool, held: int) -> None:
        once = rules.is_left_out(key, heir, kind, bloodstain=stained, held=held)
        assert once is rules.is_left_out(key, heir, kind, bloodstain=stained, held=held)
        if kind in rules.ALWAYS or stained or held >= 3:
            assert not once

    def test_about_a_tenth_and_another_tenth_for_another_heir(self) -> None:
        keys = [f"entry {number}" for number in range(2000)]
        one, other = (
            {key for key in keys if rules.is_left_out(key, heir, Kind.INSIGHT)} for heir in ("a" * 64, "b" * 64)
        )
        assert 140 < len(one) < 260
        assert one != other
        assert len(one & other) < 60

    def test_none_where_there_is_to_be_no_variation(self) -> None:
        exact = rules.InheritanceRules(variation=0.0)
        assert not any(rules.is_left_out(str(key), "heir", Kind.INSIGHT, rules=exact) for key in range(500))


class TestProof:
    @given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.booleans())
    def test_help_never_refutes_and_harm_never_earns(self, helped: int, harmed: int, own: int, against: bool) -> None:
        order = [Proof.REFUTED, Proof.UNTRIED, Proof.EARNED]
        now = order.index(rules.proof(helped, harmed, own, against))
        assert order.index(rules.proof(helped + 1, harmed, own, against)) >= now
        assert order.index(rules.proof(helped, harmed, own + 1, against)) >= now
        assert order.index(rules.proof(helped, harmed + 1, own, against)) <= now
        assert rules.proof(helped, harmed, own, True) is Proof.REFUTED

    def test_being_there_proves_nothing(self) -> None:
        assert rules.proof(0, 0, 0) is Proof.UNTRIED

    @pytest.mark.parametrize(("helped", "harmed", "own"), [(3, 0, 0), (0, 0, 3), (2, 0, 1), (5, 1, 0)])
    def test_three_own_proofs_earn_it(self, helped: int, harmed: int, own: int) -> None:
        assert rules.proof(helped, harmed, own) is Proof.EARNED

    @given(st.lists(st.sampled_from(Proof), max_size=20), st.integers(0, 5))
    def test_lives_count_what_they_proved(self, lives: list[Proof], held: int) -> None:
        deaths = 0
        for each in lives:
            before, held = held, rules.held_after(held, each)
            assert held == {Proof.EARNED: before + 1, Proof.UNTRIED: before, Proof.REFUTED: 0}[each]
            said = rules.generation_after(deaths, each)
            deaths = rules.age(Provenance.TESTAMENT, said)
        since = next((place for place, each in enumerate(lives[::-1]) if each is Proof.EARNED), len(lives) - 1)
        assert deaths == (since + 1 if lives else 0)

    def test_innate_after_three_generations(self) -> None:
        held = 0
        for _ in range(3):
            assert not rules.is_innate(held)
            held = rules.held_after(held, Proof.EARNED)
        assert rules.is_innate(held)


class TestLasting:
    def test_what_three_in_a_row_had_alike(self) -> None:
        lives = [{"a": "1", "b": "2"}, {"a": "1", "b": "2"}, {"a": "1", "b": "3"}, {"a": "1", "b": "3", "c": "4"}]
        assert rules.lasting(lives) == {"a": "1"}
        assert rules.lasting(lives[:2]) == {}

    @given(st.lists(st.dictionaries(st.sampled_from("abc"), st.sampled_from("12"), max_size=3), max_size=6))
    def test_never_what_one_of_the_last_three_had_otherwise(self, lives: list[dict[str, str]]) -> None:
        for name, value in rules.lasting(lives).items():
            assert [life.get(name) for life in lives[-3:]] == [value] * 3


class TestDivergence:
    @given(beliefs)
    def test_none_from_oneself(self, one: dict[str, float]) -> None:
        assert rules.divergence(one, one) == 0.0
        assert rules.is_copy(rules.divergence(one, one))

    @given(beliefs, beliefs)
    def test_the_same_both_ways_and_within_bounds(self, one: dict[str, float], other: dict[str, float]) -> None:
        found = rules.divergence(one, other)
        assert 0.0 <= found <= 1.0
        assert found == rules.divergence(other, one)

    @given(beliefs, beliefs, beliefs)
    def test_no_detour_is_shorter(self, a: dict[str, float], b: dict[str, float], c: dict[str, float]) -> None:
        assert rules.divergence(a, c) <= rules.divergence(a, b) + rules.divergence(b, c) + 1e-9

    def test_all_of_it_where_nothing_is_shared(self) -> None:
        assert rules.divergence({"a": 0.5}, {"b": 0.5}) == 1.0
        assert rules.divergence({}, {}) == 0.0


class TestShares:
    @given(*(st.integers(0, 100),) * 5)
    def test_a_share_is_a_share(self, earned: int, refuted: int, faded: int, rest: int, own: int) -> None:
        found = Shares(earned + refuted + faded + rest, earned, refuted, faded, own)
        assert 0.0 <= found.own_share <= 1.0

    def test_an_heir_that_did_nothing_has_nothing_of_its_own(self) -> None:
        assert Shares(inherited=10).own_share == 0.0
        assert Shares(inherited=10, earned=2, own=2).own_share == pytest.approx(4 / 12)
        assert Shares().own_share == 1.0
