"""What tests of several folders use: the installed program in a process of its own, and the scripts of tools/."""

import importlib.util
import os
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


def tool(name: str) -> ModuleType:
    """A script of tools/ as a module."""
    spec = importlib.util.spec_from_file_location(f"tools_{name}", ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
