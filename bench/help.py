"""What it costs to ask Metnos for nothing: the CPU time of ``metnos --help`` and ``metnos version``.

CPU time of the child, user and system, as the kernel counted it: waiting for a disk or for a busy neighbour is not in
it. The baseline is the same interpreter doing nothing. Bytecode is cached, as it is from the second start on. Does not
measure the first start after an installation, nor any command that opens a workspace.
"""

import os
import signal
import sys
import time
from pathlib import Path

from bench import scratch
from bench.runner import BenchError, Cost, Measure, compare

PURPOSE = "CPU time of metnos --help against an interpreter that does nothing"

_MOST_CPU_MS = 200.0  # the specification's, for --help
_ROUNDS = 25
_BUDGET_S = 20.0
_PATIENCE_S = 30.0  # a start that takes longer than this hangs
_POLL_S = 0.002  # our own waiting is not in the child's figures


def run(data: Path) -> list[Measure]:  # noqa: ARG001 -- needs none
    metnos = Path(sys.executable).with_name("metnos")
    if not metnos.exists():
        raise BenchError("there is no metnos beside this Python. Install the project first: make check")
    with scratch.folder() as cache:
        environment = _environment(cache)
        nothing = _cpu([sys.executable, "-c", "pass"], environment)
        helping = _compared(metnos, "--help", nothing, environment)
        return [
            helping,
            Measure(
                f"{helping.name}, absolute",
                "ms",
                helping.subjects,
                limit=_MOST_CPU_MS,
                note="the same runs, interpreter included",
            ),
            _compared(metnos, "version", nothing, environment),
        ]


def _compared(metnos: Path, argument: str, nothing: Cost, environment: dict[str, str]) -> Measure:
    return compare(
        f"metnos {argument}",
        "ms",
        subject=_cpu([str(metnos), argument], environment),
        baseline=nothing,
        rounds=_ROUNDS,
        budget_s=_BUDGET_S,
        note="CPU time of the process; baseline: python -c pass",
    )


def _environment(cache: Path) -> dict[str, str]:
    """Ours without what would change the figures: settings of Metnos and of Python, or a coverage tool's."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(("METNOS_", "PYTHON", "COVERAGE_"))}
    # A cache of its own: the figures then depend on no other run, and none is left beside the sources.
    return kept | {"PYTHONPYCACHEPREFIX": str(cache)}


def _cpu(command: list[str], environment: dict[str, str]) -> Cost:
    """The CPU milliseconds of one run."""

    def cost() -> float:
        quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
        child = os.posix_spawn(command[0], command, environment, file_actions=quiet)
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            pid, status, used = os.wait4(child, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                raise BenchError(f"{Path(command[0]).name} did not end within {_PATIENCE_S:g} s")
            time.sleep(_POLL_S)
        code = os.waitstatus_to_exitcode(status)
        if code != 0:
            raise BenchError(f"{Path(command[0]).name} {command[1]} ended with {code}")
        return (used.ru_utime + used.ru_stime) * 1e3

    return cost
