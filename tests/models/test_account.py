"""The money of a life: never overdrawn, and what is kept for its end is there at its end."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import forking
from metnos.core.clock import MovableClock
from metnos.core.errors import ModelError
from metnos.models.account import Account
from metnos.models.account_schema import MIGRATIONS
from metnos.models.budget import Budget, Meter, Metered, Price, Use, left_of, reserve_of, worst_case
from metnos.models.chat import Message, OnText, Prompt, Reply, Usage
from metnos.models.scripted import DIES, GONE, Scripted
from metnos.store.db import Database
from support import at_once

CLOCK = MovableClock(datetime(2026, 11, 15, 12, 0, tzinfo=UTC))
DEAR = Price(1000.0, 1000.0)
ASKED = Prompt("be brief", (Message("user", "hello"),), max_tokens=50)
WORST = worst_case(ASKED, DEAR).usd
ROOMY = Budget(10**9, 1e9)

uses = st.sampled_from(["life", "death"])
amounts = st.floats(0.0001, 5)


class Priced:
    """A model that says what it cost."""

    name, outside = "priced", True

    def __init__(self, usd: float = 0.0) -> None:
        self.usd = usd

    def ask(self, prompt: Prompt, on_text: OnText | None = None) -> Reply:
        return Reply("hello", None, Usage(1, 5, 1, 0, self.usd))


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "life.db", MIGRATIONS)
    yield made
    made.close()


def account(db: Database, balance: float) -> Account:
    return Account(lambda: db, balance, CLOCK)


def metered(db: Database, balance: float, chat: Any, use: Use = "life") -> Metered:
    return Metered(chat, Meter(ROOMY), DEAR, account(db, balance).fund(use))


class TestTheReserve:
    @given(st.floats(0, 1e9))
    def test_it_is_two_per_cent_or_thirty_cents_and_never_more_than_there_is(self, balance: float) -> None:
        found = reserve_of(balance)
        assert 0 <= found <= balance
        assert found == min(balance, max(0.30, 0.02 * balance))

    @given(st.floats(0.01, 1e6), st.floats(0, 1e6))
    def test_a_life_may_spend_all_but_the_reserve_and_its_end_all(self, balance: float, spent: float) -> None:
        life, death = left_of(balance, spent, "life"), left_of(balance, spent, "death")
        assert 0 <= life <= death
        assert life <= max(0.0, balance - reserve_of(balance))
        if spent <= balance - reserve_of(balance):
            assert death - life == pytest.approx(reserve_of(balance), rel=1e-6, abs=1e-6)

    def test_what_the_seed_says(self) -> None:
        assert reserve_of(5.0) == 0.30
        assert reserve_of(100.0) == 2.0


class TestHolding:
    @settings(max_examples=settings().max_examples // 2)
    @given(st.floats(0.5, 20), st.lists(st.tuples(amounts, uses, st.floats(0, 1), st.booleans()), max_size=20))
    def test_whatever_is_asked_for_the_reserve_is_there_for_the_end(
        self, tmp_path_factory: pytest.TempPathFactory, balance: float, calls: list[tuple[float, Use, float, bool]]
    ) -> None:
        db = Database(tmp_path_factory.mktemp("money") / "life.db", MIGRATIONS)
        money = account(db, balance)
        for usd, use, share, ends in calls:
            fund = money.fund(use)
            with suppress(ModelError):
                number = fund.hold(usd)
                if ends:
                    fund.settle(number, usd * share)
            ((lived,),) = db.query("SELECT coalesce(sum(usd), 0) FROM spendings WHERE death = 0")
            assert lived <= balance - money.reserve + 1e-9
            assert money.spent() <= balance + 1e-9
        db.close()

    def test_only_who_says_death_may_draw_on_the_reserve(self, db: Database) -> None:
        money = account(db, 1.0)
        money.fund("life").hold(0.7)
        with pytest.raises(ModelError, match=r"\$0.0000 left to spend; \$0.30 more are kept for its end") as caught:
            money.fund("life").hold(0.01)
        assert caught.value.kind == "budget"
        assert "metnos config set life.balance_usd" in caught.value.fix
        money.fund("death").hold(0.29)
        with pytest.raises(ModelError, match=r"\$0.0100 left to spend"):
            money.fund("death").hold(0.02)
        assert money.left("life") == 0.0
        assert money.left("death") == pytest.approx(0.01)

    def test_a_call_is_held_at_its_worst_and_counted_as_what_it_cost(self, db: Database) -> None:
        fund = account(db, 10.0).fund("life")
        number = fund.hold(2.0)
        assert account(db, 10.0).spent() == 2.0
        fund.settle(number, 0.5)
        fund.settle(number, 9.0)  # once is enough
        assert account(db, 10.0).spent() == 0.5

    def test_without_a_balance_nothing_is_refused_and_all_is_counted(self, db: Database) -> None:
        money = account(db, 0.0)
        money.fund("life").hold(1000.0)
        assert money.spent() == 1000.0
        assert money.left() is None

    def test_processes_at_the_same_time_cannot_overdraw_together(self, tmp_path: Path) -> None:
        Database(tmp_path / "life.db", MIGRATIONS).close()

        def greedy() -> int:
            db, got = Database(tmp_path / "life.db", MIGRATIONS), 0
            for _ in range(10):
                with suppress(ModelError):
                    account(db, 1.3).fund("life").hold(0.1)
                    got += 1
            db.close()
            return got

        assert sum(at_once([greedy, greedy, greedy])) == 10

    def test_a_process_that_dies_in_a_call_leaves_its_worst_case_standing(self, tmp_path: Path) -> None:
        def spend() -> None:
            account(Database(tmp_path / "life.db", MIGRATIONS), 10.0).fund("life").hold(1.5)
            forking.die()

        assert forking.run(spend) == forking.KILLED
        db = Database(tmp_path / "life.db", MIGRATIONS)
        assert account(db, 10.0).spent() == 1.5
        db.close()

    def test_what_cannot_be_written_down_is_not_spent(self, db: Database) -> None:
        db.path.unlink()
        chat = Scripted(["never"])
        with pytest.raises(ModelError, match="cannot be written down"):
            metered(db, 10.0, chat).ask(ASKED)
        assert chat.asked == []


class TestAsking:
    def test_what_a_call_cost_is_counted(self, db: Database) -> None:
        metered(db, 10.0, Priced(0.02)).ask(ASKED)
        assert account(db, 10.0).spent() == pytest.approx(0.02)

    def test_a_model_that_was_never_reached_costs_nothing_and_one_that_broke_off_all_it_could(
        self, db: Database
    ) -> None:
        with pytest.raises(ModelError):
            metered(db, 10.0, Scripted([GONE])).ask(ASKED)
        assert account(db, 10.0).spent() == 0.0
        with pytest.raises(ModelError):
            metered(db, 10.0, Scripted([DIES])).ask(ASKED)
        assert account(db, 10.0).spent() == pytest.approx(WORST)

    def test_a_life_is_refused_what_its_end_is_given(self, db: Database) -> None:
        balance = WORST + 0.05  # the reserve is 30 cents, and a call costs less
        assert WORST < 0.3
        chat = Scripted(["last words"])
        meter = Meter(ROOMY)
        with pytest.raises(ModelError, match="kept for its end"):
            Metered(chat, meter, DEAR, account(db, balance).fund("life")).ask(ASKED)
        assert chat.asked == []
        assert meter.spent == Usage()
        assert metered(db, balance, chat, "death").ask(ASKED).text == "last words"

    def test_what_is_free_can_be_asked_with_no_money_at_all(self, db: Database) -> None:
        account(db, 1.0).fund("death").hold(1.0)
        free = Metered(Scripted(["still here"]), Meter(ROOMY), Price(), account(db, 1.0).fund("life"))
        assert free.ask(ASKED).text == "still here"
