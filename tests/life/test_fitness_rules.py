"""What a fact foretells about steps, and what counts as having come true."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.facts_made import fact
from grimoire.traces import step
from metnos.grimoire.appraisal import NO_OUTCOME, Outcome
from metnos.grimoire.fact import Kind
from metnos.life.fitness_rules import executor_of, foretold, is_final, went

outcomes = st.builds(Outcome, st.sampled_from([None, True, False]), st.booleans(), st.integers(0, 3))


def test_how_something_is_done_foretells_that_it_goes_well() -> None:
    known = fact("f1", kind=Kind.PROCEDURAL, confidence=0.8, data={"prefer": {"executor": "find_files"}})
    (found,) = foretold([known], [step(1, "find_files"), step(2, "move_files")])
    assert (found.fact, found.step, found.expects, found.ok, found.confidence) == ("f1", 1, True, True, 0.8)


def test_what_is_known_to_fail_foretells_that_it_fails() -> None:
    known = fact("f2", kind=Kind.ANTI, data={"executor": "move_files", "warning": "it is full"})
    (found,) = foretold([known], [step(1, "find_files"), step(2, "move_files", ok=False, kind="failed")])
    assert (found.step, found.expects, found.ok) == (2, False, False)


def test_a_step_that_never_ran_shows_nothing() -> None:
    known = fact("f1", kind=Kind.PROCEDURAL, data={"prefer": {"executor": "find_files"}})
    assert list(foretold([known], [step(1, "find_files", audit=0, ok=False, kind="refused")])) == []


@pytest.mark.parametrize("data", [{}, {"prefer": "x"}, {"prefer": {"executor": 7}}, {"prefer": None}])
def test_a_fact_about_no_executor_has_no_say(data: dict[str, Any]) -> None:
    assert executor_of(fact("f", kind=Kind.PROCEDURAL, data=data)) == ""
    assert executor_of(fact("f", kind=Kind.INSIGHT, data={"executor": "find_files"})) == ""


@given(st.booleans(), outcomes)
def test_nothing_that_came_after_makes_a_failed_step_go_well(ok: bool, outcome: Outcome) -> None:
    assert not went(False, outcome)
    assert went(ok, NO_OUTCOME) == ok
    if outcome.undone or outcome.feedback is False:
        assert not went(ok, outcome)


@given(outcomes)
def test_a_word_of_the_owner_or_time_ends_the_waiting(outcome: Outcome) -> None:
    assert is_final(outcome, True)
    assert is_final(outcome, False) == (outcome.undone or outcome.feedback is not None)
