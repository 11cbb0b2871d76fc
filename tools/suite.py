"""Run the checks and the tests of this checkout, and leave a record of it in `build/suite.json`.

    python tools/suite.py test     linters, types, layers, sizes and every test
    python tools/suite.py check    the same without the slow tests, and with few examples of each property
    python tools/suite.py cover    every test, with the coverage of lines and branches
    python tools/suite.py soak     what is worth repeating, many times; real models; takes about an hour

Rules: linters run side by side; where one fails, no test is run. The record says which commit was tested, and whether
the tree held anything that is not in that commit, when it began and when it ended.
"""

import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "build" / "suite.json"
BIN = Path(sys.executable).parent

Command = tuple[str, list[str]]

LINT: list[Command] = [
    ("ruff", [str(BIN / "ruff"), "check", "."]),
    ("format", [str(BIN / "ruff"), "format", "--check", "."]),
    ("types", [str(BIN / "mypy"), "--num-workers", "2"]),
    ("layers", [str(BIN / "lint-imports"), "--no-cache"]),
    ("sizes", [sys.executable, "tools/sizes.py"]),
]
ONE_BY_ONE = [str(BIN / "mypy")]  # for when the workers of mypy do not start, as on a machine that is busy
WORKERS = min(os.cpu_count() or 2, 4) + 2  # more than can work at once: many tests wait for a process
PYTEST = [sys.executable, "-m", "pytest", "--workers", str(WORKERS)]
# Each of these opens a whole Metnos in nearly every test; reading them alone takes a third of the time to begin.
WHOLE = [f"--ignore=tests/{each}" for each in ("api", "cli", "escape", "examples", "story", "web/browser")]
# The commands of one list run at the same time.
KINDS: dict[str, list[list[Command]]] = {
    "lint": [LINT],
    "check": [LINT, [("tests", [*PYTEST, "--quick", "-m", "not slow and not soak", *WHOLE])]],
    "test": [LINT, [("tests", [*PYTEST, "-m", "not soak"])]],
    "cover": [[("tests", [*PYTEST, "-m", "not soak", "--cov", "--cov-report=term-missing:skip-covered"])]],
    "soak": [
        [
            (
                "tests",
                [*PYTEST, "--soak", "-m", "soak or repeated", "--timeout", "3600", "-o", "faulthandler_timeout=7200"],
            )
        ]
    ],
}


@dataclass(frozen=True, slots=True)
class Step:
    """One command that was run. CPU seconds are those of every process that it waited for."""

    name: str
    code: int
    seconds: float
    cpu_seconds: float


def run_steps(commands: list[Command]) -> list[Step]:
    """Run commands at the same time. What one of several prints is shown when it has ended."""
    if len(commands) == 1:
        return [run_step(*commands[0], output=None)]
    with ThreadPoolExecutor(len(commands)) as threads, tempfile.TemporaryDirectory() as folder:
        outputs = [Path(folder) / name for name, _ in commands]
        running = [threads.submit(run_step, *each, output) for each, output in zip(commands, outputs, strict=True)]
        steps = []
        for (_, command), output, step in zip(commands, outputs, running, strict=True):
            steps.append(step.result())
            print(_shown(command), output.read_text(encoding="utf-8", errors="replace"), sep="\n", end="", flush=True)
    return steps


def run_step(name: str, command: list[str], output: Path | None) -> Step:
    """Run a command to its end, with its output in a file or where ours goes."""
    if output is None:
        print(_shown(command), flush=True)
    prefix = keep_files_in_memory() if name == "tests" else []
    started = time.monotonic()
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(output.open("wb")) if output else None
        child = subprocess.Popen([*prefix, *command], cwd=ROOT, stdout=file, stderr=file)
        try:
            _, status, used = os.wait4(child.pid, 0)
        except KeyboardInterrupt:
            child.wait()  # it was told as well
            raise
    child.returncode = os.waitstatus_to_exitcode(status)
    cpu = used.ru_utime + used.ru_stime
    if name == "types" and output and child.returncode and b"INTERNAL ERROR" in output.read_bytes():
        return run_step("types, one by one", ONE_BY_ONE, output)
    return Step(name, child.returncode, round(time.monotonic() - started, 1), round(cpu, 1))


def _shown(command: list[str]) -> str:
    return f"$ {' '.join(Path(part).name if part.startswith('/') else part for part in command)}"


def keep_files_in_memory() -> list[str]:
    """Words before a command that give it a /tmp in memory, where bubblewrap can: tests copy and delete much."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        return []
    words = [bwrap, "--dev-bind", "/", "/", "--perms", "1777", "--tmpfs", "/tmp", "--bind", str(ROOT), str(ROOT)]
    words += ["--cap-add", "ALL"] if os.geteuid() == 0 else []
    works = subprocess.run([*words, "--", "true"], capture_output=True, check=False).returncode == 0
    return [*words, "--"] if works else []


def describe_tree() -> dict[str, Any]:
    """The commit that is checked out, and whether the tree differs from it."""
    try:
        commit = _git("rev-parse", "HEAD")
        return {"commit": commit, "clean": not _git("status", "--porcelain")}
    except (OSError, subprocess.CalledProcessError):  # an unpacked archive, or no git
        return {"commit": "", "clean": False}


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def run(kind: str, extra: list[str]) -> dict[str, Any]:
    """Run the steps of one kind, and write the record before the first and after each of them."""
    before, began = describe_tree(), time.time()
    results = RECORD.with_name("tests.json")
    RECORD.parent.mkdir(exist_ok=True)
    results.unlink(missing_ok=True)
    steps: list[Step] = []

    def write() -> dict[str, Any]:
        finished = len(steps) == sum(map(len, KINDS[kind]))
        tested = json.loads(results.read_text(encoding="utf-8")) if results.exists() else {}
        record = {
            "kind": kind,
            **before,
            "clean": before["clean"] and describe_tree() == before,
            "whole": finished and not extra,
            "passed": finished and all(each.code == 0 for each in steps),
            "began": round(began),
            "seconds": round(time.time() - began, 1),
            "cpu_seconds": round(sum(each.cpu_seconds for each in steps), 1),
            "steps": [asdict(each) for each in steps],
            **tested,
        }
        RECORD.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        return record

    record = write()
    words = ["--results", str(results), *extra]
    for commands in KINDS[kind]:
        steps += run_steps([(name, [*line, *words] if name == "tests" else line) for name, line in commands])
        record = write()
        if not all(each.code == 0 for each in steps):
            break
    return record


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the checks and the tests of this checkout.")
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("extra", nargs="*", help="more words for pytest, for instance a folder")
    options = parser.parse_args()
    record = run(options.kind, options.extra)
    tree = "" if record["clean"] else ", with changes that are not committed"
    print(
        f"make {options.kind}: {'passed' if record['passed'] else 'FAILED'} in {record['seconds']:.0f} s "
        f"({record['cpu_seconds']:.0f} s of CPU), commit {record['commit'][:12] or 'unknown'}{tree}; "
        f"{RECORD.relative_to(ROOT)}"
    )
    return 0 if record["passed"] else 1


if __name__ == "__main__":
    sys.exit(main())
