"""What a transaction is, read out of what a chain says of it. Pure: no network, no web3.

One transaction is one event: that is what is paid for and what succeeds or fails as a whole. Its kind is that of its
weightiest log, by the pack; where no log is known, it was a creation, a transfer of the chain's coin, or a call. What
failed is called that, whatever it tried.

Rules: numbers that a float cannot hold exactly are kept as text too. Text that somebody wrote into a log is cut short
and stays in the payload.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from metnos.grimoire.domain import Domain, EventKind
from metnos.life.event import Event

NATIVE, CREATION, CALL, REVERTED = "native_transfer", "creation", "call", "reverted"
_EXACT = 2**53  # beyond this a float, and many a reader of JSON, loses digits
_WEI, _GWEI = 10**18, 10**9
_MOST_LOGS = 20  # of one transaction that are kept
_LONGEST = 120  # characters of a text in a log


@dataclass(frozen=True, slots=True)
class Log:
    """What a contract said. ``kind`` is empty where the pack does not know it."""

    address: str
    kind: str
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Transaction:
    """A transaction and its receipt. Addresses are in small letters; ``to`` is empty for a creation."""

    chain: int
    block: int
    index: int
    ts: datetime
    hash: str
    sender: str
    to: str
    value: int  # wei
    gas_used: int
    gas_price: int  # wei
    ok: bool
    called: bool  # it carried data
    logs: tuple[Log, ...] = ()


def event_of(transaction: Transaction, pack: Domain) -> Event:
    """The event that a transaction is."""
    tx, kind = transaction, kind_of(transaction, pack)
    about = about_of(tx, pack)
    value, price = tx.value / _WEI, tx.gas_price / _GWEI
    payload = {
        "protocol": about,
        "chain": tx.chain,
        "block": tx.block,
        "index": tx.index,
        "tx": tx.hash,
        "from": tx.sender,
        "to": tx.to,
        "value_wei": str(tx.value),
        "value_eth": value,
        "gas_used": tx.gas_used,
        "gas_price_gwei": price,
        "ok": tx.ok,
        "logs": [_said(log) for log in tx.logs[:_MOST_LOGS]],
        "more_logs": max(0, len(tx.logs) - _MOST_LOGS),
    }
    text = f"{kind} at {about}: {value:.6g} ETH, {tx.gas_used} gas at {price:.4g} gwei"
    return Event(kind, about, f"chain {tx.chain} {tx.hash}", tx.ts, text, payload)


def kind_of(transaction: Transaction, pack: Domain) -> str:
    """What a transaction was, in the pack's words."""
    if not transaction.ok:
        return REVERTED
    known = [log.kind for log in transaction.logs if log.kind]
    if known:
        return max(known, key=lambda kind: (pack.events.get(kind, EventKind()).weight, kind))
    if not transaction.to:
        return CREATION
    return CALL if transaction.called else NATIVE


def about_of(transaction: Transaction, pack: Domain) -> str:
    """The protocol that a transaction went to: by name, else by address; what only moved the chain's coin has none."""
    if not transaction.to:
        return CREATION
    if kind_of(transaction, pack) == NATIVE:
        return "native"
    return named(transaction.to, transaction.chain, pack)


def named(address: str, chain: int, pack: Domain) -> str:
    """What an address is called."""
    return pack.names.get(f"{chain}:{address}", address)


def plain(value: Any) -> Any:
    """An argument of a log as JSON holds it."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < _EXACT else str(value)
    if isinstance(value, bytes | bytearray):
        return ("0x" + bytes(value).hex())[:_LONGEST]
    if isinstance(value, list | tuple):
        return [plain(each) for each in value[:_MOST_LOGS]]
    return str(value)[:_LONGEST]


def _said(log: Log) -> dict[str, Any]:
    return {"address": log.address, "kind": log.kind, "args": dict(log.args)}
