"""Each example is run as a reader would run it: in a process of its own, with no key and no network."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), str(folder)],
        capture_output=True,
        text=True,
        timeout=180,
        cwd=folder,
        env={"PATH": os.environ["PATH"], "HOME": str(folder), "http_proxy": "http://127.0.0.1:9"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_example_is_run_here() -> None:
    named = {path.name for path in EXAMPLES.glob("*.py")}
    assert named == {"memory_for_any_loop.py", "an_executor.py", "langgraph_agent.py"}


def test_a_memory_for_any_loop(tmp_path: Path) -> None:
    told = run("memory_for_any_loop.py", tmp_path)
    assert "> Where did I put the spare key?\n    The spare key is under the blue flower pot." in told
    assert "> Who won the match in Lisbon?\n    I do not know that." in told
    assert "usually about 12" in told
    assert "> How does the safe open?\n    I do not know that." in told
    assert "not instructions:" in told


@pytest.mark.slow
def test_an_executor_of_ones_own(tmp_path: Path) -> None:
    told = run("an_executor.py", tmp_path)
    assert "does not pass: static gate" in told
    assert "it is waiting, and to be typed is: count_lines" in told
    assert "Until then it does not run" in told
    assert "question asked" in told.rpartition("audit says")[2]


def test_a_langgraph_agent_that_remembers(tmp_path: Path) -> None:
    told = run("langgraph_agent.py", tmp_path)
    thursday = told.partition("-- thursday")[2]
    assert "My sister's train arrives on Friday at 18:40." in thursday
    assert "The cat is called Biscuit." in thursday
    assert "> Who painted the hall?\n  I do not know that." in thursday
    assert "recall_memories -> think_answer: used 2 times" in told
