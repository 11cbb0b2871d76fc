"""The bottleneck: its order, its bounds, and that it does not depend on chance."""

import random
from collections import Counter
from dataclasses import replace
from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from life.lived import fact
from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Fact, Kind, Standing
from metnos.grimoire.fact_rules import BASE, RULES
from metnos.life.testament_rules import ANTI, BottleneckRules, folded, select, unfit, worth
from support import START

SMALL = BottleneckRules(limit=8)

some_facts = st.lists(
    st.builds(
        lambda number, kind, domain, subject, confidence, quality, stained, helped, harmed: fact(
            number,
            kind,
            f"text {number}",
            domain=domain,
            subject=subject,
            confidence=confidence,
            quality=quality,
            bloodstain=stained,
            helped=helped,
            harmed=harmed,
        ),
        st.integers(0, 9999),
        st.sampled_from(list(Kind)),
        st.sampled_from(["files", "tables", "text", "images"]),
        st.sampled_from(["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]),
        st.floats(0, 1),
        st.floats(0, 1),
        st.booleans(),
        st.integers(0, 5),
        st.integers(0, 5),
    ),
    max_size=60,
    unique_by=lambda each: each.id,
)
lives = st.dictionaries(st.integers(0, 9999).map(lambda number: f"F{number:04}"), st.integers(0, 6), max_size=20)


class TestAlways:
    @given(facts=some_facts, held=lives, limit=st.integers(1, 40))
    def test_never_more_than_the_limit_and_never_twice(
        self, facts: list[Fact], held: dict[str, int], limit: int
    ) -> None:
        found = select(facts, held, BottleneckRules(limit=limit))
        assert len(found.kept) <= limit
        assert len({each.id for each in found.kept}) == len(found.kept)
        assert set(found.why) == {each.id for each in found.kept}

    @given(facts=some_facts, limit=st.integers(1, 40))
    def test_anti_knowledge_is_never_dropped(self, facts: list[Fact], limit: int) -> None:
        found = select(facts, {}, BottleneckRules(limit=limit))
        stood_for = {key for many in found.stands_for.values() for key in many} | {each.id for each in found.kept}
        assert {each.id for each in facts if each.kind in ANTI} <= stood_for

    @given(facts=some_facts, held=lives, seed=st.integers(0, 99))
    def test_the_order_of_facts_does_not_matter(self, facts: list[Fact], held: dict[str, int], seed: int) -> None:
        shuffled = list(facts)
        random.Random(seed).shuffle(shuffled)
        assert select(facts, held, SMALL) == select(shuffled, held, SMALL)

    @given(facts=some_facts, held=lives)
    def test_everything_is_accounted_for(self, facts: list[Fact], held: dict[str, int]) -> None:
        found = select(facts, held, SMALL)
        folded_away = sum(len(many) - 1 for many in found.stands_for.values())
        assert len(found.kept) + sum(found.dropped.values()) + folded_away == len(facts)

    @given(facts=some_facts)
    def test_where_there_is_room_all_that_is_fit_crosses(self, facts: list[Fact]) -> None:
        assert {each.id for each in select(facts).kept} == {each.id for each in facts if not unfit(each)}

    @given(facts=some_facts)
    def test_every_domain_is_there_if_there_is_room_for_all(self, facts: list[Fact]) -> None:
        others = [each for each in facts if each.kind not in ANTI and not unfit(each)]
        found = select(others, {}, SMALL)  # four domains and eight places, of which two and two are spoken for
        assert {each.domain for each in found.kept} == {each.domain for each in others}


class TestOrder:
    def many(self, count: int, **changes: object) -> list[Fact]:
        return [fact(number, Kind.INSIGHT, f"text {number}", **changes) for number in range(count)]

    def test_bloodstains_come_before_what_is_worth_more(self) -> None:
        good = self.many(20, confidence=1.0, quality=1.0)
        stained = fact(99, Kind.INSIGHT, "it ended badly", confidence=0.3, quality=0.0, bloodstain=True)
        found = select([*good, stained], {}, SMALL)
        assert found.why["F0099"] == "bloodstain"

    def test_bloodstains_do_not_take_everything(self) -> None:
        stained = self.many(20, bloodstain=True, confidence=0.3, quality=0.0)
        good = [replace(each, id=f"G{each.id}", bloodstain=False, confidence=1.0, quality=1.0) for each in stained]
        why = Counter(select([*stained, *good], {}, SMALL).why.values())
        assert why["bloodstain"] == 2

    def test_proven_across_generations(self) -> None:
        found = select(self.many(20), {"F0019": 3, "F0018": 1}, SMALL)
        assert found.why["F0019"] == "proven across generations"
        assert "F0018" not in found.why or found.why["F0018"] != "proven across generations"

    def test_no_domain_takes_all(self) -> None:
        loud = self.many(100, domain="files", confidence=0.9)
        quiet = [replace(each, id=f"Q{each.id}", domain="tables", confidence=0.6) for each in self.many(20)]
        counted = Counter(each.domain for each in select([*loud, *quiet], {}, BottleneckRules(limit=20)).kept)
        assert counted["tables"] >= 5

    def test_quality_decides_the_rest(self) -> None:
        poor, rich = self.many(20, quality=0.1), [
            replace(each, id=f"R{each.id}", quality=0.9) for each in self.many(8)
        ]  # fmt: skip
        kept = select([*poor, *rich], {}, SMALL).kept
        assert all(each.id.startswith("R") for each in kept)


class TestUnfit:
    def test_what_does_not_count(self) -> None:
        good = fact(1, Kind.INSIGHT, "x")
        assert unfit(good) == ""
        assert "quarantined" in unfit(replace(good, standing=Standing.QUARANTINED))
        assert "dream" in unfit(replace(good, confirm_by=START + timedelta(days=1)))
        assert "dream" in unfit(replace(good, provenance=Provenance.DREAM))
        assert unfit(replace(good, confidence=0.24)) == "hardly believed"

    def test_a_warning_needs_no_belief(self) -> None:
        assert unfit(fact(1, Kind.WARNING, "x", confidence=0.0)) == ""

    def test_what_nobody_proves_again_fades_within_three_generations(self) -> None:
        base = BASE[Provenance.TESTAMENT]
        crosses = [base * RULES.generation**number >= BottleneckRules().least for number in range(1, 5)]
        assert crosses == [True, True, False, False]


class TestWorth:
    @given(st.floats(0, 1), st.floats(0, 1), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.booleans())
    def test_bounds(self, sure: float, quality: float, helped: int, harmed: int, held: int, stained: bool) -> None:
        one = fact(1, Kind.INSIGHT, "x", confidence=sure, quality=quality, helped=helped, harmed=harmed)
        value = worth(replace(one, bloodstain=stained), held)
        assert 0 <= value <= 1.2
        assert worth(replace(one, helped=helped + 1), held) >= worth(one, held)
        assert worth(replace(one, harmed=harmed + 1), held) <= worth(one, held)
        assert worth(one, held + 1) >= worth(one, held)


class TestFolding:
    @settings(max_examples=settings().max_examples // 2)
    @given(count=st.integers(1, 60), limit=st.integers(1, 12), subjects=st.integers(1, 8))
    def test_none_is_lost(self, count: int, limit: int, subjects: int) -> None:
        anti = [
            fact(n, Kind.ANTI, f"warning {n}", subject=f"s{n % subjects}", domain=f"d{n % 3}") for n in range(count)
        ]
        made, stands_for = folded(anti, limit)
        assert len(made) <= limit
        told = {key for many in stands_for.values() for key in many} | {each.id for each in made}
        assert told == {each.id for each in anti}

    def test_what_is_about_one_thing_becomes_one(self) -> None:
        anti = [fact(n, Kind.ANTI, f"warning {n}", subject=f"s{n % 2}") for n in range(4)]
        (one, other), _ = folded(anti, 3)
        assert one.text == "2 warnings: warning 0 | warning 2"
        assert other.data["warning"] == other.text
