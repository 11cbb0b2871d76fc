from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grimoire.facts_made import fact, opened
from metnos.core.clock import MovableClock
from metnos.grimoire import causal
from metnos.grimoire.fact import Fact, Kind, Standing
from metnos.grimoire.facts import Facts


@pytest.fixture
def facts(tmp_path: Path, clock: MovableClock) -> Iterator[Facts]:
    with opened(tmp_path, clock) as made:
        yield made


def edge(cause: str, effect: str, *, lift: float = 2.0, **changes: object) -> Fact:
    data = {"cause": cause, "effect": effect, "lag": 60, "count": 4, "lift": lift}
    given_ = {"kind": Kind.CAUSAL, "text": f"{cause} before {effect}", "data": data, "confidence": 0.8, **changes}
    return fact(f"{cause}>{effect}", **given_)


def test_causes_and_effects_the_strongest_first(facts: Facts) -> None:
    facts.put(edge("rain", "wet", lift=2.0))
    facts.put(edge("hose", "wet", lift=4.0))
    facts.put(edge("Rain ", "noise"))
    assert [each.cause for each in facts.causal.causes_of("wet")] == ["hose", "rain"]
    assert [each.effect for each in facts.causal.effects_of("RAIN")] == ["noise", "wet"]
    (first, _) = facts.causal.causes_of("wet")
    assert first.strength == pytest.approx(0.75 * 0.8)
    assert (first.lag_s, first.count) == (60.0, 4)


def test_within_a_domain_or_in_all(facts: Facts) -> None:
    facts.put(edge("a", "b"))
    facts.put(edge("a", "c", domain="mail"))
    assert [each.effect for each in facts.causal.effects_of("a", "mail")] == ["c"]
    assert len(facts.causal.effects_of("a")) == 2


def test_what_does_not_count_is_not_followed(facts: Facts) -> None:
    facts.put(edge("a", "b", standing=Standing.QUARANTINED))
    assert facts.causal.effects_of("a") == []


def test_of_one_pair_the_fact_with_most_evidence_holds_it_and_the_next_takes_over(facts: Facts) -> None:
    strong = edge("a", "b")
    facts.put(strong)
    weak = fact("weak", kind=Kind.LINK, text="a leads to b", data={"cause": "a", "effect": "b", "count": 1})
    facts.put(weak)
    assert [each.fact for each in facts.causal.effects_of("a")] == ["a>b"]
    facts.remove(["a>b"])
    assert [each.fact for each in facts.causal.effects_of("a")] == ["weak"]
    facts.remove(["weak"])
    assert facts.causal.effects_of("a") == []


@pytest.mark.parametrize("data", [{}, {"cause": "a"}, {"cause": "a", "effect": "A "}, {"cause": 1, "effect": "b"}])
def test_what_names_no_pair_makes_no_edge(facts: Facts, data: dict[str, object]) -> None:
    facts.put(fact(kind=Kind.CAUSAL, data=data))
    assert facts.db.query("SELECT * FROM causal") == []


@pytest.mark.parametrize(("lift", "strength"), [(1.0, 0.0), (0.5, 0.0), (2.0, 0.5), (4.0, 0.75), (None, 0.5)])
def test_strength_is_what_would_not_have_come_otherwise(lift: float | None, strength: float) -> None:
    assert causal.strength_of({"lift": lift}) == strength


def test_paths_multiply_strengths_add_lags_and_come_strongest_first(facts: Facts) -> None:
    for one, other, lift in (("a", "b", 4.0), ("b", "d", 4.0), ("a", "c", 2.0), ("c", "d", 2.0), ("d", "a", 9.0)):
        facts.put(edge(one, other, lift=lift, confidence=1.0))
    found = facts.causal.paths("a", "d")
    assert [[each.effect for each in path.edges] for path in found] == [["b", "d"], ["c", "d"]]
    assert found[0].strength == pytest.approx(0.75 * 0.75)
    assert found[0].lag_s == 120
    assert [len(path.edges) for path in facts.causal.paths("a", "d", longest=1)] == []
    assert facts.causal.paths("a", "nowhere") == []
    assert len(facts.causal.paths("a", "d", most=1)) == 1


@settings(max_examples=settings().max_examples // 3)
@given(st.sets(st.tuples(st.sampled_from("abcde"), st.sampled_from("abcde")), max_size=20))
def test_no_circle_is_walked_whatever_the_graph(
    tmp_path_factory: pytest.TempPathFactory, pairs: set[tuple[str, str]]
) -> None:
    from grimoire.facts_made import START

    with opened(tmp_path_factory.mktemp("graph"), MovableClock(START)) as facts:
        with facts.db.write():
            for one, other in pairs:
                facts.put(edge(one, other))
        for path in facts.causal.paths("a", "e", most=50):
            places = ["a", *(each.effect for each in path.edges)]
            assert len(places) == len(set(places))
            assert (places[-1], len(path.edges) <= causal.LONGEST) == ("e", True)
            assert all((each.cause, each.effect) in pairs for each in path.edges)
