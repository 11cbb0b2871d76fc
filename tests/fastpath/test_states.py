from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from fastpath.pathing import JUDGE, START, mark, pass_times, passed
from metnos.executors import schema as executors
from metnos.fastpath.log import Log
from metnos.fastpath.records import FastPath, State
from metnos.fastpath.schema import L1, MIGRATIONS_L1
from metnos.fastpath.states import (
    PASSES,
    Change,
    Judge,
    Standing,
    at_least,
    back_to_shadow,
    settle,
    verdict,
    was_wrong,
)
from metnos.mnestome.schema import MIGRATIONS
from metnos.store.db import Database, Durability
from tables import try_each

DOUBTFUL = replace(JUDGE, may=lambda _: (False, "not sure"))


def path(state: State, **other: Any) -> FastPath:
    return FastPath("p", (mark("list_folders"),), (), state, **other)


def state_of(log: Log, key: str) -> tuple[State, str]:
    found = log.path(key)
    assert found is not None
    return found.state, found.reason


# -- verdicts


@try_each(
    ("was", "standing", "becomes"),
    [
        (path(State.CANDIDATE, passes=2), Standing(may=True), None),
        (path(State.CANDIDATE, passes=3), Standing(), State.SHADOW),
        (path(State.SHADOW, passes=3), Standing(), None),
        (path(State.SHADOW, passes=3), Standing(may=True), State.ACTIVE),
        (path(State.SHADOW), Standing(may=True, was_active=True, clean=2), None),
        (path(State.SHADOW), Standing(may=True, was_active=True, clean=3), State.ACTIVE),
        (path(State.SHADOW), Standing(may=True, changed="other version"), None),
        (path(State.SHADOW), Standing(may=True, since={"disagree": 1, "agree": 2}), State.DEMOTED),
        (path(State.ACTIVE), Standing(), None),
        (path(State.ACTIVE), Standing(changed="other version"), State.SHADOW),
        (path(State.ACTIVE), Standing(since={"wrong": 1}), State.DEMOTED),
        (path(State.ACTIVE), Standing(since={"disagree": 1, "agree": 3}), State.DEMOTED),
        (path(State.ACTIVE), Standing(since={"disagree": 1, "agree": 40}), None),
        (path(State.DEMOTED), Standing(clean=2, may=True), None),
        (path(State.DEMOTED), Standing(clean=3), State.SHADOW),
        (path(State.DEMOTED), Standing(clean=9, covered_by="describe_urls"), None),
        (path(State.ACTIVE), Standing(covered_by="describe_urls"), State.DEMOTED),
        (path(State.CANDIDATE), Standing(covered_by="describe_urls"), State.DEMOTED),
    ],
)
def test_what_becomes_of_a_path(was: FastPath, standing: Standing, becomes: State | None) -> None:
    found = verdict(was, standing, 0.01)
    assert (found.state if found else None) is becomes
    assert found is None or found.reason


@given(st.integers(0, 60), st.integers(0, 60), st.floats(0.001, 0.5))
def test_more_disagreements_are_never_more_likely_by_chance(wrong: int, right: int, delta: float) -> None:
    seen = wrong + right
    assert at_least(wrong + 1, seen + 1, delta) <= at_least(wrong, seen, delta) + 1e-9 or wrong == 0
    assert 0.0 <= at_least(wrong, seen, delta) <= 1.0
    assert at_least(0, seen, delta) == 1.0


def test_the_chance_is_that_of_the_binomial() -> None:
    assert at_least(1, 5, 0.01) == pytest.approx(1 - 0.99**5)
    assert at_least(2, 3, 0.5) == pytest.approx(0.5)


# -- acting


def test_three_passes_a_shadow_and_then_active(log: Log) -> None:
    key = pass_times(log, 2)
    assert settle(log, [key], JUDGE, START) == []
    pass_times(log, 1, "U")
    assert settle(log, [key], DOUBTFUL, START, "U0") == [Change(key, State.SHADOW, "3 passes")]
    assert settle(log, [key], DOUBTFUL, START) == []
    assert settle(log, [key], JUDGE, START) == [Change(key, State.ACTIVE, "sure")]
    assert [event.reason for event in log.events(key) if event.kind == "state"] == ["shadow: 3 passes", "active: sure"]
    assert settle(log, ["nobody"], JUDGE, START) == []


def active(log: Log) -> str:
    key = pass_times(log, 3)
    settle(log, [key], JUDGE, START)
    settle(log, [key], JUDGE, START)
    assert state_of(log, key)[0] is State.ACTIVE
    return key


def test_a_wrong_hit_demotes_at_once_and_three_clean_passes_bring_it_back(log: Log) -> None:
    key = active(log)
    assert was_wrong(log, key, "H1", START, "the owner undid it")
    assert not was_wrong(log, key, "H1", START, "the owner undid it")
    assert state_of(log, key) == (State.DEMOTED, "the owner undid it")
    pass_times(log, 2, "U")
    assert settle(log, [key], JUDGE, START) == []
    log.record(passed("fails", ok=False))
    pass_times(log, 2, "V")
    assert settle(log, [key], JUDGE, START) == []
    pass_times(log, 1, "W")
    assert [change.state for change in settle(log, [key], JUDGE, START)] == [State.SHADOW]
    assert settle(log, [key], JUDGE, START) == []  # it was active before: three more
    pass_times(log, 3, "X")
    assert [change.state for change in settle(log, [key], JUDGE, START)] == [State.ACTIVE]


def test_another_version_or_none_takes_it_back_to_shadow(log: Log) -> None:
    key = active(log)
    newer = replace(JUDGE, marks=lambda name: mark(name, "2.0.0"))
    (change,) = settle(log, [key], newer, START)
    assert change == Change(key, State.SHADOW, "list_folders is now version 2.0.0, and it was learnt with 1.0.0")
    pass_times(log, 3, "U")
    assert settle(log, [key], newer, START) == []  # those were passes with the old one
    pass_times(log, 3, "V", marks=(mark("list_folders", "2.0.0"),))
    assert [change.state for change in settle(log, [key], newer, START)] == [State.ACTIVE]
    (change,) = settle(log, [key], replace(JUDGE, marks=lambda _: None), START)
    assert change.reason == "list_folders is not there any more"


def test_other_arguments_take_it_back_to_shadow(log: Log) -> None:
    key = active(log)
    (change,) = settle(log, [key], replace(JUDGE, marks=lambda name: mark(name, signature="t")), START)
    assert (change.state, "arguments" in change.reason) == (State.SHADOW, True)


def test_only_what_is_active_goes_back_to_shadow(log: Log) -> None:
    key = pass_times(log, 1)
    assert not back_to_shadow(log, key, "because", START)
    assert not back_to_shadow(log, "nobody", "because", START)
    log.move(key, State.ACTIVE, "sure", START)
    assert back_to_shadow(log, key, "because", START)
    assert state_of(log, key) == (State.SHADOW, "because")


# -- whatever happens


class Life(RuleBasedStateMachine):
    """One path through passes, hits, doubts and covers: what it may never do."""

    def __init__(self, place: Path) -> None:
        super().__init__()
        self.db = Database(place, (*executors.MIGRATIONS, *MIGRATIONS, *MIGRATIONS_L1), durability=Durability.NORMAL)
        self.log = Log(self.db, L1)
        self.turns = 0
        self.covered = ""
        self.key = pass_times(self.log, 1, "first")
        self.clean = 1  # passes since anything spoke against it or its state changed

    def teardown(self) -> None:
        self.db.close()

    def turn(self) -> str:
        self.turns += 1
        return f"T{self.turns}"

    def state(self) -> State:
        return state_of(self.log, self.key)[0]

    @rule(ok=st.booleans())
    def planned(self, ok: bool) -> None:
        assert self.log.record(passed(self.turn(), ok=ok))
        self.clean = self.clean + 1 if ok else 0

    @rule(kind=st.sampled_from(["agree", "disagree", "good", "fell_back"]))
    def seen(self, kind: str) -> None:
        assert self.log.note(self.key, self.turn(), START, kind)
        self.clean = 0 if kind == "disagree" else self.clean

    @rule()
    @precondition(lambda self: self.state() is State.ACTIVE)
    def wrong(self) -> None:
        assert was_wrong(self.log, self.key, self.turn(), START, "no")
        assert self.state() is State.DEMOTED
        self.clean = 0

    @rule(name=st.sampled_from(["", "describe_urls"]))
    def cover(self, name: str) -> None:
        self.covered = name

    @rule(may=st.booleans())
    def judged(self, may: bool) -> None:
        before = self.state()
        judge = Judge(0.01, lambda _: (may, "sure"), lambda _: self.covered, mark)
        changes = settle(self.log, [self.key], judge, START)
        after = self.state()
        assert not self.covered or after is State.DEMOTED
        if not changes:
            assert after is before
            return
        assert changes[0].state is after is not before
        assert changes[0].reason
        if after is State.ACTIVE:
            assert before is State.SHADOW
            assert may
        if before is State.DEMOTED:
            assert after is State.SHADOW
            assert self.clean >= PASSES
        self.clean = 0

    @invariant()
    def its_state_is_that_of_its_last_event(self) -> None:
        changes = [event.reason for event in self.log.events(self.key) if event.kind == "state"]
        state, reason = state_of(self.log, self.key)
        assert changes[-1] == f"{state}: {reason}" if changes else state is State.CANDIDATE
        assert self.log.clean_passes(self.key) == self.clean


@pytest.mark.slow
@pytest.mark.repeated
def test_whatever_happens_a_path_is_as_its_events_say(tmp_path: Path) -> None:
    lives = count()

    class Here(Life):
        def __init__(self) -> None:
            super().__init__(tmp_path / f"{next(lives)}.sqlite")

    run_state_machine_as_test(
        Here, settings=settings(max_examples=settings().max_examples // 4, stateful_step_count=20)
    )
