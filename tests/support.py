"""What tests of several folders use: the installed program in a process of its own, and the scripts of tools/."""

import importlib.util
import multiprocessing
import os
import pty
import select
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from metnos.core.workspace import Workspace
from metnos.law.audit_log import backwards
from metnos.law.principal import Principal, at_terminal
from metnos.sandbox.profile import find_bwrap

ROOT = Path(__file__).parents[1]
PROGRAM = Path(sys.executable).with_name("metnos")
START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)  # when the clock of a test begins


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    out: str
    err: str


Say = Callable[..., Ran]


def metnos(*arguments: str, stdin: str | None = None, **variables: str) -> Ran:
    """One command with the test's own home and workspace."""
    done = subprocess.run(
        [str(PROGRAM), *arguments],
        input=stdin,
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, **variables},
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def on_a_terminal(*arguments: str, typed: str = "") -> Ran:
    """What a person sees and types: the command on a pseudo-terminal."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS="100")
        os.environ.pop("NO_COLOR", None)
        os.execv(PROGRAM, [str(PROGRAM), *arguments])
    waiting = typed.splitlines(keepends=True)
    seen = b""
    while select.select([terminal], [], [], 30)[0]:
        try:
            chunk = os.read(terminal, 1 << 16)
        except OSError:  # the way Linux says that the other side is gone
            break
        seen += chunk
        if waiting and chunk.rstrip().endswith(b":"):
            os.write(terminal, waiting.pop(0).encode())
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    return Ran(os.waitstatus_to_exitcode(status), seen.decode(), "")


def at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run every call in a process of its own, all at the same time; returns what they returned, in no order."""
    context = multiprocessing.get_context("fork")
    results = context.SimpleQueue()
    workers = [context.Process(target=lambda call=call: results.put(call())) for call in calls]
    for worker in workers:
        worker.start()
    returned = []
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
        returned.append(results.get())
    return returned


def on_a_full_disk(code: str, *arguments: str, size: int) -> str:
    """Run Python code with a disk of ``size`` bytes at /mnt (a tmpfs that bubblewrap mounts); what it printed."""
    line = [str(find_bwrap("")), "--bind", "/", "/", "--dev", "/dev", "--size", str(size), "--tmpfs", "/mnt"]
    done = subprocess.run(
        [*line, sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def kinds(workspace: Workspace) -> list[str]:
    """The kinds of all audit lines, the oldest first."""
    return [line.kind for line in backwards(workspace.audit)][::-1]


def agreed(_arrival: object) -> Principal:
    """A person who agrees to a restore."""
    return at_terminal()


def tool(name: str) -> ModuleType:
    """A script of tools/ as a module. What scripts share they import from beside them."""
    spec = importlib.util.spec_from_file_location(f"tools_{name}", ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:  # no longer than that: some have names that folders of tests have, too
        patch.syspath_prepend(str(ROOT / "tools"))
        spec.loader.exec_module(module)
    return module
