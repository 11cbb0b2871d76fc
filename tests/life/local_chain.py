"""A real local chain behind real HTTP: the Python EVM of eth-tester, which runs every transaction; or anvil, if it is
installed. Contracts are a few bytes of machine code, so that no compiler is needed.
"""

import json
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ETH = 10**18
ENGINES = ("eth-tester", *(["anvil"] if shutil.which("anvil") else []))


class Refusal(Exception):
    """What a server says of a method that it does not have, or of parameters that it cannot take."""


class Account:
    """Sends transactions by the chain's own JSON-RPC, from one account that the chain itself keeps."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.own, self.other = self.ask("eth_accounts", [])[:2]

    def ask(self, method: str, params: Sequence[Any]) -> Any:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params)}).encode()
        request = urllib.request.Request(self.url, body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as reply:
            said = json.loads(reply.read())
        if "error" in said:
            raise Refusal(said["error"]["message"])
        return said["result"]

    def send(self, to: str = "", *, value: int = 0, data: str = "0x", gas: int = 200_000) -> dict[str, Any]:
        """One transaction in one block; its receipt."""
        wanted = {"from": self.own, "value": hex(value), "gas": hex(gas), "data": data} | ({"to": to} if to else {})
        key = self.ask("eth_sendTransaction", [wanted])
        for _ in range(3000):
            receipt = self.ask("eth_getTransactionReceipt", [key])
            if receipt is not None:
                return dict(receipt)
            time.sleep(0.02)
        raise TimeoutError(key)

    def put(self, code: bytes) -> str:
        """A contract with this machine code; its address."""
        copies = bytes([0x60, len(code), 0x60, 12, 0x60, 0, 0x39, 0x60, len(code), 0x60, 0, 0xF3])
        return str(self.send(data="0x" + (copies + code).hex(), gas=1_000_000)["contractAddress"]).lower()

    @property
    def block(self) -> int:
        return int(self.ask("eth_blockNumber", []), 16)


def speaker(topics: int) -> bytes:
    """A contract that says what it is told: the first words of the call are topics, the rest is the log's data."""
    words = 32 * topics
    size = bytes([0x60, words, 0x36, 0x03])  # calldatasize - words
    copy = size + bytes([0x60, words, 0x60, 0, 0x37])
    pushed = b"".join(bytes([0x60, 32 * place, 0x35]) for place in reversed(range(topics)))
    return copy + pushed + size + bytes([0x60, 0, 0xA0 + topics, 0x00])


REFUSER = bytes([0x60, 0, 0x60, 0, 0xFD])  # a contract that reverts whatever it is asked


def said(topic: bytes, *words: int) -> str:
    """The call that makes a speaker say this."""
    return "0x" + (topic + b"".join(word.to_bytes(32, "big") for word in words)).hex()


@contextmanager
def chain(engine: str = "eth-tester", *, without: Sequence[str] = ()) -> Iterator[str]:
    """The address of a running chain. ``without``: methods that it does not have."""
    if engine == "anvil":
        with _anvil() as url:
            yield url
        return
    with serving(_handler(without)) as url:
        yield url


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler], *, patient: bool = True) -> Iterator[str]:
    """The address of a server in a thread. Who is not ``patient`` does not wait for those that it still talks with."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        (server.server_close if patient else server.socket.close)()


@contextmanager
def _anvil() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen(["anvil", "--port", str(port), "--silent"]) as process:
        try:
            for _ in range(3000):
                try:
                    Account(f"http://127.0.0.1:{port}")
                    break
                except OSError:
                    time.sleep(0.02)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def _handler(without: Sequence[str]) -> type[BaseHTTPRequestHandler]:
    limit = sys.getrecursionlimit()
    from eth_tester import EthereumTester, PyEVMBackend  # type: ignore[import-untyped]  # says nothing of its types
    from web3 import Web3
    from web3.providers.eth_tester import EthereumTesterProvider
    from web3.types import RPCEndpoint

    web3 = Web3(EthereumTesterProvider(EthereumTester(PyEVMBackend())))
    # The engine raises it tenfold for the whole process, and whatever nests deeply then ends it instead of failing.
    sys.setrecursionlimit(limit)
    one_at_a_time = threading.Lock()

    def ask(method: str, params: list[Any]) -> Any:
        return web3.manager.request_blocking(RPCEndpoint(method), params)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            said: dict[str, Any] = {"jsonrpc": "2.0", "id": asked["id"]}
            try:
                if asked["method"] in without:
                    raise Refusal(f"the method {asked['method']} does not exist")
                with one_at_a_time:
                    said["result"] = _as_json(_answer(ask, asked["method"], asked.get("params", [])))
            except Exception as error:
                said["error"] = {"code": -32601 if isinstance(error, Refusal) else -32000, "message": str(error)}
            body = json.dumps(said).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    return Handler


def _answer(ask: Callable[[str, list[Any]], Any], method: str, params: list[Any]) -> Any:
    """What the chain says; eth-tester knows no receipts by block, and gives only the keys of a block's transactions."""
    if method == "eth_getBlockReceipts":
        block = ask("eth_getBlockByNumber", [params[0], False])
        return [ask("eth_getTransactionReceipt", [key]) for key in block["transactions"]]
    try:
        found = ask(method, params)
        if method == "eth_getBlockByNumber" and found is not None and params[1]:
            keys = ask(method, [params[0], False])["transactions"]
            whole = [ask("eth_getTransactionByHash", [key]) for key in keys]
            found = {**found, "transactions": whole}
        return found
    except Exception as error:
        if "NotFound" in type(error).__name__:
            return None
        raise


def _as_json(value: Any) -> Any:
    """What a chain says, as JSON-RPC writes it: numbers and bytes in base sixteen."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return hex(value)
    if isinstance(value, bytes):
        return "0x" + value.hex()
    if hasattr(value, "items"):
        return {key: _as_json(each) for key, each in value.items()}
    return [_as_json(each) for each in value]
