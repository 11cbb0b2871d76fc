"""Reading a real local chain, and servers that are none."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from life.local_chain import ENGINES, ETH, REFUSER, Account, chain, said, serving, speaker
from metnos.core.errors import ChainError, Refused, SettingsError
from metnos.life import pack
from metnos.life.chain import Chain, abi_of
from metnos.life.chain_rules import event_of
from metnos.life.event import Event
from tables import try_each

DEFI = pack.read("defi")


def topic(signature: str) -> bytes:
    from eth_utils.crypto import keccak

    return bytes(keccak(text=signature))


def events(url: str) -> list[Event]:
    reader = Chain(url, DEFI)
    head = reader.head()
    return [event_of(tx, DEFI) for block in range(1, head.block + 1) for tx in reader.transactions(block, head.chain)]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_what_happens_on_a_chain_is_read_as_events(engine: str) -> None:
    with chain(engine) as url:
        account = Account(url)
        three, four, one = (account.put(speaker(topics)) for topics in (3, 4, 1))
        refuser = account.put(REFUSER)
        account.send(account.other, value=3 * ETH)
        account.send(three, value=ETH, data=said(topic("Transfer(address,address,uint256)"), 5, 6, 7 * 10**20))
        swap = "Swap(address,uint256,uint256,uint256,uint256,address)"
        account.send(three, data=said(topic(swap), 5, 6, 1, 2, 3, 4))
        seized = "LiquidationCall(address,address,address,uint256,uint256,address,bool)"
        account.send(four, data=said(topic(seized), 1, 2, 3, 40, 50, 6, 1))
        account.send(one, data=said(topic("Sync(uint112,uint112)"), 8, 9))
        account.send(one, data=said(topic("Unheard(uint256)"), 8))
        account.send(refuser, gas=60_000)
        found = events(url)
    assert [event.kind for event in found] == [
        *["creation"] * 4, "native_transfer", "transfer", "swap", "liquidation", "sync", "call", "reverted"
    ]  # fmt: skip
    paid, moved, swapped, seized_, _, unheard, failed = found[4:]
    assert (paid.payload["value_eth"], paid.payload["gas_used"], paid.about) == (3.0, 21_000, "native")
    assert moved.about == three
    assert moved.payload["logs"][0]["args"]["value"] == "700000000000000000000"
    assert moved.payload["logs"][0]["args"]["to"].lower() == "0x" + "0" * 39 + "6"
    assert swapped.payload["logs"][0]["args"]["amount1Out"] == 4
    assert seized_.payload["logs"][0]["args"]["receiveAToken"] is True
    assert unheard.payload["logs"][0]["kind"] == ""
    assert (failed.about, failed.payload["ok"]) == (refuser, False)
    assert all(event.payload["gas_used"] >= 21_000 and event.payload["gas_price_gwei"] > 0 for event in found)
    assert len({event.source for event in found}) == len(found)


@pytest.mark.slow
def test_a_log_that_is_not_what_its_topic_says_is_kept_undecoded() -> None:
    with chain() as url:
        account = Account(url)
        four = account.put(speaker(4))  # as tokens that are one of a kind say it: the third is indexed too
        account.send(four, data=said(topic("Transfer(address,address,uint256)"), 5, 6, 7))
        found = events(url)[-1]
    assert found.kind == "call"
    assert found.payload["logs"][0]["args"]["topic"].startswith("0xddf252ad")


@pytest.mark.slow
def test_a_server_that_has_no_receipts_by_block_is_asked_one_by_one() -> None:
    with chain(without=["eth_getBlockReceipts"]) as url:
        account = Account(url)
        account.send(account.other, value=ETH)
        account.send(account.other, value=2 * ETH)
        found = events(url)
    assert [event.payload["value_eth"] for event in found] == [1.0, 2.0]


def test_an_empty_block_has_no_transactions() -> None:
    with chain() as url:
        reader = Chain(url, DEFI)
        assert reader.transactions(0, reader.head().chain) == []


def test_a_block_that_is_not_there_yet_is_told_of() -> None:
    with chain() as url, pytest.raises(ChainError, match="block 99"):
        Chain(url, DEFI).transactions(99, 1)


# -- servers that are none


@contextmanager
def server(
    status: int, body: bytes, headers: dict[str, str] | None = None
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A server that says the same to everything; and what it was asked."""
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["content-length"]))
            named = {name.title(): value for name, value in self.headers.items()}  # letter case is anybody's
            asked.append({"body": json.loads(content), **named})
            self.send_response(status)
            for name, value in {"content-length": str(len(body)), **(headers or {})}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    with serving(Handler) as url:
        yield url, asked


@try_each(
    ("status", "body"),
    [
        (200, b"<html>"),
        (200, b"[]"),
        (200, b'{"jsonrpc": "2.0", "id": 0}'),
        (200, b'{"jsonrpc": "2.0", "id": 0, "result": "many"}'),
        (200, b'{"jsonrpc": "2.0", "id": 0, "result": null}'),
        (200, b'{"jsonrpc": "2.0", "id": 0, "error": {"code": 1, "message": "no"}}'),
        (500, b"{}"),
        (401, b"{}"),
    ],
)
def test_what_is_no_chain_is_an_error_that_says_what_to_do(status: int, body: bytes) -> None:
    with server(status, body) as (url, _), pytest.raises(ChainError) as caught:
        Chain(url, DEFI).head()
    assert "life.rpc" in caught.value.fix


@pytest.mark.parametrize(
    "block",
    [b"{}", b'{"transactions": 5, "timestamp": "0x1"}', b'{"transactions": [{"hash": "0x"}], "timestamp": "0x1"}'],
)
def test_a_block_that_is_none_is_refused_whole(block: bytes) -> None:
    with server(200, b'{"jsonrpc": "2.0", "id": 0, "result": ' + block + b"}") as (url, _), pytest.raises(ChainError):
        Chain(url, DEFI).transactions(1, 1)


def test_a_redirect_is_not_followed_and_the_key_goes_only_to_the_server_that_was_set() -> None:
    with (
        server(200, b'{"jsonrpc": "2.0", "id": 0, "result": "0x1"}') as (elsewhere, stolen),
        server(307, b"", {"location": elsewhere}) as (url, asked),
        pytest.raises(ChainError),
    ):
        Chain(url, DEFI, key="secret").head()
    assert asked[0]["Authorization"] == "Bearer secret"
    assert stolen == []


def test_a_server_that_is_not_there_is_told_of() -> None:
    with pytest.raises(ChainError, match="did not say"):
        Chain("http://127.0.0.1:9", DEFI, timeout_s=0.5).head()


@pytest.mark.parametrize(
    ("url", "leads_to", "error"),
    [
        ("", "127.0.0.1", SettingsError),
        ("ftp://chain.example/", "127.0.0.1", SettingsError),
        ("https://chain.example/", "169.254.169.254", Refused),
        ("https://metadata.google.internal/", "10.0.0.1", Refused),
        ("http://chain.example/", "93.184.216.34", Refused),
    ],
)
def test_where_it_leads_is_asked_of_the_law_first(url: str, leads_to: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        Chain(url, DEFI, resolve=lambda _host, _port: [leads_to]).head()


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "web3", None)
    with pytest.raises(SettingsError, match="not installed") as caught:
        Chain("http://127.0.0.1:9", DEFI).head()
    assert "metnos[defi]" in caught.value.fix


def test_every_signature_of_the_shipped_pack_has_a_topic_of_its_own_form() -> None:
    for kind in DEFI.events.values():
        if kind.signature:
            made = abi_of(kind.signature)
            assert made["name"]
            assert sum(each["indexed"] for each in made["inputs"]) == kind.signature.count(" indexed ")
            assert all(each["type"] and each["name"] for each in made["inputs"])


def test_short_types_are_written_out() -> None:
    assert [each["type"] for each in abi_of("A(uint x, int[] y, uint8[2] z)")["inputs"]] == [
        "uint256",
        "int256[]",
        "uint8[2]",
    ]
