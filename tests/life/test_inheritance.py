"""What an heir makes of a testament, in a real memory."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from life.willed import BORN, a_signer, a_testament, an_entry, of_generation, opened
from metnos.core.clock import MovableClock
from metnos.core.ids import UlidMaker
from metnos.core.sign import Signer
from metnos.grimoire import memory_schema
from metnos.grimoire.episode import Episode, Provenance, Verdict
from metnos.grimoire.episodes import Engine, open_episodes
from metnos.grimoire.fact import Decay, Fact, Kind, Standing
from metnos.grimoire.facts import Facts
from metnos.life import inheritance_rules as rules
from metnos.life import schema
from metnos.life.inheritance import Inheritance, Taken, candidate
from metnos.life.inheritance_rules import InheritanceRules, Proof
from metnos.life.lineage import Lineage, State
from metnos.life.testament import Left, Link, Opened, Testament
from metnos.store.db import Database

HEIR = "f" * 64
STATES = (State.TAKEN, State.DOUBTED, State.CONSENT)
EXACT = InheritanceRules(variation=0.0)


@dataclass
class Heir:
    """A memory that begins."""

    facts: Facts
    episodes: Engine
    lineage: Lineage
    clock: MovableClock
    signer: Signer

    @property
    def inheritance(self) -> Inheritance:
        return Inheritance(self.lineage, self.facts, self.episodes, self.clock)

    def inherit(self, testament: Testament) -> Taken:
        found, core = opened(testament, self.signer)
        self.lineage.begin(found, core)
        return self.inheritance.take(found, HEIR)

    def fact_of(self, entry: str) -> Fact:
        key = next(each.fact for each in self.lineage.heirlooms() if each.entry == entry)
        return self.facts.get([key])[0]

    def state_of(self, entry: str) -> State:
        return next(each.state for each in self.lineage.heirlooms() if each.entry == entry)


@pytest.fixture
def heir(tmp_path: Path, clock: MovableClock) -> Iterator[Heir]:
    db = Database(tmp_path / "grimoire.db", memory_schema.MIGRATIONS, clock=clock)
    life = Database(tmp_path / "life.db", schema.MIGRATIONS, clock=clock)
    episodes = open_episodes(tmp_path / "episodes", "sqlite", clock, 5.0)
    facts = Facts(db, clock, UlidMaker(clock))
    yield Heir(facts, episodes, Lineage(life, clock, EXACT), clock, a_signer(tmp_path / "keys"))
    episodes.close()
    db.close()
    life.close()


class TestComingIn:
    def test_everything_is_believed_less_and_counts_as_unused(self, heir: Heir) -> None:
        used = an_entry(0, helped=40, harmed=1, decay=Decay.NEVER)
        taken = heir.inherit(a_testament(entries=(used, *a_testament().entries[1:])))
        assert taken.known == 6
        fact = heir.fact_of("E0")
        assert fact.provenance is Provenance.TESTAMENT
        assert fact.confidence <= 0.34
        assert (fact.helped, fact.harmed, fact.shown, fact.pinned, fact.sources) == (0, 0, 0, False, ())
        assert fact.decay is Decay.STRATEGIC
        assert fact.generation == 1

    def test_what_the_gate_admits_has_exactly_the_discounted_belief(self, heir: Heir) -> None:
        sure = an_entry(0, kind=Kind.PROCEDURAL, text="When 100 rows are to be sorted, use split_table first.",
                        data={"strategy": "split"}, episode_count=20)  # fmt: skip
        heir.inherit(a_testament(entries=(sure,), links=()))
        assert heir.state_of("E0") is State.TAKEN
        assert heir.fact_of("E0").confidence == pytest.approx(0.34)

    @pytest.mark.parametrize("generation", [0, 2, 7])
    def test_anti_knowledge_always_comes_and_never_sinks_below_its_floor(self, heir: Heir, generation: int) -> None:
        anti = an_entry(0, kind=Kind.ANTI, provenance=Provenance.TESTAMENT, generation=generation, episode_count=0,
                        confidence=0.3, data={"warning": "x"})  # fmt: skip
        heir.inherit(of_generation(generation, entries=(anti,), links=()))
        assert heir.fact_of("E0").confidence == pytest.approx(0.3)

    def test_what_no_episode_speaks_for_is_doubted_and_not_thrown_away(self, heir: Heir) -> None:
        heir.inherit(a_testament(entries=(an_entry(0, episode_count=0),), links=()))
        assert heir.state_of("E0") is State.DOUBTED
        assert heir.fact_of("E0").confidence == pytest.approx(0.3 * 0.85)

    def test_links_are_kept(self, heir: Heir) -> None:
        taken = heir.inherit(a_testament())
        assert taken.links == 2
        assert heir.facts.links(heir.fact_of("E0").id, "supports") == [heir.fact_of("E1").id]
        assert heir.facts.links(heir.fact_of("E3").id, "used_with") == [heir.fact_of("E2").id]

    def test_causes_are_a_graph_again(self, heir: Heir) -> None:
        causes = an_entry(0, kind=Kind.CAUSAL, data={"cause": "rain", "effect": "delay", "lift": 4.0, "count": 6})
        heir.inherit(a_testament(entries=(causes,), links=()))
        assert [edge.effect for edge in heir.facts.causal.effects_of("rain")] == ["delay"]

    def test_what_the_owner_said_needs_the_owners_word_again(self, heir: Heir) -> None:
        told = an_entry(0, provenance=Provenance.OWNER)
        about = an_entry(1, text="The owner's wife likes tea at five.")
        heir.inherit(a_testament(entries=(told, about), links=()))
        assert heir.state_of("E0") is heir.state_of("E1") is State.CONSENT
        assert heir.fact_of("E0").standing is heir.fact_of("E1").standing is Standing.QUARANTINED

    @pytest.mark.parametrize("source", [Provenance.LETHE, Provenance.MARKET, Provenance.QUERY])
    def test_a_strangers_word_never_acts_however_often_it_was_inherited(self, heir: Heir, source: Provenance) -> None:
        heir.inherit(a_testament(entries=(an_entry(0, kind=Kind.HEURISTIC, provenance=source),), links=()))
        fact = heir.fact_of("E0")
        assert fact.provenance is source
        assert fact.kind is Kind.INSIGHT
        assert fact.confidence <= 0.25 * 0.85

    def test_data_that_would_speak_of_facts_here_stays_out(self, heir: Heir) -> None:
        mine = heir.facts.admit(
            replace(
                candidate(an_entry(9), *_now(heir)), id="MINE", subject="subject 0", domain="domain0", value="other"
            )
        ).fact
        assert mine is not None
        heir.inherit(a_testament(entries=(an_entry(0, data={"supersedes": ["MINE"], "fact": "MINE"}),), links=()))
        assert heir.facts.get(["MINE"])[0].valid_until is None
        assert "fact" not in heir.fact_of("E0").data

    def test_two_that_say_the_same_are_one(self, heir: Heir) -> None:
        same = replace(an_entry(0), id="E9")
        heir.inherit(a_testament(entries=(an_entry(0), same), links=(Link("E0", "E9", "supports", 1.0),)))
        assert heir.state_of("E9") is State.MERGED
        assert heir.fact_of("E9").id == heir.fact_of("E0").id
        assert heir.facts.links(heir.fact_of("E0").id, "supports") == []

    def test_much_evidence_of_another_life_does_not_make_it_last_for_ever(self, heir: Heir) -> None:
        heir.inherit(a_testament(entries=(an_entry(0, episode_count=1 << 50),), links=()))
        assert heir.fact_of("E0").episode_count == 20

    def test_a_second_run_changes_nothing(self, heir: Heir) -> None:
        first = heir.inherit(a_testament())
        before = heir.facts.find(standings=(), count=-1)
        assert heir.inherit(a_testament()) == first
        assert heir.facts.find(standings=(), count=-1) == before

    def test_killed_between_the_two_files_it_goes_on(self, heir: Heir, monkeypatch: pytest.MonkeyPatch) -> None:
        """The facts are there, and the notes about them are not: the next run finds them and writes the notes."""
        entries = (*a_testament().entries, an_entry(6, episode_count=0), an_entry(7, text="The owner likes tea."))
        testament = a_testament(entries=entries)
        real = Lineage.became
        monkeypatch.setattr(Lineage, "became", lambda *_args, **_more: None)
        heir.inherit(testament)
        monkeypatch.setattr(Lineage, "became", real)
        before = heir.facts.find(standings=(), count=-1)
        assert len(heir.lineage.heirlooms(State.QUARANTINED)) == len(before) == 8
        heir.inherit(testament)
        assert heir.facts.find(standings=(), count=-1) == before
        assert len({each.fact for each in heir.lineage.heirlooms()}) == 8
        assert (heir.state_of("E0"), heir.state_of("E6"), heir.state_of("E7")) == STATES

    def test_killed_within_a_batch_nothing_of_it_is_there(self, heir: Heir, monkeypatch: pytest.MonkeyPatch) -> None:
        real, calls = Lineage.became, 0

        def dies(*args: Any, **more: Any) -> None:
            nonlocal calls
            calls += 1
            if calls == 3:
                raise KeyboardInterrupt
            real(*args, **more)

        monkeypatch.setattr(Lineage, "became", dies)
        with pytest.raises(KeyboardInterrupt):
            heir.inherit(a_testament())
        assert (heir.facts.count(), len(heir.lineage.heirlooms(State.QUARANTINED))) == (0, 6)
        assert heir.inherit(a_testament()).known == 6


class TestNoCopy:
    @pytest.mark.slow
    def test_two_heirs_of_one_testament_are_not_the_same(self, heir: Heir) -> None:
        heir.lineage.numbers = InheritanceRules(variation=0.3)
        many = tuple(an_entry(number) for number in range(60))
        found, core = opened(a_testament(entries=many, links=()), heir.signer)
        heir.lineage.begin(found, core)
        heir.inheritance.take(found, HEIR)
        mine = {each.entry for each in heir.lineage.heirlooms(State.LEFT_OUT)}
        assert 5 < len(mine) < 35
        theirs = {
            each.id
            for each in many
            if rules.is_left_out(each.id, f"{'e' * 64} {found.digest}", each.kind, rules=heir.lineage.numbers)
        }
        assert mine != theirs

    def test_links_to_what_was_left_out_are_not_made(self, heir: Heir) -> None:
        heir.lineage.numbers = InheritanceRules(variation=1.0)
        taken = heir.inherit(a_testament())
        assert taken.entries == {State.LEFT_OUT: 6}
        assert (taken.links, heir.facts.count()) == (0, 0)


class TestEpisodes:
    def test_they_come_verified_worth_less_and_without_a_payload(self, heir: Heir) -> None:
        heir.inherit(a_testament())
        (key,) = heir.lineage.episodes()
        (found,) = heir.episodes.get([key])
        assert found.text == "Sorting the table of last year took ten minutes."
        assert found.verdict is Verdict.VERIFIED
        assert found.provenance is Provenance.TESTAMENT
        assert found.importance == pytest.approx(0.68)
        assert set(found.payload) == {"importance"}

    def test_they_are_replayed_in_the_first_three_consolidations(self, heir: Heir) -> None:
        heir.inherit(a_testament(episodes=tuple(Left(f"P{n}", BORN, f"It rained on day {n}.") for n in range(4))))
        assert [len(heir.inheritance.replayed(cycle)) for cycle in (1, 2, 3, 4, 50)] == [4, 4, 4, 0, 0]


class TestEarning:
    """Nothing inherited is own knowledge before own experience has shown it."""

    def test_helping_three_times_makes_it_ones_own(self, heir: Heir) -> None:
        heir.inherit(a_testament())
        fact = heir.fact_of("E0")
        for times in range(1, 4):
            heir.facts.helped([fact.id])
            assert len(heir.inheritance.settle()) == (times == 3)
        own = heir.facts.get([fact.id])[0]
        assert own.provenance is Provenance.SELF
        assert own.confidence > 0.55  # higher than anything inherited can be lifted
        assert heir.lineage.proof(own) is Proof.EARNED
        assert heir.inheritance.settle() == []

    def test_harm_weighs_twice(self, heir: Heir) -> None:
        heir.inherit(a_testament())
        fact = heir.fact_of("E0")
        heir.facts.helped([fact.id] * 3)
        heir.facts.harmed([fact.id])
        assert heir.inheritance.settle() == []
        heir.facts.harmed([fact.id])
        assert heir.lineage.proof(heir.fact_of("E0")) is Proof.REFUTED

    def test_own_episodes_that_show_the_same_earn_it(self, heir: Heir) -> None:
        heir.inherit(a_testament())
        before = heir.fact_of("E0")
        seen = [Episode(f"own{n}", heir.clock.now(), f"It took long, {n}.", f"turn{n}") for n in range(3)]
        heir.episodes.add(seen)
        again = replace(before, id=heir.facts.new_id(), provenance=Provenance.SELF, sources=("own0", "own1", "own2"))
        heir.facts.admit(again)
        assert [fact.id for fact in heir.inheritance.settle()] == [before.id]
        assert heir.fact_of("E0").provenance is Provenance.SELF

    def test_inherited_episodes_prove_nothing(self, heir: Heir) -> None:
        heir.inherit(a_testament(episodes=tuple(Left(f"P{n}", BORN, f"It rained on day {n}.") for n in range(4))))
        fact = heir.fact_of("E0")
        heir.facts.put(replace(fact, sources=tuple(heir.lineage.episodes())))
        assert heir.inheritance.settle() == []


def _now(heir: Heir) -> tuple[Opened, Any]:
    return opened(a_testament(), heir.signer)[0], heir.clock.now()
