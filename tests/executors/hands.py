"""Executors written by a test, signed into a real workspace and run through the one door."""

import textwrap
from pathlib import Path
from typing import Any

import tomlkit

from executors.samples import TESTS
from metnos.app import App
from metnos.executors.outcome import Outcome
from metnos.executors.run import Call
from metnos.executors.state import State
from metnos.executors.verdict import Executor
from metnos.law.principal import Autonomy, Channel, Principal, at_terminal
from signing import sign

OWNER = Principal(Channel.TERMINAL, "owner", Autonomy.FULL)
PATH = {"type": "string", "x-path": "read", "description": "What to read."}
TARGET = {"type": "string", "x-path": "write", "description": "What to change."}


def home() -> Path:
    """The test's own home, by its canonical path."""
    return Path.home().resolve()


def place(name: str, text: str = "content") -> Path:
    """A file in the test's own home."""
    path = home() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def give(
    app: App,
    source: str,
    *,
    name: str = "read_files",
    capabilities: dict[str, Any] | None = None,
    args: dict[str, Any] | None = None,
    state: State = State.ACTIVE,
    **fields: Any,
) -> Executor:
    """Sign an executor with this code. Its replies may hold anything."""
    folder = app.workspace.executors / name
    if folder.exists():
        name_there = app.catalog.look(name)
        assert name_there.executor is not None
        for path in folder.iterdir():
            path.unlink()
    folder.mkdir(exist_ok=True)
    manifest = {
        "name": name,
        "version": "7.0.0",
        "purpose": "A test's own.",
        "kind": "producer",
        "reversal": "nothing",
        **fields,
        "args": {"type": "object", "properties": args or {}},
        "output": {"type": "object", "properties": {"any": {}}, "additionalProperties": True},
        "capabilities": capabilities or {},
        "examples": [{"say": "do it", "args": {key: f"~/{key}" for key in args or {}}}],
    }
    (folder / "manifest.toml").write_text(tomlkit.dumps(manifest), encoding="utf-8")
    (folder / "executor.py").write_text(textwrap.dedent(source), encoding="utf-8")
    (folder / "tests.toml").write_text(TESTS, encoding="utf-8")
    return sign(app, name, "for a test", state=state)


def mutator(app: App, source: str, *, reversal: str = "restore_content", **fields: Any) -> Executor:
    """Sign one that changes what its argument ``target`` names."""
    can = {"fs": {"write": ["~/**"]}}
    fields = {"capabilities": can, "args": {"target": TARGET}, "name": "write_files", **fields}
    return give(app, source, kind="mutator", reversal=reversal, **fields)


def run(app: App, name: str = "read_files", principal: Principal = OWNER, **args: Any) -> Outcome:
    return app.runner.run(Call(name, args, principal, home()))


def allow_everything_reversible(app: App) -> None:
    """The owner's level for tests that are not about asking."""
    app.set_setting("policy.autonomy", "full", at_terminal())
