"""What is left of a life: gathered twice it is the same, and nothing private is in it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from life.lived import PLACE, SECRET, WORDS, fact, facts
from metnos.grimoire import bloodstain
from metnos.grimoire.episode import Provenance, Scope
from metnos.grimoire.fact import Fact, Kind, Standing
from metnos.life import legacy
from metnos.life.barrier_scan import Known
from metnos.life.cause import Cause
from metnos.life.inheritance_rules import Proof
from metnos.life.legacy import Estate, bones, gather
from metnos.life.testament import Descent, Link
from metnos.life.testament_rules import BottleneckRules
from metnos.mnestome.mnest import Mnest
from metnos.mnestome.rules import State
from support import START
from synt.specimens import draft

KEY, OTHER = "ab" * 32, "cd" * 32
COMMON = "find read delete files tables ms life golem something large are slow to sort way one is old lore"
KNOWN = Known((SECRET,), frozenset(COMMON.split()))


def estate(given: Sequence[Fact] = (), **changes: Any) -> Estate:
    made = Estate(KEY, START, given or facts(), (), (), KNOWN, lambda: iter([f"I said: {WORDS}"]))
    return replace(made, **changes)


class TestGathering:
    def test_twice_is_the_same_whatever_the_order(self) -> None:
        assert gather(estate()) == gather(estate(list(reversed(facts()))))

    def test_what_repeats_something_private_stays_behind(self) -> None:
        seen = [fact(1, Kind.INSIGHT, f"It is known that {WORDS}.", scope=Scope.AGENT)]  # and may use any word
        for found in (gather(estate()), gather(estate(seen))):
            assert not any("notary" in each.text for each in found.entries)
        assert found.dropped[legacy.PRIVATE] == 1

    def test_a_warning_that_repeats_something_private_crosses_bare(self) -> None:
        found = gather(estate([fact(1, Kind.WARNING, f"Beware: {WORDS}.")]))
        assert [each.text for each in found.entries] == ["Something that was done with files went badly."]

    def test_what_says_the_same_takes_one_place(self) -> None:
        many = [fact(n, Kind.WARNING, f"What lies in {PLACE}/{n} was lost.", confidence=n / 10) for n in range(1, 6)]
        (one,) = gather(estate(many)).entries
        assert (one.of, one.confidence) == (5, 0.5)

    def test_links_lead_between_what_crosses_and_nowhere_else(self) -> None:
        links = [Link("F0001", "F0002", "supports", 0.5), Link("F0001", "F0006", "supports", 0.9)]
        found = gather(estate(links=links))
        ids = {each.id for each in found.entries}
        assert [(each.src in ids, each.dst in ids) for each in found.links] == [(True, True)]

    def test_ids_say_nothing_of_when_and_where(self) -> None:
        assert {each.id for each in gather(estate()).entries}.isdisjoint(each.id for each in facts())

    def test_the_bottleneck_is_heeded(self) -> None:
        many = [fact(n, Kind.INSIGHT, f"Way {n} is slow.") for n in range(100)]
        assert len(gather(estate(many), BottleneckRules(limit=10)).entries) == 10


class TestDescent:
    def entry(self, one: Fact, proof: Proof, held: int = 2) -> Any:
        given = estate([one], descents={one.id: Descent(OTHER, 3, held)}, proofs={one.id: proof})
        return gather(given).entries[0]

    def test_ones_own_is_new_and_held_once(self) -> None:
        one = gather(estate([fact(1, Kind.INSIGHT, "Way one is slow.")])).entries[0]
        assert (one.origin, one.generation, one.held) == (KEY, 0, 1)

    def test_inherited_and_untried(self) -> None:
        one = self.entry(fact(1, Kind.INSIGHT, "Old lore.", provenance=Provenance.TESTAMENT), Proof.UNTRIED)
        assert (one.origin, one.generation, one.held) == (OTHER, 3, 2)

    def test_earned_anew_it_is_young_and_held_longer(self) -> None:
        one = self.entry(fact(1, Kind.INSIGHT, "Old lore."), Proof.EARNED)
        assert (one.origin, one.generation, one.held) == (OTHER, 0, 3)

    def test_refuted_it_held_no_longer(self) -> None:
        one = self.entry(fact(1, Kind.ANTI, "Old lore.", provenance=Provenance.TESTAMENT), Proof.REFUTED)
        assert one.held == 0


class TestBones:
    def mnest(self, src: str, dst: str, weight: float, state: State = State.ACTIVE) -> Mnest:
        return Mnest("M", src, "1.0.0", dst, "1.0.0", weight, 9, START, START, START, 0.018, state, ("tag",), {})

    def test_names_and_tenths(self) -> None:
        found = bones(
            [
                self.mnest("find_files", "read_files", 0.4449),
                self.mnest("find_files", "read_files", 0.2),
                self.mnest("request", "read_files", 0.9),
                self.mnest("find_files", "count_text", 0.04),
                self.mnest("find_files", "sort_tables", 0.8, State.PROTO),
            ],
            START,
        )
        assert [(each.src, each.dst, each.weight) for each in found] == [("find_files", "read_files", 0.4)]

    def test_they_are_weighed_at_the_end(self) -> None:
        (one,) = bones([self.mnest("find_files", "read_files", 1.0)], START + timedelta(days=40))
        assert one.weight == pytest.approx(0.5)


class TestExecutors:
    def test_one_that_holds_something_private_stays_behind(self) -> None:
        good, bad = draft(), draft(name="format_lines", code=f"# look in {PLACE}\n")
        fit, why = legacy.fit_executors([good, bad], KNOWN, lambda: iter(()))
        assert [each.name for each in fit] == [good.name]
        assert why == {"format_lines": "it names a place on this machine"}


class TestStains:
    def test_a_bloodstain_crosses_with_its_conditions_and_without_the_owners_words(self) -> None:
        data = {"conditions": {"canonical": "delete <files>"}, "decision": ["find_files", "delete_files"],
                "wrong": bloodstain.DISLIKED, "warning": "x"}  # fmt: skip
        private = {**data, "conditions": {"canonical": "delete letters of aunt carla"}}
        one, other = (fact(n, Kind.WARNING, "x", data=each, bloodstain=True) for n, each in enumerate((data, private)))
        told = [each.data["conditions"]["canonical"] for each in gather(estate([one, other])).entries]
        assert told == ["delete <files>", ""]

    def test_a_life_that_ended_badly_leaves_one(self) -> None:
        last = legacy.ending(Cause.ECONOMIC, "golem", KEY, START)
        assert last is not None
        (one,) = gather(estate([last])).entries
        assert one.bloodstain
        assert one.provenance is Provenance.DEATH
        assert "money was spent" in one.text

    def test_one_that_ended_well_leaves_none(self) -> None:
        assert legacy.ending(Cause.OWNER, "home", KEY, START) is None


def test_what_was_never_settled_is_counted_by_domain() -> None:
    torn = fact(1, Kind.INSIGHT, "x", standing=Standing.QUARANTINED, contradicts=("F0002",))
    assert legacy.unsettled([torn, *facts()]) == {"files": 1}
    assert legacy.dreamt([fact(1, Kind.INSIGHT, "x", confirm_by=START)]) == {"files": 1}
