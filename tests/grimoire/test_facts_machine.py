"""Facts under anything that can happen to them, in any order, while time moves in either direction."""

import tempfile
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from grimoire.facts_made import START, fact, opened
from metnos.core.clock import MovableClock
from metnos.grimoire import fact_rules
from metnos.grimoire.episode import Provenance
from metnos.grimoire.fact import Decay, Fact, Kind, Standing

KINDS = st.sampled_from([Kind.PATTERN, Kind.ANTI, Kind.HEURISTIC, Kind.INSIGHT])
SOURCES = st.sampled_from([Provenance.SELF, Provenance.CLADE, Provenance.LETHE, Provenance.DREAM])
SHARE = st.floats(0, 1)
DIGIT = st.integers(1, 3)


class FactsMachine(RuleBasedStateMachine):
    """Keeps beside the store what must hold of it: every contradiction that was seen, and belief without any fading."""

    kept = Bundle("kept")

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.clock = MovableClock(START)
        self.facts = self.stack.enter_context(opened(folder, self.clock))
        self.disputes: set[frozenset[str]] = set()
        self.expected: dict[str, Fact] = {}  # as it should be believed, from its last change on
        self.episodes = 0

    def teardown(self) -> None:
        self.stack.close()

    def fresh(self, count: int) -> tuple[str, ...]:
        self.episodes += count
        return tuple(f"e{self.episodes - each}" for each in range(count))

    def look(self) -> None:
        """Take down what is there now as what is expected from now on."""
        for each in self.facts.find(standings=()):
            known = self.expected.get(each.id)
            if known is None or known.applied <= each.applied:
                self.expected[each.id] = each
            self.disputes |= {frozenset((each.id, other)) for other in each.contradicts}

    @rule(
        target=kept,
        kind=KINDS,
        source=SOURCES,
        value=st.integers(1, 4),
        count=st.integers(0, 6),
        thing=st.integers(1, 3),
    )
    def admit(self, kind: Kind, source: Provenance, value: int, count: int, thing: int) -> str:
        now = self.clock.now()
        about = {"text": f"Thing {thing} has the value {value}", "subject": f"thing {thing}", "value": f"{value}"}
        times = {"created": now, "reinforced": now, "applied": now}
        key, seen = self.facts.new_id(), self.fresh(count)
        made = fact(key, kind=kind, provenance=source, sources=seen, episode_count=count, **about, **times)
        done = self.facts.admit(made)
        self.look()
        return done.fact.id if done.fact else "nobody"

    @rule(target=kept, kind=KINDS, confidence=SHARE, decay=st.sampled_from(Decay), episodes=st.integers(0, 99))
    def put(self, kind: Kind, confidence: float, decay: Decay, episodes: int) -> str:
        now = self.clock.now()
        changes = {"created": now, "reinforced": now, "applied": now, "decay": decay, "episode_count": episodes}
        key = self.facts.new_id()
        self.facts.put(fact(key, kind=kind, confidence=confidence, text=f"Put {key}", **changes))
        self.look()
        return key

    @rule(one=kept, other=kept)
    def contradict(self, one: str, other: str) -> None:
        self.facts.link(one, other, "contradicts")
        self.look()

    @rule(one=kept, by=SHARE)
    def reinforce(self, one: str, by: float) -> None:
        (before,) = self.facts.get([one]) or (None,)
        new = self.facts.reinforce(one, by)
        if before is not None and new is not None:
            faded = fact_rules.faded(before, self.clock.now())
            assert new.confidence >= faded.confidence - 1e-9
            self.look()

    @rule(one=kept, by=SHARE)
    def weaken(self, one: str, by: float) -> None:
        self.facts.weaken(one, by)
        self.look()

    @rule(one=kept)
    def shown(self, one: str) -> None:
        before = self.facts.get([one])
        self.facts.shown([one])
        for old, new in zip(before, self.facts.get([one]), strict=True):
            assert replace(new, shown=old.shown) == old

    @rule(hours=st.floats(-30, 2000))
    def move(self, hours: float) -> None:
        self.clock.move(timedelta(hours=hours))

    @rule()
    def decay(self) -> None:
        before = {each.id: each for each in self.facts.find(standings=())}
        self.facts.decay()
        for each in self.facts.find(standings=()):
            assert each.confidence <= before[each.id].confidence
            should = fact_rules.faded(self.expected[each.id], each.applied)
            assert each.confidence == pytest.approx(should.confidence, abs=1e-6), "fading compounded"

    @rule(one=consumes(kept))
    def remove(self, one: str) -> None:
        gone = self.facts.remove([one])
        assert gone == (one in self.expected)
        self.expected.pop(one, None)
        self.disputes = {pair for pair in self.disputes if one not in pair}

    @invariant()
    def belief_stays_within_bounds(self) -> None:
        for each in self.facts.find(standings=()):
            assert 0 <= each.confidence <= 1
            if each.kind is Kind.ANTI:
                assert each.confidence >= min(self.expected[each.id].confidence, fact_rules.RULES.anti_floor) - 1e-9

    @invariant()
    def no_contradiction_is_lost(self) -> None:
        known = {frozenset((each.id, other)) for each in self.facts.find(standings=()) for other in each.contradicts}
        assert known == self.disputes

    @invariant()
    def nothing_acts_that_may_not(self) -> None:
        for each in self.facts.find(kinds=tuple(fact_rules.ACTING)):
            assert fact_rules.may_act(each)

    @invariant()
    def two_values_that_were_learnt_never_both_count(self) -> None:
        for thing in range(1, 4):
            counting = self.facts.find(subject=f"thing {thing}", standings=(Standing.ACTIVE,))
            assert len({each.value for each in counting}) <= 1


FactsMachine.TestCase.settings = settings(max_examples=settings().max_examples // 4, stateful_step_count=18)
TestFacts = FactsMachine.TestCase
