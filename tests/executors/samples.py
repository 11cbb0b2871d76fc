"""Small executors for tests, written into a folder as a person would write them, and a catalog to put them into."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from metnos.core.clock import Clock, MovableClock
from metnos.core.sections import Settings
from metnos.core.workspace import Workspace
from metnos.executors.catalog import Catalog
from metnos.executors.schema import MIGRATIONS
from metnos.law import founding
from metnos.law.audit import Audit
from metnos.law.audit_line import AuditLine
from metnos.store.db import Database

START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)

MANIFEST = """\
name = "{name}"
version = "{version}"
purpose = "Find files below a folder."
kind = "producer"
affinity = ["search", "locate"]
reversal = "nothing"

[args]
required = ["path"]
[args.properties.path]
type = "string"
x-path = "read"
description = "The folder to look in."
[args.properties.pattern]
type = "string"
default = "*"
description = "What the names must look like."
[args.properties.depth]
type = "integer"
minimum = 1
description = "How deep to look."

[output]
type = "object"
required = ["path"]
[output.properties.path]
type = "string"
[output.properties.size]
type = "integer"

[capabilities]
fs.read = ["/**"]

[[examples]]
say = "find the PDFs in my downloads"
args = {{ path = "~/Downloads", pattern = "*.pdf" }}
"""

SOURCE = """\
import fnmatch
import os


def run(args, ctx):
    entries = []
    for folder, _, names in os.walk(args["path"]):
        entries += [{"path": os.path.join(folder, name)} for name in fnmatch.filter(names, args["pattern"])]
    return {"entries": entries[: ctx.limit], "total": len(entries)}
"""

TESTS = """\
[[test]]
name = "finds by pattern"
args = { path = "{box}", pattern = "*.pdf" }
files = { "a.pdf" = "x" }
expect = { count = 1 }

[[test]]
name = "finds nothing"
args = { path = "{box}" }
expect = { count = 0 }

[[test]]
name = "says when the folder is missing"
args = { path = "{box}/nowhere" }
expect_error = "not_found"
"""


def manifest_text(name: str = "find_files", version: str = "1.0.0", **changes: str) -> str:
    """A sound manifest; ``changes`` replaces, by whole top-level lines, such as ``kind='"mutator"'``."""
    lines = MANIFEST.format(name=name, version=version).splitlines()
    for key, value in changes.items():
        (at,) = [number for number, line in enumerate(lines) if line.startswith(f"{key} = ")]
        lines[at] = f"{key} = {value}"
    return "\n".join(lines) + "\n"


def sample_files(name: str = "find_files", **changes: Any) -> dict[str, bytes]:
    """The three files of a sound executor; ``source``, ``tests`` and ``manifest`` replace one whole."""
    source = changes.pop("source", SOURCE)
    tests = changes.pop("tests", TESTS)
    manifest = changes.pop("manifest", None) or manifest_text(name, **changes)
    return {"manifest.toml": manifest.encode(), "executor.py": source.encode(), "tests.toml": tests.encode()}


def write_sample(folder: Path, name: str = "find_files", **changes: Any) -> Path:
    """Write a sample into ``folder/name`` (``folder`` is the workspace's executors folder); returns its folder."""
    home = folder / name
    home.mkdir(parents=True, exist_ok=True)
    for file, content in sample_files(name, **changes).items():
        (home / file).write_bytes(content)
    return home


@dataclass(frozen=True, slots=True)
class Shop:
    """A founded workspace with its catalog."""

    workspace: Workspace
    catalog: Catalog
    audit: Audit
    clock: Clock

    @property
    def folder(self) -> Path:
        return self.workspace.executors

    def lines(self, kind: str) -> list[AuditLine]:
        """The audit lines of one kind, the oldest first, without the intents."""
        found = [line for line in self.audit.newest() if line.kind == kind]
        return [line for line in found[::-1] if line.entry.names.get("phase") != "intent"]


def open_shop(root: Path, clock: Clock | None = None, **limits: Any) -> Shop:
    """A workspace below ``root``, founded if it is not yet; ``limits`` are settings of ``[executors]``."""
    clock = clock or MovableClock(START)
    settings = Settings(executors=limits)
    workspace = Workspace(root / "workspace")
    if not workspace.exists():
        founding.found(workspace, settings, clock)
    seat = founding.take_seat(workspace, settings, clock)
    db = Database(workspace.mnest_db, MIGRATIONS, busy_timeout_s=60, clock=clock)
    catalog = Catalog(workspace, db, seat.audit, seat.signer, clock, settings.executors, lambda _digest, _origin: "")
    return Shop(workspace, catalog, seat.audit, clock)
