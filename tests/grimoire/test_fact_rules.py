import math
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.facts_made import START, fact
from metnos.grimoire import fact_rules
from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Decay, Fact, Kind, Standing
from metnos.grimoire.fact_rules import RULES
from tables import try_each

DAY = timedelta(days=1)
DAYS = st.floats(0, 2000)
SHARE = st.floats(0, 1)

FACTS = st.builds(
    fact,
    kind=st.sampled_from(Kind),
    confidence=SHARE,
    provenance=st.sampled_from(Provenance),
    decay=st.sampled_from(Decay),
    episode_count=st.integers(0, 5000),
    bloodstain=st.booleans(),
    pinned=st.booleans(),
    sender=st.sampled_from(["owner", "agent", "somebody"]),
    helped=st.integers(0, 3),
    shown=st.integers(0, 3),
    standing=st.sampled_from(Standing),
    generation=st.integers(0, 9),
)


def after(days: float) -> datetime:
    return START + timedelta(days=days)


class TestFading:
    @pytest.mark.parametrize(
        ("decay", "days"),
        [
            (Decay.STRUCTURAL, RULES.structural_days),
            (Decay.STRATEGIC, RULES.strategic_days),
            (Decay.TACTICAL, RULES.tactical_days),
            (Decay.EPHEMERAL, RULES.ephemeral_days),
        ],
    )
    def test_half_is_left_after_a_half_life(self, decay: Decay, days: float) -> None:
        left = fact_rules.faded(fact(confidence=0.8, decay=decay, episode_count=1), after(days))
        assert left.confidence == pytest.approx(0.4)
        assert left.applied == after(days)

    def test_classes_last_from_shortest_to_longest(self) -> None:
        days = (RULES.ephemeral_days, RULES.tactical_days, RULES.strategic_days, RULES.structural_days)
        assert list(days) == sorted(days)

    def test_evidence_slows_it_by_its_logarithm(self) -> None:
        much = fact(confidence=0.8, episode_count=100)
        left = fact_rules.faded(much, after(RULES.strategic_days * math.log(100)))
        assert left.confidence == pytest.approx(0.4)

    def test_what_something_ended_badly_by_fades_three_times_slower(self) -> None:
        stained = fact(confidence=0.8, episode_count=1, bloodstain=True)
        assert fact_rules.faded(stained, after(3 * RULES.strategic_days)).confidence == pytest.approx(0.4)

    @pytest.mark.parametrize("changes", [{"decay": Decay.NEVER}, {"pinned": True}])
    def test_what_is_pinned_or_said_by_the_owner_does_not_fade(self, changes: dict[str, object]) -> None:
        assert fact_rules.faded(fact(confidence=0.8, **changes), after(9999)).confidence == 0.8

    def test_anti_knowledge_keeps_its_floor_and_is_not_lifted_to_it(self) -> None:
        assert fact_rules.faded(fact(kind=Kind.ANTI, confidence=0.9), after(9999)).confidence == RULES.anti_floor
        assert fact_rules.faded(fact(kind=Kind.ANTI, confidence=0.2), after(9999)).confidence == 0.2

    def test_inherited_knowledge_that_never_helped_fades_faster(self) -> None:
        unproven = fact(confidence=0.4, provenance=Provenance.CLADE)
        proven = replace(unproven, helped=1)
        assert fact_rules.faded(unproven, after(30)).confidence < fact_rules.faded(proven, after(30)).confidence

    @given(FACTS, DAYS, DAYS)
    def test_it_never_compounds(self, one: Fact, first: float, second: float) -> None:
        at_once = fact_rules.faded(one, after(first + second))
        in_steps = fact_rules.faded(fact_rules.faded(one, after(first)), after(first + second))
        assert in_steps.confidence == pytest.approx(at_once.confidence, rel=1e-6, abs=1e-9)

    @given(FACTS, DAYS)
    def test_it_stays_within_bounds_and_never_grows(self, one: Fact, days: float) -> None:
        left = fact_rules.faded(one, after(days))
        assert 0 <= left.confidence <= one.confidence
        if one.kind is Kind.ANTI:
            assert left.confidence >= min(one.confidence, RULES.anti_floor)

    @given(FACTS, DAYS)
    def test_a_clock_that_was_set_back_changes_nothing(self, one: Fact, days: float) -> None:
        assert fact_rules.faded(one, START - timedelta(days=days)) == one


class TestBelief:
    @try_each(
        ("provenance", "first"),
        [
            (Provenance.SELF, 0.6),
            (Provenance.OWNER, 0.6),
            (Provenance.CLADE, 0.4),
            (Provenance.TESTAMENT, 0.4),
            (Provenance.ARCHIVE, 0.3),
            (Provenance.DREAM, 0.3),
            (Provenance.QUERY, 0.25),
            (Provenance.LETHE, 0.2),
            (Provenance.MARKET, 0.2),
        ],
    )
    def test_its_source_says_how_far_it_is_believed_at_first(self, provenance: Provenance, first: float) -> None:
        assert fact_rules.first_confidence(0.6, provenance, 0) == pytest.approx(first)
        assert fact_rules.first_confidence(0.6, provenance, 2) == pytest.approx(first * 0.85**2)

    @given(FACTS, SHARE, DAYS)
    def test_a_proof_adds_and_stays_below_the_ceiling_of_its_source(self, one: Fact, by: float, days: float) -> None:
        before = fact_rules.faded(one, after(days)).confidence
        new = fact_rules.reinforced(one, by, after(days))
        assert before <= new.confidence <= max(before, fact_rules.ceiling(one)) + 1e-12
        assert new.low_cycles == 0

    @given(FACTS, SHARE, DAYS)
    def test_a_failure_takes_and_stays_above_the_floor(self, one: Fact, by: float, days: float) -> None:
        before = fact_rules.faded(one, after(days)).confidence
        new = fact_rules.weakened(one, by, after(days))
        assert 0 <= new.confidence <= before
        assert new.confidence >= min(before, fact_rules.floor(one))

    def test_a_failure_outweighs_a_proof(self) -> None:
        one = fact(confidence=0.6)
        proved = fact_rules.reinforced(one, RULES.reinforcement, START)
        assert fact_rules.weakened(proved, RULES.weakening, START).confidence < one.confidence

    @given(FACTS)
    def test_nothing_from_outside_becomes_an_insight_by_being_repeated(self, one: Fact) -> None:
        outside = one.provenance not in (Provenance.SELF, Provenance.OWNER) or one.sender == "somebody"
        said = replace(one, confidence=min(one.confidence, 0.5), decay=Decay.NEVER)
        for _ in range(200):
            said = fact_rules.reinforced(said, 1.0, START)
        assert (said.confidence < RULES.insight) is outside

    def test_retrieved_inherited_knowledge_is_changed_more_easily(self) -> None:
        kept = fact(confidence=0.4, provenance=Provenance.CLADE)
        shown = replace(kept, shown=1)
        assert fact_rules.weakened(shown, 0.3, START).confidence < fact_rules.weakened(kept, 0.3, START).confidence
        assert fact_rules.reinforced(shown, 0.3, START).confidence > fact_rules.reinforced(kept, 0.3, START).confidence

    @pytest.mark.parametrize(
        ("stronger", "weaker"),
        [
            ({"provenance": Provenance.OWNER, "confidence": 0.3}, {"confidence": 0.9}),
            ({"provenance": Provenance.SELF, "confidence": 0.4}, {"provenance": Provenance.CLADE, "confidence": 0.9}),
            ({"provenance": Provenance.LETHE, "confidence": 0.2}, {"provenance": Provenance.DREAM, "confidence": 0.9}),
            ({"episode_count": 20}, {"episode_count": 3}),
            ({"confidence": 0.8}, {"confidence": 0.5}),
            ({"confidence": 0.3}, {"confidence": 0.9, "sender": "somebody"}),
            ({"pinned": True, "confidence": 0.1}, {"provenance": Provenance.OWNER, "confidence": 1.0}),
        ],
    )
    def test_of_two_that_differ_the_one_with_less_behind_it_gives_way(
        self, stronger: dict[str, object], weaker: dict[str, object]
    ) -> None:
        strong, weak = fact("strong", **stronger), fact("weak", **weaker)
        assert fact_rules.gives_way(weak, strong) is weak
        assert fact_rules.gives_way(strong, weak) is weak

    def test_of_two_that_are_alike_the_newer_gives_way(self) -> None:
        newer, older = fact("newer"), fact("older")
        assert fact_rules.gives_way(newer, older) is newer


class TestStanding:
    def test_what_is_hardly_believed_goes_after_three_consolidations_in_a_row(self) -> None:
        one = fact(confidence=0.05)
        for count in (1, 2):
            one = fact_rules.settled(one, START)
            assert (one.standing, one.low_cycles) == (Standing.ACTIVE, count)
        assert fact_rules.settled(one, START).standing is Standing.PRUNED

    def test_a_proof_between_begins_the_count_again(self) -> None:
        one = fact_rules.settled(fact_rules.settled(fact(confidence=0.05), START), START)
        one = fact_rules.settled(fact_rules.reinforced(one, 0.5, START), START)
        assert (one.standing, one.low_cycles) == (Standing.ACTIVE, 0)

    def test_what_is_pinned_is_not_pruned(self) -> None:
        one = fact(confidence=0.0, pinned=True)
        for _ in range(5):
            one = fact_rules.settled(one, START)
        assert one.standing is Standing.ACTIVE

    def test_anti_knowledge_never_fades_away(self) -> None:
        one = fact(kind=Kind.ANTI, confidence=0.9)
        for step in range(50):
            one = fact_rules.settled(one, START + step * 100 * DAY)
        assert (one.standing, one.confidence) == (Standing.ACTIVE, RULES.anti_floor)

    def test_its_time_ends(self) -> None:
        one = fact(valid_until=START + DAY)
        assert fact_rules.settled(one, START).standing is Standing.ACTIVE
        assert fact_rules.settled(one, START + DAY).standing is Standing.EXPIRED

    def test_a_dream_that_nothing_confirmed_expires_after_fourteen_days(self) -> None:
        dream = fact(provenance=Provenance.DREAM, confirm_by=START + 7 * DAY, decay=Decay.NEVER)
        assert fact_rules.is_confirmable(dream, START + 7 * DAY)
        assert not fact_rules.is_confirmable(dream, START + 8 * DAY)
        assert fact_rules.settled(dream, START + 13 * DAY).standing is Standing.ACTIVE
        assert fact_rules.settled(dream, START + 14 * DAY).standing is Standing.EXPIRED

    @given(FACTS, DAYS)
    def test_consolidation_never_brings_anything_back(self, one: Fact, days: float) -> None:
        settled = fact_rules.settled(one, after(days))
        if one.standing in (Standing.EXPIRED, Standing.PRUNED):
            assert settled.standing is one.standing

    def test_promotion_and_demotion(self) -> None:
        assert fact_rules.is_insight(fact(confidence=0.6))
        assert not fact_rules.is_insight(fact(confidence=0.59))
        heuristic = fact(kind=Kind.HEURISTIC, confidence=0.7)
        assert fact_rules.may_enter_playbook(heuristic)
        assert not fact_rules.may_enter_playbook(replace(heuristic, confidence=0.69))
        assert not fact_rules.may_enter_playbook(replace(heuristic, standing=Standing.QUARANTINED))
        assert not fact_rules.may_enter_playbook(replace(heuristic, provenance=Provenance.DREAM))
        assert not fact_rules.may_enter_playbook(replace(heuristic, sender="somebody"))
        assert not fact_rules.must_leave_playbook(replace(heuristic, confidence=0.4))
        assert fact_rules.must_leave_playbook(replace(heuristic, confidence=0.39))
