"""A life tick by tick: real tables, real signatures, a real audit."""

import itertools
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from metnos.app import App
from metnos.context.budgets import Phase
from metnos.core import sign
from metnos.core.clock import MovableClock
from metnos.core.errors import AuditError
from metnos.core.workspace import Workspace
from metnos.law.audit import Audit
from metnos.law.audit_line import Entry
from metnos.life import schema, vitality_rules
from metnos.life.cause import Cause
from metnos.life.dice import THROWN
from metnos.life.vitality import OVER, PHASE_CHANGED, Point, Ticked, Vitality
from metnos.life.vitality_rules import ORDER, PURPOSE, Terms
from metnos.store.db import Database
from support import START, at_once, kinds

MORTAL = Terms(stochastic=True, hayflick=40, balance_usd=10.0)


@dataclass
class World:
    """What a life depends on."""

    spent: float = 0.0
    fitness: float = 1.0


@pytest.fixture
def world() -> World:
    return World()


def living(app: App, world: World, terms: Terms = MORTAL) -> Vitality:
    seat = app.seat
    return Vitality(
        app.life_db, seat.signer, seat.audit, terms, spent=lambda: world.spent, fitness=lambda: world.fitness
    )


@pytest.fixture
def life(opened: App, world: World) -> Vitality:
    return living(opened, world)


def lived(life: Vitality, ticks: int) -> list[Ticked]:
    made = [life.tick(f"turn {number}", START + timedelta(minutes=number)) for number in range(ticks)]
    return [each for each in made if each is not None]


def until_over(life: Vitality) -> list[Point]:
    points = []
    for number in range(1000):
        ticked = life.tick(f"turn {number}", START)
        assert ticked is not None
        points.append(ticked.point)
        if ticked.is_over:
            break
    return points


class TestTicking:
    def test_before_the_first_tick_it_thrives(self, life: Vitality) -> None:
        assert life.last() is None
        assert life.phase() is Phase.THRIVING
        assert life.effects().context == 1.0
        assert life.cause() is None
        assert life.points(10) == []

    def test_a_turn_is_one_tick_however_often_it_is_offered(self, life: Vitality) -> None:
        first = life.tick("a", START)
        assert first is not None
        assert life.tick("a", START) is None
        second = life.tick("b", START)
        assert second is not None
        assert (first.point.tick, second.point.tick) == (1, 2)
        assert life.last() == second.point

    @pytest.mark.slow
    def test_processes_that_tick_the_same_turns_count_each_once(self, opened: App, world: World) -> None:
        _ = opened.life_db

        def tick() -> int:
            own = App.open(opened.workspace, opened.clock)
            new = len(lived(living(own, world, Terms()), 12))
            own.close()
            return new

        assert sum(at_once([tick, tick, tick])) == 12
        assert [each.tick for each in living(opened, world).points(100)] == list(range(1, 13))

    def test_clocks_that_are_off_stand_still(self, opened: App, world: World) -> None:
        world.spent, world.fitness = 100.0, 0.0
        off = Terms(economic=False, epistemic=False, stochastic=False, balance_usd=1.0, hayflick=3)
        (*_, last) = lived(living(opened, world, off), 9)
        assert last.point.vitality == 1.0
        assert last.point.roll is None
        assert last.point.cause is None

    def test_a_plot_gets_points_spread_over_the_life_and_the_last(self, opened: App, world: World) -> None:
        life = living(opened, world, Terms())
        lived(life, 95)
        found = life.points(10)
        assert len(found) <= 11
        assert found[-1].tick == 95
        assert len(life.points(95)) == 95


class TestDice:
    def test_a_throw_can_be_checked_by_whoever_has_the_public_key(self, opened: App, life: Vitality) -> None:
        lived(life, 3)
        for line in opened.audit.newest():
            if line.kind == THROWN:
                tick, proof = line.entry.counts["tick"], line.entry.names["proof"]
                public = opened.workspace.public_key.read_text().strip()
                assert sign.verify(public, PURPOSE, vitality_rules.throw_message(tick), proof)
                assert line.entry.counts["throw_ppb"] == int(vitality_rules.throw_of(proof) * 10**9)
        assert kinds(opened.workspace).count(THROWN) == 3
        assert life.prove().throws == 3
        assert life.prove().faults == ()

    def test_the_same_key_throws_the_same_whenever_it_is_asked(self, opened: App, world: World, tmp_path: Path) -> None:
        first = [each.roll for each in until_over(living(opened, world))]
        db = Database(tmp_path / "other.db", schema.MIGRATIONS)
        again = Vitality(
            db, opened.seat.signer, opened.audit, MORTAL, spent=lambda: 0.0, fitness=lambda: 1.0
        )  # fmt: skip
        assert [each.roll for each in until_over(again)] == first
        db.close()

    def test_every_life_ends_at_the_throw_that_says_so_and_at_the_limit_at_the_latest(self, life: Vitality) -> None:
        points = until_over(life)
        last = points[-1]
        assert last.cause is Cause.STOCHASTIC
        assert len(points) <= MORTAL.hayflick
        assert all(each.roll is not None and each.roll >= each.hazard for each in points[:-1])
        assert last.roll is not None
        assert last.roll < last.hazard
        assert last.phase is Phase.TERMINAL

    def test_what_the_dice_ended_stays_ended(self, life: Vitality) -> None:
        until_over(life)
        later = life.tick("later", START)
        assert later is not None
        assert later.point.vitality == 0
        assert later.point.cause is Cause.STOCHASTIC
        assert not later.is_over  # it was, already

    def test_it_stays_ended_after_a_time_without_dice(self, life: Vitality, opened: App, world: World) -> None:
        ended = until_over(life)[-1].tick
        home = living(opened, world, Terms())
        for number in range(3):
            at_home = home.tick(f"at home {number}", START)
            assert at_home is not None
            assert at_home.point.cause is None  # a clock that does not run ends nothing
        older = living(opened, world, replace(MORTAL, hayflick=100 * ended))
        back = older.tick("back", START)
        assert back is not None
        assert (back.point.cause, back.point.vitality) == (Cause.STOCHASTIC, 0)
        assert older.prove().faults == ()

    def test_a_tick_whose_audit_line_cannot_be_written_did_not_happen(
        self, life: Vitality, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(_audit: Audit, _entry: Entry) -> None:
            raise AuditError("the disk is full")

        monkeypatch.setattr(Audit, "append", broken)
        with pytest.raises(AuditError):
            life.tick("a", START)
        monkeypatch.undo()
        assert life.last() is None
        ticked = life.tick("a", START)
        assert ticked is not None
        assert ticked.point.tick == 1

    @pytest.mark.parametrize(
        ("change", "fault"),
        [
            ("roll = 0.5", "not what its proof says"),
            ("proof = replace(proof, substr(proof, 1, 4), 'abcd')", "key did not make"),
            ("stochastic = 0", "ends no life"),
            ("stochastic = 0.5", "does not stand where its age puts it"),
            ("hazard = 1", "not that of its age"),
            ("hayflick = 1000, hazard = 0.5", "not that of its age"),
            ("hayflick = hayflick / 2, hazard = 0.1", "not that of its age"),
            ("roll = NULL, proof = ''", "is missing here"),
        ],
    )
    def test_a_throw_that_was_touched_shows(self, opened: App, world: World, change: str, fault: str) -> None:
        life = living(opened, world, replace(MORTAL, hayflick=10**6))
        lived(life, 1)
        with opened.life_db.write() as tx:
            tx.execute(f"UPDATE ticks SET {change} WHERE tick = 1")
        (found,) = life.prove().faults
        assert fault in found

    def test_a_life_that_was_to_end_cannot_be_written_on(self, opened: App, world: World) -> None:
        """Whoever can write the table can make it agree with itself, but not with the audit."""
        life = living(opened, world)
        last = until_over(life)[-1]
        alive = vitality_rules.survival(last.tick, 10**6)
        small = vitality_rules.hazard(last.tick, 10**6)
        with opened.life_db.write() as tx:
            tx.execute("UPDATE ticks SET hazard = 0, stochastic = ? WHERE tick = ?", (alive, last.tick))
        (found,) = life.prove().faults
        assert "not that of its age" in found
        with opened.life_db.write() as tx:
            tx.execute("UPDATE ticks SET hayflick = ?, hazard = ? WHERE tick = ?", (10**6, small, last.tick))
        (found,) = life.prove().faults
        assert "the audit says otherwise" in found

    def test_a_greatest_age_that_the_owner_changed_is_no_fault(self, opened: App, world: World) -> None:
        lived(living(opened, world, replace(MORTAL, hayflick=10**6)), 3)
        older = living(opened, world, replace(MORTAL, hayflick=10**7))
        assert older.tick("later", START) is not None
        assert older.prove().throws == 4
        assert older.prove().faults == ()


class TestPhases:
    def test_money_that_runs_out_leads_through_every_phase_to_the_end(self, opened: App, world: World) -> None:
        life, seen = living(opened, world, Terms(balance_usd=10.0)), []
        for number in range(100):
            world.spent = number * 0.1
            ticked = life.tick(f"turn {number}", START)
            assert ticked is not None
            if ticked.has_changed:
                seen.append(ticked.point.phase)
            if ticked.is_over:
                assert ticked.point.cause is Cause.ECONOMIC
                break
        assert seen == list(ORDER[1:])
        assert world.spent == pytest.approx(9.7)  # the reserve is still there
        changes = [line for line in opened.audit.newest() if line.kind == PHASE_CHANGED]
        assert [line.entry.names["is"] for line in changes] == [str(phase) for phase in reversed(ORDER[1:])]
        assert kinds(opened.workspace).count(OVER) == 1

    def test_knowledge_that_is_wrong_ends_a_life_below_the_seeds_bound(self, opened: App, world: World) -> None:
        life = living(opened, world, Terms())
        world.fitness = 0.35
        lived(life, 1)
        assert life.cause() is None
        world.fitness = 0.349
        life.tick("next", START)
        assert life.cause() is Cause.EPISTEMIC

    def test_more_money_brings_a_life_back(self, opened: App, world: World) -> None:
        world.spent = 9.7
        lived(living(opened, world, Terms(balance_usd=10.0)), 1)
        richer = living(opened, world, Terms(balance_usd=100.0))
        ticked = richer.tick("next", START)
        assert ticked is not None
        assert ticked.point.cause is None
        assert ticked.point.phase is Phase.THRIVING

    def test_an_old_one_shares_sooner(self, opened: App, world: World) -> None:
        safe = Terms(stochastic=True, hayflick=10**6)
        life = living(opened, world, safe)
        lived(life, 7)
        assert life.effects().share == 0.6
        old = living(opened, world, replace(safe, hayflick=8))
        assert old.hayflick_ratio() > 0.85
        assert old.effects().share == 0.4


_NUMBERS = itertools.count()


class Machine(RuleBasedStateMachine):
    """Whatever happens to money, knowledge and turns, a life is recorded whole and only ever goes on."""

    place: Path

    def __init__(self) -> None:
        super().__init__()
        self.clock, self.world, self.offered = MovableClock(START), World(), 0
        self.db = Database(self.place / f"{next(_NUMBERS)}.db", schema.MIGRATIONS)
        app = App.open(Workspace(self.place / "workspace"), self.clock)
        self.life = Vitality(
            self.db,
            app.seat.signer,
            app.audit,
            Terms(balance_usd=5.0, stochastic=True, hayflick=30),
            spent=lambda: self.world.spent,
            fitness=lambda: self.world.fitness,
        )
        self.app = app
        self.phase = Phase.THRIVING

    @rule(again=st.booleans())
    def tick(self, again: bool) -> None:
        self.offered += not again
        ticked = self.life.tick(f"turn {self.offered}", self.clock.now())
        if ticked is not None:
            assert ticked.has_changed == (ticked.point.phase is not self.phase)
            assert ticked.point.phase is vitality_rules.phase_of(ticked.point.vitality, self.phase)
            self.phase = ticked.point.phase

    @rule(usd=st.floats(0, 1))
    def spend(self, usd: float) -> None:
        self.world.spent += usd

    @rule(fitness=st.floats(0, 1))
    def learn(self, fitness: float) -> None:
        self.world.fitness = fitness

    @invariant()
    def every_tick_is_there_once(self) -> None:
        points = self.life.points(1000)
        assert [each.tick for each in points] == list(range(1, len(points) + 1))
        gone = [each.clocks.stochastic == 0 for each in points]
        assert gone == sorted(gone)  # once ended, always ended
        assert self.life.prove().faults == ()
        assert self.life.phase() is self.phase

    def teardown(self) -> None:
        self.db.close()
        self.app.close()


@pytest.fixture
def _place(workspace: Workspace) -> None:
    Machine.place = workspace.root.parent


@pytest.mark.usefixtures("_place")
@pytest.mark.slow
@pytest.mark.repeated
def test_a_life_is_recorded_whole() -> None:
    run_state_machine_as_test(
        Machine, settings=settings(max_examples=settings().max_examples // 3, stateful_step_count=25)
    )
