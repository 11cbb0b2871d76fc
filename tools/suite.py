"""Run the checks and the tests of this checkout, and leave a record of it in `build/suite.json`.

    python tools/suite.py test     linters, types, layers, sizes and every test
    python tools/suite.py check    the same without the slow tests, and with few examples of each property
    python tools/suite.py cover    every test, with the coverage of lines and branches
    python tools/suite.py soak     what is worth repeating, many times; real models; takes an hour to an hour and a half

Rules: linters and tests run side by side; where a linter fails, the tests are ended. The record says which commit was
tested, and whether the tree held anything that is not in that commit, when it began and when it ended.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
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
_BEAT_S = 0.1  # between two looks at whether the tests have ended
ONE_BY_ONE = [str(BIN / "mypy")]  # for when the workers of mypy do not start, as on a machine that is busy
WORKERS = min(os.cpu_count() or 2, 4) + 2  # more than can work at once: many tests wait for a process
PYTEST = [sys.executable, "-m", "pytest", "--workers", str(WORKERS)]
# Each of these opens a whole Metnos in nearly every test; reading them alone takes a third of the time to begin.
WHOLE = [f"--ignore=tests/{each}" for each in ("api", "cli", "escape", "examples", "story", "web/browser")]
LONG = ["--timeout", "3600", "-o", "faulthandler_timeout=7200"]
TESTS = "tests"  # the command that others end when they fail, and that is shown as it goes
KINDS: dict[str, list[Command]] = {  # the commands of one kind run at the same time
    "lint": LINT,
    "check": [*LINT, (TESTS, [*PYTEST, "--quick", "-m", "not slow and not soak", *WHOLE])],
    "test": [*LINT, (TESTS, [*PYTEST, "-m", "not soak"])],
    "cover": [(TESTS, [*PYTEST, "-m", "not soak", "--cov", "--cov-report=term-missing:skip-covered"])],
    "soak": [(TESTS, [*PYTEST, "--soak", "-m", "soak or repeated", *LONG])],
}


@dataclass(frozen=True, slots=True)
class Step:
    """One command that was run. CPU seconds are those of every process that it waited for."""

    name: str
    code: int
    seconds: float
    cpu_seconds: float


def run_steps(commands: list[Command]) -> list[Step]:
    """Run commands at the same time. What a linter prints is shown when it has ended.

    Where a linter fails, the tests are ended, and are no step of the run.
    """
    failed = threading.Event()
    with ThreadPoolExecutor(len(commands)) as threads, tempfile.TemporaryDirectory() as folder:
        outputs = [Path(folder) / name if name != TESTS else None for name, _ in commands]
        running = [
            threads.submit(run_step, *each, output, failed) for each, output in zip(commands, outputs, strict=True)
        ]
        try:
            for (_, command), output, step in zip(commands, outputs, running, strict=True):
                step.result()
                if output is not None:
                    said = output.read_text(encoding="utf-8", errors="replace")
                    print(_shown(command), said, sep="\n", end="", flush=True)
        except BaseException:
            failed.set()
            raise
    return [step.result() for step in running if not (failed.is_set() and step.result().name == TESTS)]


def run_step(name: str, command: list[str], output: Path | None, failed: threading.Event) -> Step:
    """Run a command to its end, with its output in a file or where ours goes; the tests no further than others fail."""
    is_tests = name == TESTS
    if output is None:
        print(_shown(command), flush=True)
    prefix = keep_files_in_memory() if is_tests else []
    started = time.monotonic()
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(output.open("wb")) if output else None
        # The tests are a group of processes, so that all of them can be told to end.
        group = 0 if is_tests else None
        child = subprocess.Popen([*prefix, *command], cwd=ROOT, stdout=file, stderr=file, process_group=group)
        how = os.WNOHANG if is_tests else 0
        while not (ended := os.wait4(child.pid, how))[0]:
            if failed.wait(_BEAT_S):
                os.killpg(child.pid, signal.SIGINT)
                how = 0
    _, status, used = ended
    code = child.returncode = os.waitstatus_to_exitcode(status)
    if name == "types" and output and code and b"INTERNAL ERROR" in output.read_bytes():
        return run_step("types, one by one", ONE_BY_ONE, output, failed)
    if code and not is_tests:
        failed.set()
    return Step(name, code, round(time.monotonic() - started, 1), round(used.ru_utime + used.ru_stime, 1))


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
    """Run the commands of one kind, and write the record before and after."""
    before, began = describe_tree(), time.time()
    results = RECORD.with_name("tests.json")
    RECORD.parent.mkdir(exist_ok=True)
    results.unlink(missing_ok=True)

    def write(steps: list[Step]) -> dict[str, Any]:
        finished = len(steps) == len(KINDS[kind])
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

    write([])
    words = ["--results", str(results), *extra]
    return write(run_steps([(name, [*line, *words] if name == TESTS else line) for name, line in KINDS[kind]]))


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
