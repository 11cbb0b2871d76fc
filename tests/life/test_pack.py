"""Packs: what is shipped, what the owner may write, what is refused."""

from pathlib import Path

import pytest

from grimoire.happened import turn
from metnos.context.blocks import Kind as Block
from metnos.context.budgets import SHAPES, Task, allocate
from metnos.core.errors import SettingsError
from metnos.grimoire.domain import HOME
from metnos.grimoire.fact import Kind
from metnos.life import pack
from metnos.life.pack import SHIPPED

DEFI = (SHIPPED / "defi.toml").read_text(encoding="utf-8")
TWELVE = set(
    "slippage gas_timing route_selection liquidity_conditions regime_transitions risk_events rebalance_timing"
    " range_selection fee_optimization jit_defense tool_guidance strategic_patterns".split()
)


def test_the_shipped_home_is_the_one_that_every_memory_has() -> None:
    assert pack.read("home") == HOME
    assert pack.shapes(HOME) == SHAPES


def test_defi_has_the_seeds_twelve_categories_and_something_is_sorted_under_each() -> None:
    defi = pack.read("defi")
    assert set(defi.insights) == TWELVE
    used = {*defi.categories.values(), *defi.sorting.values(), *(each.category for each in defi.events.values())}
    assert used == TWELVE
    assert set(defi.categories) == set(Kind)


def test_defi_is_sorted_by_measure_then_by_event_then_by_kind() -> None:
    defi = pack.read("defi")
    assert defi.category(Kind.BASELINE, "gas price (gwei)", ["swap"]) == "gas_timing"
    assert defi.category(Kind.PATTERN, "", ["swap"]) == "slippage"
    assert defi.category(Kind.PATTERN, "", ["liquidation", "pause"]) == "risk_events"
    assert defi.category(Kind.PATTERN, "", ["swap", "liquidation"]) == "strategic_patterns"
    assert defi.category(Kind.ANTI) == "risk_events"


def test_defi_clusters_and_measures_by_protocol() -> None:
    defi = pack.read("defi")
    episode = turn(payload={"protocol": "aave_v3", "value_eth": 1.5, "gas_used": 21_000})
    assert defi.key_of(episode) == "aave_v3"
    assert dict(defi.measured(episode)) == {"value (ETH)": 1.5, "gas used": 21_000.0}


def test_the_seeds_tasks_have_the_seeds_budgets() -> None:
    found = pack.shapes(pack.read("defi"))
    trade, anomaly, routine = found[Task.PLAN], found[Task.ANSWER], found[Task.SUMMARISE]
    assert (trade.great, trade.part, trade.reserve, trade.tokens[Block.INSTRUCTION]) == (
        Block.SITUATION,
        0.25,
        600,
        250,
    )
    assert (anomaly.great, anomaly.reserve, anomaly.tokens[Block.REQUEST]) == (Block.EPISODES, 500, 300)
    assert (routine.great, routine.part, routine.tokens[Block.EPISODES]) == (Block.FACTS, 0.25, 400)
    assert found[Task.REFLECT] == SHAPES[Task.REFLECT]
    made = allocate(Task.PLAN, 8192, shapes=found)
    assert sum(made.blocks.values()) <= made.room
    assert made.blocks[Block.SITUATION] > allocate(Task.PLAN, 8192).blocks[Block.SITUATION]


def test_addresses_are_known_by_chain_whatever_their_letter_case() -> None:
    defi = pack.read("defi")
    assert defi.names["1:0x7a250d5630b4cf539739df2c5dacb4c659f2488d"] == "uniswap_v2"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('source = "chain"', 'source = "rumours"', "`source`"),
        ('"slippage", ', "", "'slippage' is not among"),
        ('baseline = "regime_transitions"', 'guess = "regime_transitions"', "no kind of fact 'guess'"),
        ('cluster_key = ["payload.protocol", "domain"]', "cluster_key = []", "`cluster_key`"),
        ('cluster_key = ["payload.protocol"', 'cluster_key = ["payload protocol"', "`cluster_key.0`"),
        ("weight = 0.10", "weight = 2", "weight`"),
        ("Sync(uint112 reserve0, uint112 reserve1)", "Sync(uint112, uint112)", "written like"),
        ("Sync(uint112 reserve0, uint112 reserve1)", "Sync(uint112 a); import os", "written like"),
        ('stands_for = "answer"', 'stands_for = "plan"', "two tasks stand for the same one"),
        ('great = "situation"', 'great = "everything"', "no block 'everything'"),
        ("reserve = 600\n", "", "a budget of its own"),
        ("[names.1]", "[names.main]", "`names.main"),
        ('"0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D"', '"0x7a25"', "`names.1.0x7a25"),
        ("[measures]", "[numbers]", "`numbers`"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert old in DEFI
    (tmp_path / "mine.toml").write_text(DEFI.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        pack.read("mine", tmp_path)
    assert says in caught.value.what


def test_a_pack_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no pack called 'sea'"):
        pack.read("sea", tmp_path)
