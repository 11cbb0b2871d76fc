import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metnos.context.blocks import ESSENTIAL, Kind
from metnos.context.budgets import Task, allocate
from metnos.context.quality import Quality, Shown, Signal, budget_factors, learn, retrieval_weights

BASE = {"semantic": 0.40, "recency": 0.20, "importance": 0.25, "affect": 0.15}
UNIT = st.floats(0, 1)
SHOWN = st.builds(
    Shown, st.just("e1"), st.fixed_dictionaries(dict.fromkeys(BASE, UNIT)), st.sampled_from([None, True, False])
)
SIGNALS = st.builds(
    Signal,
    st.just("t1"),
    st.sampled_from(Task),
    st.frozensets(st.sampled_from(Kind)),
    st.lists(SHOWN, max_size=3).map(tuple),
    st.one_of(st.none(), st.floats(-9, 9)),
)


def turn(kinds: set[Kind], outcome: float | None, *memories: Shown) -> Signal:
    return Signal("t", Task.ANSWER, frozenset(kinds), memories, outcome)


def learnt(*signals: Signal) -> Quality:
    known = Quality()
    for signal in signals:
        known = learn(known, signal)
    return known


@given(st.lists(SIGNALS, max_size=25))
def test_whatever_happens_factors_and_weights_stay_within_their_bounds(signals: list[Signal]) -> None:
    known = learnt(*signals)
    for task in Task:
        factors = budget_factors(known, task)
        assert all(0.5 <= factor <= 1.5 for factor in factors.values())
        assert not ESSENTIAL & set(factors)
    weights = retrieval_weights(known, BASE)
    assert sum(weights.values()) == pytest.approx(1)
    assert all(abs(weights[name] - BASE[name]) <= 0.1 + 1e-9 and weights[name] >= 0 for name in BASE)


def test_a_block_that_good_turns_had_and_bad_ones_lacked_gets_more() -> None:
    known = learnt(*[turn({Kind.EPISODES}, 1.0), turn({Kind.GRAPH}, -1.0)] * 30)
    factors = budget_factors(known, Task.ANSWER)
    assert factors[Kind.EPISODES] > 1.3 > 0.7 > factors[Kind.GRAPH]
    assert budget_factors(known, Task.PLAN) == {}
    plain, moved = allocate(Task.ANSWER, 8192), allocate(Task.ANSWER, 8192, learnt=factors)
    assert moved.blocks[Kind.GRAPH] < plain.blocks[Kind.GRAPH]


def test_one_turn_proves_little_and_a_block_that_is_always_there_nothing() -> None:
    factors = budget_factors(learnt(turn({Kind.FACTS}, 1.0), turn(set(), -1.0)), Task.ANSWER)
    assert 1 < factors[Kind.FACTS] < 1.2
    always = learnt(*[turn({Kind.FACTS}, 1.0)] * 50)
    assert Kind.FACTS not in budget_factors(always, Task.ANSWER)


def test_without_a_verdict_nothing_is_learnt_and_being_shown_is_no_proof() -> None:
    shown = Shown("e1", {"semantic": 1.0}, None)
    assert learnt(*[turn({Kind.FACTS}, None, shown)] * 9) == Quality()
    assert retrieval_weights(Quality(), BASE) == pytest.approx(BASE)


def test_factors_that_useful_memories_have_weigh_more() -> None:
    useful = Shown("e1", {"semantic": 0.9, "recency": 0.1, "importance": 0.5, "affect": 0.5}, True)
    useless = Shown("e2", {"semantic": 0.1, "recency": 0.9, "importance": 0.5, "affect": 0.5}, False)
    weights = retrieval_weights(learnt(*[turn(set(), None, useful, useless)] * 40), BASE)
    assert weights["semantic"] > 0.45
    assert weights["recency"] < 0.15
    once = retrieval_weights(learnt(turn(set(), None, useful, useless)), BASE)
    assert BASE["semantic"] < once["semantic"] < weights["semantic"]


def test_a_wrong_lesson_is_unlearnt() -> None:
    good = [turn({Kind.FACTS}, 1.0), turn(set(), -1.0)] * 50
    bad = [turn({Kind.FACTS}, -1.0), turn(set(), 1.0)] * 150
    assert budget_factors(learnt(*good), Task.ANSWER)[Kind.FACTS] > 1.3
    assert budget_factors(learnt(*good, *bad), Task.ANSWER)[Kind.FACTS] < 0.7


@settings(max_examples=settings().max_examples // 2)
@given(st.lists(SIGNALS, max_size=6))
def test_it_is_plain_data_to_whoever_keeps_it(signals: list[Signal]) -> None:
    known = learnt(*signals)
    assert Quality.from_dict(json.loads(json.dumps(known.as_dict()))) == known
    assert Quality.from_dict({}) == Quality()
