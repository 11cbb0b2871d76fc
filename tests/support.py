"""What tests of several folders use: the installed program in a process of its own, and the scripts of tools/."""

import importlib.util
import os
import pty
import select
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]
PROGRAM = Path(sys.executable).with_name("metnos")


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    out: str
    err: str


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


def tool(name: str) -> ModuleType:
    """A script of tools/ as a module."""
    spec = importlib.util.spec_from_file_location(f"tools_{name}", ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
