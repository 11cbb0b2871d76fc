"""One call in its pieces: manifests and executors that a test writes down, and ways out that only note."""

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from metnos.core.errors import ExecutorFailed
from metnos.core.workspace import Workspace
from metnos.executors.broker import Broker
from metnos.executors.effect_rules import Doing
from metnos.executors.manifest import Manifest
from metnos.executors.prepare import Place, Prepared, prepare
from metnos.executors.reach import Reach
from metnos.executors.signature import Origin
from metnos.executors.state import State
from metnos.executors.verdict import Executor
from metnos.law.need import Need
from metnos.sandbox.web import Fetched

READ = {"type": "string", "x-path": "read", "description": "What to read."}
READS = {"type": "array", "items": {"type": "string"}, "x-path": "read", "description": "What to read."}
WRITE = {"type": "string", "x-path": "write", "description": "What to change."}
WRITES = {"type": "array", "items": {"type": "string"}, "x-path": "write", "description": "What to change."}
ADDRESS = {"type": "string", "format": "uri", "description": "What to fetch."}
ELSEWHERE = "93.184.215.14"  # an address outside every home
AT_HOME = "192.168.1.7"


def manifest(
    args: Mapping[str, Any] | None = None, capabilities: Mapping[str, Any] | None = None, **fields: Any
) -> Manifest:
    """A producer whose entries may hold anything, unless ``fields`` say otherwise."""
    told = {
        "name": "read_files",
        "version": "1.0.0",
        "purpose": "A test's own.",
        "kind": "producer",
        "reversal": "nothing",
        "args": {"type": "object", "properties": dict(args or {})},
        "output": {"type": "object", "properties": {"any": {}}, "additionalProperties": True},
        "capabilities": dict(capabilities or {}),
        "examples": [{"say": "do it", "args": {}}],
    }
    return Manifest.model_validate({**told, **fields})


def mutating(
    reversal: str = "irreversible", args: Mapping[str, Any] | None = None, capabilities: Any = None, **fields: Any
) -> Manifest:
    """A mutator; what it may change is in its capabilities."""
    return manifest(args, capabilities, name="write_files", kind="mutator", reversal=reversal, **fields)


def executor(read: Manifest, source: str, tests: str = "", state: State = State.ACTIVE) -> Executor:
    """An executor as the catalog would hand it out."""
    digest = hashlib.sha256(source.encode()).hexdigest()
    return Executor(
        read.name, read.version, read, source, tests, digest, digest, state, Origin.OWNER, "", None, 1
    )  # fmt: skip


def ready(read: Manifest, home: Path, cwd: Path | None = None, **args: Any) -> Prepared:
    """A call of it, made in ``home``."""
    return prepare(read, args, Place(home, cwd or home, Workspace(home.parent / "workspace")))


@dataclass
class Pages:
    """The web as recorded: each address has a text, or leads on to another address (``-> address``)."""

    pages: Mapping[str, str] = field(default_factory=dict)
    addresses: Mapping[str, str] = field(default_factory=dict)
    careful: bool = True  # whether it asks before it looks a name up
    looked_up: list[str] = field(default_factory=list)
    fetched: list[tuple[str, str]] = field(default_factory=list)

    def fetch(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        *,
        max_bytes: int,
        allow: Callable[[str, str, list[str]], Need],
        screen: Callable[[str, str], None],
        timeout_s: float | None = None,
    ) -> Fetched:
        host = urlsplit(url).hostname or ""
        if self.careful:
            screen(host, method)
        self.looked_up.append(host)
        allow(host, method, [self.addresses.get(host, ELSEWHERE)])
        self.fetched.append((method, url))
        if url not in self.pages:
            raise ExecutorFailed(f"{host} has no such page", kind="unavailable")
        text = self.pages[url]
        if text.startswith("-> "):
            return self.fetch(method, text[3:], headers, body, max_bytes=max_bytes, allow=allow, screen=screen)
        content = text.encode()
        return Fetched(200, dict(headers), content[:max_bytes], url, len(content) > max_bytes)


def reach(
    web: Pages | None = None,
    *,
    call: Callable[[str, Mapping[str, Any]], Any] | None = None,
    chat: Callable[[str, int], str] | None = None,
    undisputed: bool = False,
) -> Reach:
    """Ways out, each of which answers with what it was asked."""
    return Reach(
        web or Pages(),
        facts=lambda what: [{"of": what}],
        call=call or (lambda name, args: {"called": name, "args": dict(args)}),
        chat=chat,
        decide=lambda _: undisputed,
    )


def broker(read: Manifest, prepared: Prepared, doing: Doing, ways: Reach | None = None, shown: Any = None) -> Broker:
    """The broker of one call that has a while to live."""
    return Broker(read, prepared, doing, ways or reach(), shown, time.monotonic() + 60)
