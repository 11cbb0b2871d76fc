"""Whatever happens to mnests, their weights follow from their events alone."""

import tempfile
from datetime import timedelta
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from metnos.core.clock import MovableClock
from metnos.mnestome import proto, record, seeds, states
from metnos.mnestome.rules import Rules, State
from metnos.mnestome.schema import MIGRATIONS
from metnos.mnestome.states import Standing
from metnos.mnestome.tags import retag
from metnos.store.db import Database, Durability
from mnestome.turns import START, Pass, Turn, Wish, check, everything

RULES = Rules(lambdas={"slow": 0.003, "fast": 0.3})
names = st.sampled_from(["find_files", "read_files", "count_text", "sign_files"])
versions = st.sampled_from(["1.0.0", "2.0.0"])
passes = st.builds(Pass, names, names, versions, versions)
tags = st.lists(st.sampled_from(["slow", "fast", "plain"]), max_size=2)
standings = st.builds(Standing, versions, st.sampled_from(["active", "active", "archived", "revoked", "quarantine"]))


class Mnestome(RuleBasedStateMachine):
    """Turns, the owner's hand, executors that come and go, and a clock that cannot be trusted."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.db = Database(Path(self.folder.name) / "m.sqlite", MIGRATIONS, durability=Durability.NORMAL)
        self.clock = MovableClock(START)
        self.turns = 0
        self.uses = 0

    @rule(
        passings=st.lists(st.builds(Pass, names, names, versions, versions), max_size=3), tags=tags, twice=st.booleans()
    )
    def turn(self, passings: list[Pass], tags: list[str], twice: bool) -> None:
        self.turns += 1
        closed = Turn(f"T{self.turns}", self.clock.now(), passings, (), tags)
        assert record.record_turn(self.db, closed, RULES) is True
        if twice:
            assert record.record_turn(self.db, closed, RULES) is False
        self.uses += len(set(passings))

    @rule(name=names, source=names, version=versions, tags=tags)
    def wish(self, name: str, source: str, version: str, tags: list[str]) -> None:
        self.turns += 1
        wish = Wish(name, source, version)
        assert record.record_turn(self.db, Turn(f"T{self.turns}", self.clock.now(), (), [wish], tags), RULES)
        self.uses += name != source

    @rule(src=names, dst=names, version=versions)
    def plant(self, src: str, dst: str, version: str) -> None:
        self.uses += seeds.plant(self.db, [seeds.Seed(src, version, dst, version, "planted")], self.clock.now(), RULES)

    @rule(data=st.data(), add=tags, remove=tags, clear=st.booleans())
    def retag(self, data: st.DataObject, add: list[str], remove: list[str], clear: bool) -> None:
        found = everything(self.db)
        if found:
            chosen = data.draw(st.integers(0, len(found) - 1))
            retag(self.db, found[chosen].id, self.clock.now(), add=add, remove=remove, clear=clear, rules=RULES)

    @rule(executors=st.dictionaries(names, standings))
    def executors_change(self, executors: dict[str, Standing]) -> None:
        states.reconcile(self.db, executors, self.clock.now(), rules=RULES)
        assert states.reconcile(self.db, executors, self.clock.now(), rules=RULES) == 0
        for each in everything(self.db):
            ends = [(each.src, each.src_version), (each.dst, each.dst_version)]
            there = [(executors[name], version) for name, version in ends if name in executors]
            if each.live:
                assert all(not standing.gone and standing.version == version for standing, version in there)
            if each.state is State.PROTO and each.dst in executors:
                assert executors[each.dst].gone

    @rule(days=st.one_of(st.floats(0, 40), st.floats(-40, 0), st.floats(100, 500)))
    def time_passes(self, days: float) -> None:
        self.clock.move(timedelta(days=days))

    @invariant()
    def weights_follow_from_events(self) -> None:
        check(self.db, rules=RULES)
        for each in everything(self.db):
            assert each.decay_lambda == RULES.lambda_for(each.tags)
        assert all(found.signature for found in proto.protos(self.db))

    @invariant()
    def no_use_is_lost(self) -> None:
        """What goes on in another row is counted there too, so the rows that do not go on hold every use."""
        (told,) = self.db.query("SELECT count(*) FROM events WHERE kind = 'reinforce' AND reason NOT LIKE 'succeeds %'")
        assert told == (self.uses,)

    def teardown(self) -> None:
        self.db.close()
        self.folder.cleanup()


TestMnestome = Mnestome.TestCase
TestMnestome.settings = settings(max_examples=settings().max_examples // 2, stateful_step_count=20)
