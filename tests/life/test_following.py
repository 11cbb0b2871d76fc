"""Following a real local chain: what is new becomes episodes, once."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from life.local_chain import ETH, Account, chain, said, speaker
from life.test_chain import topic
from life.watching import DEFI, Watching
from metnos.core.clock import MovableClock
from metnos.grimoire.domain import event_of
from metnos.grimoire.episode import Episode, Where
from metnos.grimoire.fact import Kind
from metnos.life.chain import Chain
from metnos.life.following import Following, FollowRules
from metnos.life.triage import TriageRules

TRANSFER = topic("Transfer(address,address,uint256)")
AT_HEAD = FollowRules(confirmations=0)


@pytest.fixture
def mind(tmp_path: Path, clock: MovableClock) -> Watching:
    return Watching(tmp_path, clock)


@pytest.fixture
def account() -> Iterator[Account]:
    with chain() as url:
        yield Account(url)


def following(account: Account, mind: Watching, rules: FollowRules = AT_HEAD, room: int = 200) -> Following:
    return Following(Chain(account.url, DEFI), mind, mind.places, rules, TriageRules(room=room))


def episodes(mind: Watching) -> list[Episode]:
    return mind.episodes.select(Where(), count=1000)


@pytest.mark.slow
def test_it_begins_with_the_newest_block_and_goes_on_from_there(account: Account, mind: Watching) -> None:
    account.send(account.other, value=ETH)
    account.send(account.other, value=2 * ETH)
    follows = following(account, mind)
    first = follows.capture()
    assert (first.counts, first.fresh) == ({"blocks": 1, "events": 1, "remembered": 1}, 1)
    assert [each.payload["value_eth"] for each in episodes(mind)] == [2.0]
    assert follows.capture().counts == {}
    account.send(account.other, value=3 * ETH)
    assert follows.capture().counts == {"blocks": 1, "events": 1, "remembered": 1}


@pytest.mark.slow
def test_an_episode_holds_what_happened_and_what_it_felt_like(account: Account, mind: Watching) -> None:
    contract = account.put(speaker(3))
    account.send(contract, value=ETH, data=said(TRANSFER, 5, 6, 7))
    came = following(account, mind).capture()
    (episode,) = episodes(mind)
    assert (event_of(episode), episode.domain) == ("transfer", contract)
    assert DEFI.key_of(episode) == contract
    assert episode.payload["tx"].startswith("0x")
    assert came.curious == pytest.approx(episode.curiosity)
    assert episode.pad.arousal != 0.0


@pytest.mark.slow
def test_it_stays_behind_the_head(account: Account, mind: Watching) -> None:
    for _ in range(4):
        account.send(account.other, value=ETH)
    follows = following(account, mind, FollowRules(confirmations=2))
    follows.capture()
    assert [each.payload["block"] for each in episodes(mind)] == [2]
    account.send(account.other, value=ETH)
    follows.capture()
    assert [each.payload["block"] for each in episodes(mind)] == [2, 3]


@pytest.mark.slow
def test_a_chain_that_is_younger_than_that_is_read_from_its_beginning(account: Account, mind: Watching) -> None:
    assert following(account, mind, FollowRules(confirmations=9)).capture().counts == {}
    account.send(account.other, value=ETH)
    assert following(account, mind).capture().counts["blocks"] == 1


@pytest.mark.slow
def test_a_process_that_died_after_remembering_reads_a_block_twice_and_remembers_it_once(
    account: Account, mind: Watching
) -> None:
    account.send(account.other, value=ETH)
    following(account, mind).capture()
    account.send(account.other, value=ETH)
    following(account, mind).capture()
    source = mind.life.first("SELECT source FROM places")
    assert source is not None
    mind.places.put(str(source[0]), 1)
    assert following(account, mind).capture().counts["blocks"] == 1
    assert len(episodes(mind)) == 2


@pytest.mark.slow
def test_each_beat_reads_only_so_much_and_who_was_away_for_long_begins_near_the_head(
    account: Account, mind: Watching
) -> None:
    rules = FollowRules(confirmations=0, blocks=2, behind=3)
    following(account, mind, rules).capture()
    for _ in range(6):
        account.send(account.other, value=ETH)
    assert following(account, mind, rules).capture().counts == {
        "skipped": 3, "blocks": 2, "events": 2, "remembered": 2
    }  # fmt: skip
    assert following(account, mind, rules).capture().counts == {"blocks": 1, "events": 1, "remembered": 1}


def test_what_there_is_no_room_for_is_counted_and_left(account: Account, mind: Watching) -> None:
    account.send(account.other, value=ETH)
    assert following(account, mind, room=0).capture().counts == {"blocks": 1, "events": 1}


@pytest.mark.slow
def test_value_and_gas_baselines_of_each_protocol_are_learnt_and_then_what_is_odd_stands_out(
    account: Account, mind: Watching, clock: MovableClock
) -> None:
    pool, lending = account.put(speaker(3)), account.put(speaker(3))
    follows, chance = following(account, mind), random.Random(1)
    follows.capture()
    for _ in range(12):
        account.send(pool, value=int(chance.gauss(1.0, 0.1) * ETH), data=said(TRANSFER, 5, 6, 7))
        account.send(lending, value=int(chance.gauss(5.0, 0.1) * ETH), data=said(TRANSFER, 5, 6, 7, 8))
    follows.capture()
    cycle = mind.consolidate(60.0)
    assert cycle is not None
    assert cycle.finished
    facts = mind.facts.find(kinds=(Kind.BASELINE,), domains=(pool,), count=10)
    assert {fact.data["metric"]: fact.tags[0] for fact in facts} == {
        "value (ETH)": "liquidity_conditions",
        "gas used": "fee_optimization",
        "gas price (gwei)": "gas_timing",
    }
    assert mind.usual(pool)["value (ETH)"].mean == pytest.approx(1.0, abs=0.1)
    assert mind.usual(lending)["value (ETH)"].mean == pytest.approx(5.0, abs=0.1)

    account.send(pool, value=ETH, data=said(TRANSFER, 5, 6, 7))
    usual = follows.capture()
    account.send(pool, value=5 * ETH, data=said(TRANSFER, 5, 6, 7))  # common at the other one
    odd = follows.capture()
    assert usual.curious < 0.5 < odd.curious
