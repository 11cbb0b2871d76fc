"""A life in a real workspace: turns are ticks, facts are scored, money is counted, and a phase changes things."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from app.mortal import mortal
from app.remembered import ASKED, copied, done, taught, the_folder
from app.turned import close, pdfs
from metnos.app import App, keeping, learning
from metnos.app.living import PROJECTION, Living
from metnos.context.budgets import Phase
from metnos.core.clock import MovableClock
from metnos.core.errors import ModelError, StoreCorrupt
from metnos.core.workspace import Workspace
from metnos.law.principal import at_terminal
from metnos.life.cause import Cause
from metnos.life.dice import THROWN
from metnos.life.vitality_rules import ORDER, RULES
from metnos.models.budget import Budget, Meter
from metnos.models.chat import Message, Prompt
from metnos.night.notices import Notices
from support import kinds
from turn.fasting import fill
from turn.turning import take

HELLO = Prompt("be brief", (Message("user", "hello"),), max_tokens=50)
ROOMY = Budget(10**6, 10.0)


@pytest.fixture(scope="module")
def _taught(_template: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return taught(_template, tmp_path_factory.mktemp("taught"))


@pytest.fixture
def wise(_taught: Workspace, blank: Workspace, clock: MovableClock, tmp_path: Path) -> Iterator[App]:
    """It has been told three times where PDFs are."""
    yield from copied(_taught, blank, clock, tmp_path / "home")


def notices(app: App) -> list[str]:
    return [each.text for each in Notices(app.night_db, app.clock).unseen() if each.kind == "life"]


def spend(app: App, usd: float) -> None:
    fund = app.living.account.fund("life")
    fund.settle(fund.hold(usd), usd)


class TestTicks:
    def test_a_closed_turn_is_a_tick_and_a_rehearsal_is_none(self, equipped: App, tmp_path: Path) -> None:
        fill(tmp_path / "home")
        take(equipped, "find the PDFs in ~/docs", dry_run=True)
        assert equipped.living.vitality.last() is None
        trace = done(equipped, "find the PDFs in ~/docs")
        last = equipped.living.vitality.last()
        assert last is not None
        assert (last.tick, last.source, last.phase) == (1, trace.id, Phase.THRIVING)

    def test_turns_from_before_and_after_a_lost_file_are_all_lived_once(self, equipped: App) -> None:
        for number in range(5):
            close(equipped, number, *pdfs(f"f{number}"))
        learning.catch_up(equipped)
        learning.catch_up(equipped)
        assert [each.tick for each in equipped.living.vitality.points(100)] == [1, 2, 3, 4, 5]
        equipped.close()
        for path in equipped.workspace.memory.glob("life.db*"):
            path.unlink()
        again = App.open(equipped.workspace, equipped.clock)
        close(again, 5, *pdfs("f5"))
        again.living.catch_up()
        assert len(again.living.vitality.points(100)) == 6
        assert again.medium.pending(PROJECTION) == []

    def test_an_agent_that_beats_by_itself_does_not_tick_by_turns(self, equipped: App) -> None:
        app = mortal(equipped, ticks="heartbeat")
        close(app, 1, *pdfs("docs"))
        app.living.catch_up()
        assert app.living.vitality.last() is None
        first = app.living.beat("theta 1")
        assert first is not None
        assert first.point.tick == 1
        assert app.living.beat("theta 1") is None

    def test_a_household_throws_no_dice(self, equipped: App) -> None:
        close(equipped, 1, *pdfs("docs"))
        equipped.living.catch_up()
        assert THROWN not in kinds(equipped.workspace)
        assert equipped.living.vitality.prove().throws == 0

    def test_without_the_file_nobody_knows_whether_it_was_retired_and_no_turn_begins(
        self, equipped: App, tmp_path: Path
    ) -> None:
        fill(tmp_path / "home")
        equipped.workspace.life_db.write_bytes(b"this is no database" * 100)
        assert equipped.living.phase() is Phase.THRIVING
        assert equipped.living.effects().curator_every == 50
        with pytest.raises(StoreCorrupt, match=r"life.db is damaged"):
            take(equipped, "find the PDFs in ~/docs")


class TestKnowledge:
    def test_a_fact_that_steered_a_step_is_scored_and_a_complaint_turns_the_score(self, wise: App) -> None:
        known = the_folder(wise)
        before = wise.living.fitness.counts()
        trace = done(wise, ASKED)
        assert [step.args["path"] for step in trace.steps] == ["~/papers"]
        assert wise.living.fitness.counts() == (before[0] + 1, before[1] + 1)
        rows = wise.life_db.query("SELECT fact, step, expects, went FROM scores WHERE turn = ?", (trace.id,))
        assert rows == [(known.id, 1, 1, 1)]
        wise.medium.feedback(trace.id, good=False)
        learning.catch_up(wise)
        assert wise.living.fitness.counts() == (before[0] + 1, before[1])
        assert wise.living.fitness.value() < 1.0

    def test_what_is_forgotten_has_no_score_either(self, wise: App) -> None:
        done(wise, ASKED)
        plan = keeping.forgetting(wise).plan(ids=[the_folder(wise).id])
        keeping.forget(wise, plan, at_terminal())
        assert wise.living.fitness.counts() == (0, 0)

    def test_knowledge_that_is_always_wrong_is_told_as_the_end_and_more_turns_are_answered(
        self, wise: App, clock: MovableClock
    ) -> None:
        trace, known = done(wise, ASKED), the_folder(wise)
        # As if as many things were known of this step as it takes; one alone is not believed for so long.
        sure = [replace(known, id=f"F{number:025}", confidence=1.0) for number in range(40)]
        wise.living.fitness.note(trace.id, trace.closed, sure, trace.steps)
        wise.medium.feedback(trace.id, good=False)
        clock.move(timedelta(minutes=1))
        learning.catch_up(wise)
        assert wise.living.fitness.value() < RULES.senescence
        assert wise.living.vitality.cause() is None  # a life ends with a tick, and not between two
        assert take(wise, "how full are the disks?").ended.state == "done"
        assert wise.living.vitality.cause() is Cause.EPISTEMIC
        (told,) = [each for each in notices(wise) if "at its end" in each]
        assert "what it learnt turns out wrong more often than right" in told
        assert "metnos life retire" in told
        assert take(wise, "how full are the disks?").ended.state == "done"
        assert len([each for each in notices(wise) if "at its end" in each]) == 1


class TestMoney:
    def test_a_life_without_money_is_refused_what_its_end_may_still_ask(self, equipped: App) -> None:
        equipped.set_setting("models.main.url", "http://127.0.0.1:9/v1", at_terminal())  # nobody listens there
        equipped.set_setting("models.main.price_in", "1000", at_terminal())
        equipped.set_setting("models.main.price_out", "1000", at_terminal())
        equipped.set_setting("models.retries", "0", at_terminal())
        app = mortal(equipped, balance=5.0)
        spend(app, 4.69)
        living = app.models.metered("main", Meter(ROOMY))
        assert living is not None
        with pytest.raises(ModelError, match=r"\$0.30 more are kept for its end") as caught:
            living.ask(HELLO)
        assert caught.value.kind == "budget"
        dying = app.models.metered("main", Meter(ROOMY), use="death")
        assert dying is not None
        with pytest.raises(ModelError) as reached:
            dying.ask(HELLO)
        assert reached.value.kind == "unreachable"  # it was asked; nobody was there
        assert app.living.account.spent() == pytest.approx(4.69)

    def test_the_owners_setting_wins_over_the_profile(self, equipped: App) -> None:
        equipped.set_setting("life.balance_usd", "50", at_terminal())
        app = mortal(equipped, balance=5.0)
        assert app.living.terms.balance_usd == 50
        assert app.living.account.reserve == 1.0

    def test_by_default_there_is_no_bound(self, equipped: App) -> None:
        spend(equipped, 1000.0)
        assert equipped.living.account.left() is None
        close(equipped, 1, *pdfs("docs"))
        equipped.living.catch_up()
        assert equipped.living.phase() is Phase.THRIVING


class TestEffects:
    def test_a_life_that_spends_its_money_goes_through_every_phase_and_each_is_told_once(self, equipped: App) -> None:
        app, seen = mortal(equipped, balance=10.0), [Phase.THRIVING]
        for number in range(1, 11):
            close(app, number, *pdfs(f"f{number}"))
            app.living.catch_up()
            app.living.catch_up()
            seen.append(app.living.phase())
            spend(app, min(0.97, app.living.account.left() or 0.0))
        close(app, 11, *pdfs("last"))
        app.living.catch_up()
        assert list(dict.fromkeys([*seen, app.living.phase()])) == list(ORDER)
        assert app.living.vitality.cause() is Cause.ECONOMIC
        told = notices(app)
        assert len(told) == 4  # the last phase and the end come together, and the end is told
        assert "now in the phase stable" in told[0]
        assert "the money it had to live on is spent" in told[-1]
        assert "metnos life retire" in told[-1]

    def test_the_phase_shapes_what_a_model_is_shown_and_how_often_is_learnt(self, equipped: App) -> None:
        app = mortal(equipped, balance=10.0)
        shares = {}
        for usd in (0.0, 9.0):
            spend(app, usd or 0.0001)
            close(app, int(usd), *pdfs(f"f{usd:.0f}"))
            app.living.catch_up()
            shares[app.living.phase()] = (app.living.effects().context, app.living.effects().curator_every)
        assert shares == {Phase.THRIVING: (1.0, 50), Phase.TERMINAL: (0.4, 10)}

    def test_fewer_turns_are_enough_to_learn_from_when_little_life_is_left(self, equipped: App) -> None:
        app = mortal(equipped, balance=10.0)
        spend(app, 9.5)
        for number in range(11):
            close(app, number, *pdfs(f"f{number}"))
            learning.catch_up(app)
        assert app.grimoire.curator(1.0)._state.place().cycle == 1

    def test_only_what_is_believed_and_not_about_the_owner_may_be_shared(self, wise: App) -> None:
        known = the_folder(wise)
        assert known.confidence >= 0.6
        assert known.id in [fact.id for fact in wise.living.shareable()]


def test_the_status_has_everything_and_no_words_of_the_owner(wise: App) -> None:
    done(wise, ASKED)
    found = wise.living.status(100)
    assert found["tick"] == len(found["points"]) > 0
    assert found["over"] is None
    assert found["money"] == {"balance_usd": 0.0, "reserve_usd": 0.0, "spent_usd": 0.0, "left_usd": None}
    assert found["effects"]["context"] == 1.0
    assert "papers" not in str(found)


def test_a_life_is_put_together_once(equipped: App) -> None:
    assert isinstance(equipped.living, Living)
    assert equipped.living is equipped.living
