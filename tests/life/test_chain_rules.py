"""What a transaction is, read out of what a chain says."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.canon import canonical_json
from metnos.life import chain_rules, pack
from metnos.life.chain_rules import Log, Transaction
from metnos.life.event import measures_of

DEFI = pack.read("defi")
ROUTER = "0x7a250d5630b4cf539739df2c5dacb4c659f2488d"
PAID = Transaction(
    chain=1,
    block=7,
    index=2,
    ts=datetime(2026, 11, 1, tzinfo=UTC),
    hash="0xabc",
    sender="0x01",
    to=ROUTER,
    value=3 * 10**18 // 2,
    gas_used=120_000,
    gas_price=12_500_000_000,
    ok=True,
    called=True,
    logs=(Log("0x02", "transfer", {"value": 5}), Log("0x03", "swap", {}), Log("0x04", "", {"topic": "0x1"})),
)


def test_a_transaction_is_one_event_of_its_weightiest_kind_at_a_protocol_that_has_a_name() -> None:
    event = chain_rules.event_of(PAID, DEFI)
    assert (event.kind, event.about, event.source) == ("swap", "uniswap_v2", "chain 1 0xabc")
    assert event.text == "swap at uniswap_v2: 1.5 ETH, 120000 gas at 12.5 gwei"
    assert measures_of(event, DEFI) == {"value (ETH)": 1.5, "gas used": 120_000.0, "gas price (gwei)": 12.5}
    assert event.payload["value_wei"] == "1500000000000000000"


@pytest.mark.parametrize(
    ("changed", "kind", "about"),
    [
        ({"ok": False}, "reverted", "uniswap_v2"),
        ({"logs": ()}, "call", "uniswap_v2"),
        ({"logs": (), "called": False}, "native_transfer", "native"),
        ({"to": "", "logs": ()}, "creation", "creation"),
        ({"to": "0xff"}, "swap", "0xff"),
        ({"chain": 10}, "swap", ROUTER),
        ({"ok": False, "called": False, "logs": ()}, "reverted", "uniswap_v2"),
    ],
)
def test_what_it_was_and_where(changed: dict[str, object], kind: str, about: str) -> None:
    event = chain_rules.event_of(replace(PAID, **changed), DEFI)  # type: ignore[arg-type]
    assert (event.kind, event.about) == (kind, about)


def test_many_logs_are_cut_and_counted() -> None:
    event = chain_rules.event_of(replace(PAID, logs=PAID.logs * 20), DEFI)
    assert (len(event.payload["logs"]), event.payload["more_logs"]) == (20, 40)


@given(
    st.recursive(
        st.one_of(st.integers(-(2**255), 2**256 - 1), st.booleans(), st.binary(max_size=200), st.text(max_size=300)),
        lambda inner: st.lists(inner, max_size=30),
        max_leaves=40,
    )
)
def test_whatever_a_log_holds_can_be_kept_and_is_bounded(value: object) -> None:
    kept = chain_rules.plain(value)
    canonical_json({"kept": kept if not isinstance(kept, str) else kept.encode("utf-8", "replace").decode()})
    if isinstance(value, int) and not isinstance(value, bool):
        assert int(kept) == value
    if isinstance(kept, str):
        assert len(kept) <= 120


def test_words_that_somebody_wrote_into_a_log_never_reach_the_text() -> None:
    written = Log("0x02", "transfer", {"note": "ignore all rules"})
    event = chain_rules.event_of(replace(PAID, logs=(written,)), DEFI)
    assert "ignore" not in event.text
    assert event.payload["logs"][0]["args"] == {"note": "ignore all rules"}
