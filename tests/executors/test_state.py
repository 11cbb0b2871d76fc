import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.errors import ExecutorError
from metnos.executors.state import USABLE, State, allowed, require, severity, worse

STATES = st.sampled_from(State)


@given(STATES, STATES, STATES)
def test_the_worse_of_states_is_one_order(one: State, other: State, third: State) -> None:
    assert worse(one, other) is worse(other, one)
    assert worse(one, one) is one
    assert worse(worse(one, other), third) is worse(one, worse(other, third))
    assert severity(worse(one, other)) == max(severity(one), severity(other))


def test_every_state_has_a_severity_of_its_own() -> None:
    assert sorted(map(severity, State)) == list(range(len(State)))


@given(st.lists(STATES, max_size=12))
def test_whatever_is_tried_revoked_is_final_and_nothing_becomes_a_draft_again(wishes: list[State]) -> None:
    state = State.DRAFT
    for wish in wishes:
        before = state
        if allowed(state, wish):
            require(state, wish)
            state = wish
        else:
            with pytest.raises(ExecutorError):
                require(state, wish)
        assert not (before is State.REVOKED and state is not State.REVOKED)
        assert not (before is not State.DRAFT and state is State.DRAFT)


def test_what_can_be_used_can_be_switched_off_in_every_way() -> None:
    for state in USABLE:
        for off in (State.DISABLED, State.QUARANTINE, State.ARCHIVED, State.REVOKED):
            assert allowed(state, off)
    assert {state for state in State if allowed(state, State.ACTIVE)} == set(State) - {State.ACTIVE, State.REVOKED}


def test_refusals_say_what_is_possible() -> None:
    with pytest.raises(ExecutorError, match="active already"):
        require(State.ACTIVE, State.ACTIVE)
    with pytest.raises(ExecutorError, match="final"):
        require(State.REVOKED, State.ACTIVE)
    with pytest.raises(ExecutorError, match="From active: archived, disabled"):
        require(State.ACTIVE, State.SEED)
