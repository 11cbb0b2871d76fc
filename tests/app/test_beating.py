"""A golem on a real local chain: it captures, deliberates, learns, tells its owner, and comes to an end."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from app.extended import Opened
from life.local_chain import ETH, Account, chain, said, speaker
from life.test_chain import topic
from metnos.app import App, beating, retired
from metnos.app.beating import FOLLOWED, Beating
from metnos.app.night import build
from metnos.context.budgets import Phase
from metnos.core.clock import MovableClock
from metnos.core.errors import TestamentError, UsageError
from metnos.grimoire.fact import Kind
from metnos.life import heartbeat_rules
from metnos.life.cause import Cause
from metnos.life.heartbeat_rules import Beat
from metnos.life.profile import SHIPPED
from metnos.life.thanatopsis import Wishes
from turn.scripted import reopened

TRANSFER = topic("Transfer(address,address,uint256)")
SEIZED = topic("LiquidationCall(address,address,address,uint256,uint256,address,bool)")


@pytest.fixture(scope="module")
def account() -> Iterator[Account]:
    with chain() as url:
        yield Account(url)


def golem(app: App, url: str, *replies: object, **settings: str) -> Opened:
    wanted = {"life__profile": "golem", "life__rpc": url, "life__confirmations": "0", **settings}
    opened, model = reopened(app, *replies, model=bool(replies), **wanted)  # type: ignore[arg-type]
    opened.__dict__["embedder"] = None
    return opened, model


def beat(heart: Beating, *also: Beat) -> dict[Beat, dict[str, int]]:
    done = heart.beat(also=also)
    assert done is not None
    assert [each.message for each in done] == [""] * len(done)
    return {each.kind: dict(each.counts) for each in done}


def test_an_agent_of_a_household_has_no_heart(opened: App) -> None:
    assert beating.of(opened) is None
    with pytest.raises(UsageError, match="lives by turns") as caught:
        beating.require(opened)
    assert "life.profile golem" in caught.value.fix


@pytest.mark.slow
def test_a_golem_captures_deliberates_and_learns_without_model_or_embedder(
    opened: App, account: Account, clock: MovableClock
) -> None:
    app, _ = golem(opened, account.url)
    heart = beating.require(app)
    pool, lending = account.put(speaker(3)), account.put(speaker(4))
    assert set(beat(heart)) == set(Beat)
    for number in range(25):
        account.send(pool, value=ETH + number % 5 * ETH // 50, data=said(TRANSFER, 5, 6, 7))
    clock.move(timedelta(minutes=20))
    found = beat(heart)
    assert found[Beat.GAMMA] == {"blocks": 25, "events": 25, "remembered": 25}
    assert found[Beat.THETA]["thoughts"] == 5
    facts = app.grimoire.facts.find(kinds=(Kind.BASELINE,), domains=(pool,), count=10)
    assert {fact.tags[0] for fact in facts} == {"liquidity_conditions", "fee_optimization", "gas_timing"}

    account.send(lending, value=0, data=said(SEIZED, 1, 2, 3, 40, 50, 6, 1))
    account.send(pool, value=60 * ETH, data=said(TRANSFER, 5, 6, 7))
    clock.move(timedelta(minutes=2))
    found = beat(heart)
    assert found[Beat.THETA]["foretold"] >= 3
    assert app.living.fitness.counts()[0] >= 3
    last = app.living.vitality.last()
    assert last is not None
    assert (last.tick, last.source) == (3, "theta 3")
    assert app.living.vitality.points(10)[-1].roll is not None  # it is mortal
    app.close()


@pytest.mark.slow
def test_the_owner_hears_of_what_matters_once(opened: App, account: Account, clock: MovableClock) -> None:
    app, model = golem(opened, account.url, {"importance": 0.95}, {"importance": 0.1})
    heart = beating.require(app)
    account.send(account.other, value=ETH)
    beat(heart)
    notices = build(app).notices
    (told,) = [each for each in notices.unseen() if each.kind == "event"]
    assert told.text.startswith("native_transfer at native: 1 ETH, 21000 gas")
    assert "matters 95%" in told.text
    assert len(model.asked) == 1
    assert "native_transfer at native" in model.asked[0].messages[-1].text
    assert "native_transfer" not in model.asked[0].system
    app.close()


def test_nothing_beats_while_everything_is_halted(opened: App, account: Account) -> None:
    app, _ = golem(opened, account.url)
    app.halts.halt("enough")
    assert beating.require(app).beat() == []
    assert app.living.vitality.last() is None
    app.close()


def test_a_chain_that_is_away_is_told_once_and_stops_nothing_else(opened: App, clock: MovableClock) -> None:
    logged: list[str] = []
    app, _ = golem(opened, "http://127.0.0.1:9")
    heart = beating.require(app, logged.append)
    for _ in range(3):
        done = heart.beat()
        clock.move(timedelta(seconds=10))
    assert done is not None
    assert "chain" in done[0].message
    assert len(logged) == 1
    assert app.living.vitality.last() is not None  # theta was a tick all the same
    app.close()


def test_without_a_server_it_says_so_and_lives(opened: App) -> None:
    app, _ = golem(opened, "")
    done = beating.require(app).beat()
    assert done is not None
    assert [each.message for each in done] == ["no chain's server is set", "", ""]
    app.close()


def test_which_chain_is_read_is_in_the_audit_and_not_its_address(opened: App, account: Account) -> None:
    app, _ = golem(opened, account.url)
    heart = beating.require(app)
    beat(heart)
    beat(heart, Beat.GAMMA)
    lines = [line for path in app.workspace.audit.glob("*.jsonl") for line in path.read_text().splitlines()]
    assert sum(f'"{FOLLOWED}"' in line for line in lines) == 1
    assert account.url not in "".join(lines)
    app.close()


def test_with_little_life_left_a_golem_consolidates_sooner(equipped: App, clock: MovableClock) -> None:
    app, _ = golem(equipped, "")
    heart = beating.require(app).heart
    heart.beat()
    with app.life_db.write() as tx:
        tx.execute("UPDATE pulse SET fresh = 10")
    before = heartbeat_rules.interval(Beat.DELTA, heart.pulse(), app.living.profile.rates)
    fund = app.living.account.fund("life")
    fund.settle(fund.hold(19.0), 19.0)
    app.living.beat("theta by hand")
    assert app.living.phase() is Phase.TERMINAL
    after = heartbeat_rules.interval(Beat.DELTA, heart.pulse(), app.living.profile.rates)
    assert (before, after) == (timedelta(minutes=17), timedelta(minutes=5))  # ten are enough now, and not fifty
    app.close()


def short_lived(app: App, pack: str = "home") -> None:
    """A profile that reaches its greatest age at the second tick."""
    (app.workspace.root / "profiles").mkdir()
    text = (SHIPPED / "golem.toml").read_text().replace("ticks = 100000", "ticks = 2")
    (app.workspace.root / "profiles/mayfly.toml").write_text(text.replace('pack = "defi"', f'pack = "{pack}"'))


def test_a_golem_whose_time_has_come_leaves_a_testament_and_beats_no_more(
    equipped: App, clock: MovableClock, tmp_path: Path
) -> None:
    short_lived(equipped)
    app, _ = golem(equipped, "", life__profile="mayfly")
    logged: list[str] = []
    heart = beating.require(app, logged.append)
    for _ in range(3):
        if heart.is_dead():
            break
        heart.beat()
        clock.move(timedelta(minutes=20))
    assert heart.is_dead()
    assert Path(heart.testament()).is_file()
    assert any("this life is over (stochastic)" in line for line in logged)
    assert any(heart.testament() in each.text for each in build(app).notices.unseen())
    with pytest.raises(TestamentError, match="was retired"):
        heart.beat()
    app.close()


def test_a_golem_that_was_killed_while_it_was_retired_goes_on_with_that(equipped: App, tmp_path: Path) -> None:
    app, _ = golem(equipped, "")
    heart, target = beating.require(app), tmp_path / "left.testament"
    retired.thanatopsis(app).accept(Cause.ECONOMIC, Wishes(str(target)))
    with pytest.raises(TestamentError, match="was retired"):
        heart.beat()
    assert heart.is_dead()
    assert target.is_file()
    app.close()
