"""What was never thought together: which facts are joined, and in which order."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from metnos.grimoire.dream_rules import Product, Shape
from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Decay, Fact, Kind
from metnos.grimoire.recombine import RecombineRules, chains, pairs

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
RULES = RecombineRules()


def fact(name: str, **changes: Any) -> Fact:
    made: dict[str, Any] = {
        "kind": Kind.INSIGHT,
        "domain": f"domain {name}",
        "confidence": 0.8,
        "sources": (f"E{name}",),
    }
    made |= changes
    return Fact(
        id=name, text=f"{name} is so.", quality=0.5, provenance=Provenance.SELF, decay=Decay.STRATEGIC,
        created=NOW, reinforced=NOW, applied=NOW, **made,
    )  # fmt: skip


def cause(name: str, one: str, other: str, **changes: Any) -> Fact:
    data = {"cause": one, "effect": other, "lag": 10, "count": 4}
    return fact(name, **({"kind": Kind.CAUSAL, "domain": "house", "data": data} | changes))


def never(_one: str, _other: str) -> bool:
    return False


def joined(facts: list[Fact], near: float = 0.5) -> list[Product]:
    return pairs(facts, lambda _one, _other: near, never, RULES)


def test_two_causes_make_a_third_that_is_not_known_yet() -> None:
    (found,) = chains([cause("A", "rain", "damp"), cause("B", "damp", "pump")], never, RULES)
    assert found.shape is Shape.CHAIN
    assert (found.data["cause"], found.data["effect"], found.data["through"]) == ("rain", "pump", "damp")
    assert (found.data["lag"], found.data["count"]) == (20, 4)
    assert found.facts == ("A", "B")
    assert set(found.sources) == {"EA", "EB"}


def test_a_chain_that_is_known_or_leads_back_or_was_used_is_none() -> None:
    two = [cause("A", "rain", "damp"), cause("B", "damp", "pump")]
    assert chains([*two, cause("C", "rain", "pump", confidence=0.2)], never, RULES) == []
    assert chains([cause("A", "rain", "damp"), cause("B", "damp", "rain")], never, RULES) == []
    assert chains(two, lambda _one, _other: True, RULES) == []
    assert chains([cause("A", "rain", "damp", data={"cause": 3}), cause("B", "damp", "pump")], never, RULES) == []


def test_a_pair_is_near_but_not_the_same_and_of_two_domains() -> None:
    both = [fact("A"), fact("B")]
    assert len(joined(both, 0.5)) == 1
    assert joined(both, 0.1) == []
    assert joined(both, 0.95) == []
    assert joined([fact("A", domain="x"), fact("B", domain="x")]) == []


def test_the_most_promising_comes_first() -> None:
    found = joined([fact("A", confidence=0.6), fact("B", confidence=0.7), fact("C", confidence=0.9)])
    assert [each.facts for each in found] == [("B", "C"), ("A", "C"), ("A", "B")]


@given(st.permutations(["A", "B", "C", "D"]))
def test_the_order_in_which_facts_come_changes_nothing(names: list[str]) -> None:
    assert joined([fact(name) for name in names]) == joined([fact(name) for name in sorted(names)])


def test_no_more_facts_are_looked_at_than_there_is_room_for() -> None:
    rules = RecombineRules(most=3)
    many = [fact(f"F{number}", confidence=0.5 + number / 100) for number in range(10)]
    found = pairs(many, lambda _one, _other: 0.5, never, rules)
    assert {name for each in found for name in each.facts} == {"F7", "F8", "F9"}
