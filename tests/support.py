"""Running ``metnos`` as a person does: the installed program, in a process of its own."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

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
