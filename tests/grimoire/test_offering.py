"""What a cycle may replay."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from grimoire.curated import Memory, open_memory
from grimoire.happened import turn
from metnos.grimoire.domain import HOME
from metnos.grimoire.episode import Scope, Verdict
from metnos.grimoire.offering import Offering, notable
from metnos.grimoire.replay import Chosen, ReplayRules

RULES = ReplayRules()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    made = open_memory(tmp_path)
    yield made
    made.close()


def test_old_ones_are_offered_from_everywhere_in_the_past(memory: Memory) -> None:
    lived = [turn(domain=f"d{place % 3}") for place in range(300)]
    memory.episodes.add(lived)
    new = [each.id for each in lived[290:]]
    offering, found = Offering(memory.episodes, HOME, RULES, 16), set()
    for cycle in range(40):
        chosen, _ = offering.choose(new, [], 290, cycle)
        assert {each.id for each in chosen.recent} == set(new)
        assert len(chosen.old) == 4
        found |= {each.seq for each in chosen.old}
    assert min(found) < 100, "the distant past is never replayed"


def test_the_same_cycle_offers_the_same(memory: Memory) -> None:
    lived = [turn() for _ in range(50)]
    memory.episodes.add(lived)
    offering, new = Offering(memory.episodes, HOME, RULES, 16), [each.id for each in lived[40:]]
    assert offering.choose(new, [], 40, 7)[0] == offering.choose(new, [], 40, 7)[0]


def test_only_what_may_teach_is_offered(memory: Memory) -> None:
    lived = [turn(verdict=Verdict.REJECTED), turn(verdict=Verdict.UNJUDGED), turn(scope=Scope.SESSION), turn(), turn()]
    memory.episodes.add(lived)
    ids = [each.id for each in lived]
    chosen, _ = Offering(memory.episodes, HOME, RULES, 16).choose(ids[4:], ids[:4], 4, 1)
    assert [each.id for each in chosen.recent] == ids[4:]
    assert {each.id for each in chosen.old} <= {ids[3]}


def test_what_stands_out_is_kept_in_mind_and_only_so_much_of_it() -> None:
    usual = [turn(importance=0.2, curiosity=0.2) for _ in range(9)]
    odd = turn(importance=0.9, curiosity=0.1)
    chosen = Chosen((odd, *usual), (), ())
    kept = notable(chosen, ["before"], RULES, 3)
    assert odd.id in kept
    assert kept[0] == "before"
    assert len(notable(chosen, [f"b{place}" for place in range(50)], RULES, 3)) == 3
    assert odd.id in notable(chosen, [f"b{place}" for place in range(50)], RULES, 3)
