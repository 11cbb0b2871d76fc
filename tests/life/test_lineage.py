"""Descent: what is written down of a testament, and what became of it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grimoire.facts_made import fact as a_fact
from life.willed import FIRST, a_signer, a_testament, an_entry, of_generation, opened
from metnos.core.clock import MovableClock
from metnos.core.errors import TestamentError
from metnos.core.sign import Signer
from metnos.grimoire.fact import Fact, Standing
from metnos.life import schema
from metnos.life.inheritance_rules import Proof
from metnos.life.lineage import Lineage, State
from metnos.life.testament import Ancestor, Bone, Descent, Habit
from metnos.store.db import Database


@pytest.fixture
def line(tmp_path: Path, clock: MovableClock) -> Iterator[Lineage]:
    db = Database(tmp_path / "life.db", schema.MIGRATIONS, clock=clock)
    yield Lineage(db, clock)
    db.close()


@pytest.fixture
def signer(tmp_path: Path) -> Signer:
    return a_signer(tmp_path / "keys")


class TestBeginning:
    def test_the_first_of_a_line_comes_from_nobody(self, line: Lineage) -> None:
        assert line.origins() is None
        assert (line.generation(), line.ancestors(), line.descents(), line.habits()) == (0, (), {}, {})
        assert line.divergence({}) == 0.0

    def test_everything_is_quarantined_at_first(self, line: Lineage, signer: Signer) -> None:
        found, core = opened(of_generation(2, habits=(Habit("turn.steps", 20, 3),)), signer)
        assert line.begin(found, core)
        assert not line.begin(found, core)
        assert {each.state for each in line.heirlooms()} == {State.QUARANTINED}
        assert line.generation() == 3
        assert line.bones() == [Bone("find_files", "read_files", 0.4)]
        assert line.habits() == {"turn.steps": Habit("turn.steps", 20, 3)}

    def test_an_agent_inherits_once(self, line: Lineage, signer: Signer) -> None:
        line.begin(*opened(a_testament(), signer))
        with pytest.raises(TestamentError, match="inherited from another testament already"):
            line.begin(*opened(a_testament(ticks=401), signer))

    def test_the_dead_are_named_the_latest_first(self, line: Lineage, signer: Signer) -> None:
        testament = of_generation(2)
        found, core = opened(testament, signer)
        line.begin(found, core)
        origins = line.origins()
        assert origins is not None
        last, *before = origins.graves
        assert (last.key, last.testament, last.generation) == (signer.public, found.digest, 2)
        assert (last.born, last.died, last.cause) == (testament.born, testament.died, "owner")
        assert last.said is not None
        assert last.said["what worked"] == ("About what worked.",)
        assert [(each.generation, each.born) for each in before] == [(1, None), (0, None)]
        assert line.ancestors() == (Ancestor(signer.public, found.digest, 2), *testament.ancestors)


class TestBecoming:
    def test_a_fact_knows_how_it_came_here(self, line: Lineage, signer: Signer) -> None:
        line.begin(
            *opened(of_generation(2, entries=(an_entry(0, generation=2, held=2), an_entry(1)), links=()), signer)
        )
        line.became("E0", State.TAKEN, fact=a_fact("F0"))
        line.became("E1", State.LEFT_OUT)
        assert line.descents() == {"F0": Descent(FIRST, 3, 2)}

    def test_of_two_that_became_one_the_one_that_held_longest_counts(self, line: Lineage, signer: Signer) -> None:
        entries = (an_entry(0, held=1), an_entry(1, generation=1, held=2))
        line.begin(*opened(of_generation(2, entries=entries, links=()), signer))
        for entry in ("E0", "E1"):
            line.became(entry, State.MERGED, fact=a_fact("F0"))
        assert line.descents()["F0"] == Descent(FIRST, 2, 2)

    def test_what_became_of_it_is_counted(self, line: Lineage, signer: Signer) -> None:
        line.begin(*opened(a_testament(), signer))
        facts = {
            f"F{number}": a_fact(f"F{number}", confidence=0.34, helped=0, harmed=0, sources=()) for number in range(5)
        }
        for number, fact in enumerate(facts.values()):
            line.became(f"E{number}", State.TAKEN, fact=fact)
        facts["F0"] = replace(facts["F0"], helped=3)
        facts["F1"] = replace(facts["F1"], harmed=1)
        facts["F2"] = replace(facts["F2"], standing=Standing.PRUNED)

        def get(ids: object) -> list[Fact]:
            return [facts[key] for key in ids if key in facts]  # type: ignore[attr-defined]  # it is a list

        assert [fact.id for fact in line.settle(get)] == ["F0"]
        assert line.settle(get) == []
        shares = line.shares(get, {"F0": 0.6, "F3": 0.3, "F4": 0.3, "OWN1": 0.7, "OWN2": 0.7})
        assert (shares.inherited, shares.earned, shares.refuted, shares.faded, shares.own) == (5, 1, 1, 1, 2)
        assert line.proof(facts["F1"]) is Proof.REFUTED

    def test_divergence_is_from_what_the_predecessor_believed(self, line: Lineage, signer: Signer) -> None:
        line.begin(*opened(a_testament(), signer))
        for number in range(6):
            line.became(f"E{number}", State.TAKEN, fact=a_fact(f"F{number}"))
        same = {f"F{number}": 0.8 for number in range(6)}
        assert line.divergence(same) == 0.0
        assert line.divergence(dict.fromkeys(same, 0.4)) == pytest.approx(0.5)
        assert line.divergence({"OWN": 0.8}) == 1.0
