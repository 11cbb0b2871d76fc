"""The web page and its API: how soon a page shows something, what it weighs, how fast reads are, how many listen.

The daemon runs as `metnos open` starts it, on a workspace with a graph of 5,000 mnests. Pages are loaded by Chromium
with an empty cache. Reads are compared, over connections that stay open, with a bare Starlette application that returns
the same bytes, served by the same server with the same settings in a process of its own. Listeners hold an event stream
each.
"""

import asyncio
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench import mnestome_made, scratch
from bench.runner import BenchError, Cost, Measure, compare
from metnos import app
from metnos.core import settings_file
from metnos.core.workspace import Workspace
from metnos.law.principal import Autonomy, Channel, of_account

PURPOSE = "the web page: first paint, weight, read rate against a bare application, listeners"

PAGES = ("/", "/inbox", "/memory", "/executors", "/fastpaths", "/night", "/audit", "/settings", "/doctor", "/mnestome")
READS = ("/api/status", "/api/inbox", "/api/executors", "/api/fastpaths", "/api/memory/facts", "/api/mnestome")
_PAINT_MS, _WEIGHT_KB, _GRAPH_KB = 200.0, 300.0, 600.0  # set by the specification
_SLOWER = 2.5  # at least 0.4 times the rate
_LOADS, _ROUNDS, _REQUESTS, _LINES = 9, 9, 400, 8
_WINDOW_MS = 1000  # in which a browser prepares its own parts of a new window; that is no part of a page
_LISTENERS = 200
_BROWSERS = 20  # that they are in
_MNESTS = 5_000
_BARE = """
import sys
import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from metnos.api.http.patience import options
bytes_ = sys.stdin.buffer.read()
async def same(request):
    return Response(bytes_, media_type="application/json")
import socket
door = socket.socket(proto=socket.IPPROTO_TCP); door.bind(("127.0.0.1", 0)); door.listen(256)
print(door.getsockname()[1], flush=True)
server = uvicorn.Server(uvicorn.Config(Starlette(routes=[Route("/{path:path}", same)]), **options(lambda *_: True)))
server.run(sockets=[door])
"""


@dataclass(frozen=True, slots=True)
class Home:
    """A daemon that runs, and what lets one in."""

    address: str
    cookie: str
    link: str
    cookies: tuple[str, ...]  # of as many browsers as it takes to listen: each holds so many streams and no more

    @property
    def port(self) -> int:
        return urlsplit(self.address).port or 80


def run(_data: Path) -> list[Measure]:
    with scratch.folder() as folder, _served(folder) as home:
        return [*_pages(home), *(_read(home, path) for path in READS), _listening(home)]


@contextlib.contextmanager
def _served(folder: Path) -> Iterator[Home]:
    """A daemon on a workspace with a large graph. How often one may ask is set so high that it does not count."""
    root = folder / "workspace"
    graph = Workspace(root).mnest_db
    graph.parent.mkdir(parents=True, mode=0o700)
    mnestome_made.make(graph, _MNESTS)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("METNOS_") and name != "DISPLAY"}
    environment = kept | {"HOME": str(folder), "METNOS_WEB__PORT": "0"}

    def metnos(*words: str) -> str:
        line = [sys.executable, "-m", "metnos", "--workspace", str(root), *words]
        done = subprocess.run(line, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode:
            raise BenchError(f"metnos {' '.join(words)}: {done.stderr}")
        return done.stdout

    metnos("init")
    for name, value in (("night.backup", False), ("web.reads_per_s", 1_000_000)):
        settings_file.write_value(root / "metnos.toml", name, value)
    first = json.loads(metnos("open", "--json", "--no-browser"))
    try:
        links = _links(root, first["address"], _BROWSERS + 2)
        cookie, links = _entered(links[0]), links[1:]
        yield Home(first["address"], cookie, links[0], tuple(map(_entered, links[1:])))
    finally:
        metnos("serve", "--stop")


def _links(root: Path, address: str, count: int) -> list[str]:
    """One-time links, as a person at the terminal gets them one by one."""
    opened = app.App.open(Workspace(root))
    try:
        codes = [
            opened.pairing.offer(Channel.WEB, Autonomy.FULL, 10, of_account(Channel.TERMINAL)) for _ in range(count)
        ]
    finally:
        opened.close()
    return [f"{address}/enter?key={code}" for code in codes]


def _entered(link: str) -> str:
    import httpcore

    given = dict(httpcore.request("GET", link).headers)[b"set-cookie"]
    return given.decode().partition(";")[0]


# -- pages


def _pages(home: Home) -> list[Measure]:
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if chromium is None:
        raise BenchError("chromium is not there. On Debian: apt install chromium-headless-shell")
    name, _, secret = home.cookie.partition("=")
    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        cookie: Any = {"name": name, "value": secret, "url": home.address}
        browser.new_context().new_page().goto(f"{home.address}/pair")  # a browser's first page is always slow
        for path in PAGES:
            loads = [_loaded(browser, cookie, home.address + path) for _ in range(_LOADS)]
            heaviest = _GRAPH_KB if path == "/mnestome" else _WEIGHT_KB
            found.append(Measure(f"first paint {path}", "ms", tuple(each[0] for each in loads), limit=_PAINT_MS))
            found.append(Measure(f"weight {path}", "KB", tuple(each[1] for each in loads), limit=heaviest))
        browser.close()
    return found


def _loaded(browser: Any, cookie: Any, address: str) -> tuple[float, float]:
    """First contentful paint in milliseconds, and everything that was loaded in KB, with an empty cache."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_cookies([cookie])
    page = context.new_page()
    page.wait_for_timeout(_WINDOW_MS)
    sizes: list[int] = []

    def arrived(response: Any) -> None:
        if "event-stream" not in response.headers.get("content-type", ""):
            sizes.append(int(response.headers.get("content-length") or 0))

    page.on("response", arrived)
    page.goto(address, wait_until="load")
    page.wait_for_timeout(300)  # what a page asks for when it is there counts too
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1")
    context.close()
    return float(paint), sum(sizes) / 1000


# -- reads


def _read(home: Home, path: str) -> Measure:
    ours = _request(home.port, path, f"Cookie: {home.cookie}\r\n")
    body = _body(home.port, ours)
    with _bare(body) as port:
        theirs = _request(port, "/" + path.strip("/"), "")
        if _body(port, theirs) != body:
            raise BenchError("the bare application does not return the same bytes")
        return compare(
            f"GET {path}",
            "us/request",
            subject=_asking(home.port, ours),
            baseline=_asking(port, theirs),
            rounds=_ROUNDS,
            budget_s=60,
            limit=_SLOWER,
            note=f"{len(body):,} bytes; a bare Starlette application that returns the same",
        )


@contextlib.contextmanager
def _bare(body: bytes) -> Iterator[int]:
    line = [sys.executable, "-c", _BARE]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        if process.stdin is None or process.stdout is None:
            raise BenchError("the bare application cannot be started")
        process.stdin.write(body)
        process.stdin.close()
        port = int(process.stdout.readline())
        time.sleep(1.0)
        try:
            yield port
        finally:
            process.terminate()


def _request(port: int, path: str, more: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{more}\r\n".encode()


def _body(port: int, request: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        line.sendall(request)
        return _answer(line)


def _answer(line: socket.socket) -> bytes:
    """One answer from the line; it has to be a good one."""
    held = b""
    while b"\r\n\r\n" not in held:
        held += line.recv(1 << 16)
    head, _, body = held.partition(b"\r\n\r\n")
    if not head.startswith(b"HTTP/1.1 200"):
        raise BenchError(f"no answer: {head[:200]!r} {body[:200]!r}")
    size = next(int(each[15:]) for each in head.lower().split(b"\r\n") if each.startswith(b"content-length:"))
    parts, got = [body], len(body)
    while got < size:
        parts.append(line.recv(1 << 16))
        got += len(parts[-1])
    return b"".join(parts)


def _asking(port: int, request: bytes) -> Cost:
    """What one request costs, over several connections at once that stay open."""

    def cost() -> float:
        lines = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(_LINES)]
        began = time.perf_counter()
        for _ in range(_REQUESTS // _LINES):
            for line in lines:
                line.sendall(request)
            for line in lines:
                _answer(line)
        took = time.perf_counter() - began
        for line in lines:
            line.close()
        return took * 1e6 / _REQUESTS

    return cost


# -- listeners


def _listening(home: Home) -> Measure:
    """Two hundred who listen while something changes: how many of them did not hear it."""
    failed = asyncio.run(_listeners(home))
    return Measure(f"{_LISTENERS} listeners: not told of a change", "listeners", (float(failed),), limit=0.0)


async def _listeners(home: Home) -> int:
    ready: list[asyncio.Future[None]] = [asyncio.get_running_loop().create_future() for _ in range(_LISTENERS)]
    tasks = [
        asyncio.create_task(_listener(home, home.cookies[number % _BROWSERS], each))
        for number, each in enumerate(ready)
    ]
    await asyncio.wait_for(asyncio.gather(*ready), 60)
    await asyncio.sleep(2)  # all of them hold at once, for a while
    await asyncio.to_thread(_entered, home.link)  # a device came in: that is a change
    heard = await asyncio.gather(*tasks, return_exceptions=True)
    return sum(each is not True for each in heard)


async def _listener(home: Home, cookie: str, ready: "asyncio.Future[None]") -> bool:
    reader, writer = await asyncio.open_connection("127.0.0.1", home.port)
    writer.write(_request(home.port, "/api/events", f"Cookie: {cookie}\r\n"))
    try:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)
        if not head.startswith(b"HTTP/1.1 200"):
            raise BenchError(head.decode())
        ready.set_result(None)
        await asyncio.sleep(1)
        heard = await asyncio.wait_for(_until_data(reader), 60)
    finally:
        if not ready.done():
            ready.set_result(None)
        writer.close()
    return heard


async def _until_data(reader: asyncio.StreamReader) -> bool:
    while line := await reader.readline():
        if line.startswith(b"data:"):
            return True
    return False
