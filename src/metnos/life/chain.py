"""Reading a chain: transactions of finished blocks, from any server that speaks Ethereum's JSON-RPC, through web3.

Rules: it only reads; there is no key of an account anywhere in Metnos. web3 is loaded when a chain is first asked, and
is an extra (`defi`). The server is the one that the owner set, and is spoken to by `chain_line` alone. What it says is
content from outside: every field is checked, numbers are held to what a chain can have, and a block that does not hold
what it should, or takes too long to be told, is refused whole.

Does not guarantee that what a server says is true: whoever has to know runs a node of their own. A block that a chain
later takes back has been seen and stays an episode; `confirmations` says how far behind the head to stay.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from metnos.core.errors import ChainError, ExecutorFailed, SettingsError
from metnos.grimoire.domain import Domain
from metnos.life import chain_line
from metnos.life.chain_line import Line, Resolve
from metnos.life.chain_rules import Log, Transaction, plain
from metnos.sandbox.web import resolve_host

if TYPE_CHECKING:
    from web3 import Web3
    from web3.contract.base_contract import BaseContractEvent

    Decoder = tuple[str, BaseContractEvent]

T = TypeVar("T")

_MOST = 5000  # transactions of one block: more than any chain has put into one
_PATIENCE = 6  # times the time of one answer for one block: where receipts come one by one, a server could hold us
_LARGEST = 2**256  # a chain's own numbers end below it
_ADDRESS = re.compile(r"0x[0-9a-f]{40}")
_FRAMES = 1000  # Python's own limit
_STORED = 2**63  # what is counted ends below it: a store holds no more


@dataclass(frozen=True, slots=True)
class Head:
    """Where a chain is: its number, and its newest block."""

    chain: int
    block: int


class Chain:
    """One chain, by one server. For one thread."""

    def __init__(
        self, url: str, pack: Domain, *, key: str = "", timeout_s: float = 10.0, resolve: Resolve = resolve_host
    ) -> None:
        self._line, self._pack, self._patience_s = Line(url, key, timeout_s, resolve), pack, _PATIENCE * timeout_s
        self._made: Web3 | None = None
        self._decoders: dict[bytes, list[Decoder]] = {}
        self._by_block = True  # until a server says that it cannot give all receipts of a block at once

    def head(self) -> Head:
        """Where the chain is now."""
        web3 = self._web3()
        return Head(
            self._asked("its number", lambda: _whole(web3.eth.chain_id, _STORED)),
            self._asked("its newest block", lambda: _whole(web3.eth.block_number, _STORED)),
        )

    def transactions(self, block: int, chain: int) -> list[Transaction]:
        """The transactions of one block, in their order."""
        with self._line.within(self._patience_s):
            return self._read(self._web3(), block, chain)

    def _read(self, web3: "Web3", block: int, chain: int) -> list[Transaction]:
        found = self._asked(f"block {block}", lambda: web3.eth.get_block(block, full_transactions=True))
        try:
            sent = list(found["transactions"])
            if len(sent) > _MOST:
                raise ValueError(f"{len(sent)} transactions")
            receipts = self._receipts(web3, block, sent)
            ts = datetime.fromtimestamp(int(found["timestamp"]), UTC)
            return [self._transaction(tx, receipts, block, chain, ts) for tx in sent if isinstance(tx, Mapping)]
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, OSError) as error:
            raise ChainError(
                f"block {block} does not hold what a block should ({type(error).__name__})",
                fix="The server of `life.rpc` may be broken, or not be one of a chain: try another.",
            ) from error

    # -- asking

    def _web3(self) -> "Web3":
        if self._made is not None:
            return self._made
        try:
            from web3 import Web3
            from web3.middleware import ExtraDataToPOAMiddleware
        except ImportError as error:
            raise SettingsError(
                "what reads a chain is not installed", fix="Install it: pip install 'metnos[defi]'."
            ) from error
        # The virtual machine that web3 loads, where it is installed, raises it a hundred times for the whole process:
        # then brackets without end, in any JSON from anywhere, are no error any more but the end of the process.
        sys.setrecursionlimit(_FRAMES)
        web3 = Web3(chain_line.provider(self._line))
        web3.middleware_onion.inject(ExtraDataToPOAMiddleware, layer=0)  # chains of known authorities say more
        self._decoders = _decoders(web3, self._pack)
        self._made = web3
        return web3

    def _asked(self, what: str, ask: Callable[[], T]) -> T:
        from web3.exceptions import Web3Exception

        try:
            return ask()
        except ExecutorFailed as error:
            raise ChainError(
                f"the chain's server did not say {what}: {error.what}",
                fix="Check `life.rpc`, and whether the server is there.",
            ) from error
        except Web3Exception as error:
            raise ChainError(
                f"the chain's server did not say {what} ({type(error).__name__})",
                fix="Check `life.rpc`, and whether the server is there.",
            ) from error
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            raise ChainError(
                f"the chain's server said {what} in a way that nobody understands ({type(error).__name__})",
                fix="It may not be a server of a chain: check `life.rpc`.",
            ) from error

    def _receipts(self, web3: "Web3", block: int, sent: Sequence[Any]) -> dict[str, Mapping[str, Any]]:
        """The receipts of a block by transaction: all at once where the server can, else one by one."""
        if not sent:
            return {}
        if self._by_block:
            try:
                found = self._asked("receipts", lambda: web3.eth.get_block_receipts(block))
                return {_hex(each["transactionHash"]): dict(each) for each in found}
            except ChainError:  # many servers do not have this; one that is gone does not do what comes now either
                pass
        singly: dict[str, Mapping[str, Any]] = {
            _hex(tx["hash"]): dict(
                self._asked("a receipt", lambda tx=tx: web3.eth.get_transaction_receipt(tx["hash"]))  # type: ignore[misc]  # of a lambda with a default
            )
            for tx in sent
        }
        self._by_block = False
        return singly

    # -- reading

    def _transaction(
        self, tx: Mapping[str, Any], receipts: Mapping[str, Mapping[str, Any]], block: int, chain: int, ts: datetime
    ) -> Transaction:
        key = _hex(tx["hash"])
        receipt = receipts[key]
        price = receipt.get("effectiveGasPrice") or tx.get("gasPrice") or 0
        return Transaction(
            chain=chain,
            block=block,
            index=_whole(tx["transactionIndex"], _STORED),
            ts=ts,
            hash=key,
            sender=_address(tx["from"]),
            to=_address(to) if (to := tx.get("to")) else "",
            value=_whole(tx["value"], _LARGEST),
            gas_used=_whole(receipt["gasUsed"], _STORED),
            gas_price=_whole(price, _LARGEST),
            ok=int(receipt.get("status", 1)) == 1,
            called=len(bytes(tx.get("input") or b"")) > 0,
            logs=tuple(self._log(each) for each in receipt.get("logs", ())),
        )

    def _log(self, log: Mapping[str, Any]) -> Log:
        address = _address(log["address"])
        topics = [bytes(topic) for topic in log["topics"]]
        for kind, event in self._decoders.get(topics[0], ()) if topics else ():
            args = _decoded(event, log)
            if args is not None:
                return Log(address, kind, args)
        return Log(address, "", {"topic": "0x" + topics[0].hex()} if topics else {})


def _decoders(web3: "Web3", pack: Domain) -> "dict[bytes, list[Decoder]]":
    """For each first topic, the events of the pack that look so; two may differ in what is indexed."""
    found: dict[bytes, list[Decoder]] = {}
    for kind, event in pack.events.items():
        if event.signature:
            abi = abi_of(event.signature)
            types = ",".join(each["type"] for each in abi["inputs"])
            topic = bytes(web3.keccak(text=f"{abi['name']}({types})"))
            made = getattr(web3.eth.contract(abi=[abi]).events, abi["name"])()
            found.setdefault(topic, []).append((kind, made))
    return found


def abi_of(signature: str) -> dict[str, Any]:
    """An event as contracts describe it, from how a pack writes it."""
    name, _, rest = signature.partition("(")
    return {"type": "event", "name": name, "anonymous": False, "inputs": list(_inputs(rest.rstrip(")")))}


def _inputs(text: str) -> Iterator[dict[str, Any]]:
    for each in filter(None, text.split(", ")):
        kind, *rest = each.split(" ")
        full = kind.replace("uint[", "uint256[").replace("int[", "int256[") if "[" in kind else kind
        full = {"uint": "uint256", "int": "int256"}.get(full, full)
        yield {"type": full, "name": rest[-1], "indexed": rest[0] == "indexed" and len(rest) == 2}


def _decoded(event: "BaseContractEvent", log: Mapping[str, Any]) -> dict[str, Any] | None:
    """A log's arguments; nothing if it is not what its topic says."""
    from eth_abi.exceptions import DecodingError
    from web3.exceptions import Web3Exception

    try:
        return {name: plain(value) for name, value in event.process_log(log)["args"].items()}
    except (Web3Exception, DecodingError, ValueError, TypeError, KeyError):
        return None


def _hex(value: Any) -> str:
    """The digest of a transaction."""
    digest = bytes(value)
    if len(digest) != 32:
        raise ValueError("no digest")
    return "0x" + digest.hex()


def _address(value: Any) -> str:
    """An address, and no other text: it becomes the name of what an episode is about."""
    text = str(value).lower()
    if not _ADDRESS.fullmatch(text):
        raise ValueError("no address")
    return text


def _whole(value: Any, most: int) -> int:
    number = int(value)
    if not 0 <= number < most:
        raise ValueError("no number that a chain can have")
    return number
