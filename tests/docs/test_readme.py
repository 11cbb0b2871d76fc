"""The README's tour, run as it stands, in a home of its own."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from support import PROGRAM, ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```console\n(.*?)```", README, re.DOTALL)


def steps() -> list[tuple[str, list[str]]]:
    """Every command of the tour with what it should print."""
    found: list[tuple[str, list[str]]] = []
    for line in "".join(BLOCKS).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def pattern(line: str) -> str:
    """``…`` stands for anything; where it does, columns may shift."""
    if "…" not in line:
        return re.escape(line)
    return r"\s+".join(".*?".join(map(re.escape, word.split("…"))) for word in line.split()).join((r"\s*", r"\s*"))


def test_the_tour_is_real(tmp_path: Path) -> None:
    home = tmp_path / "home"
    path = f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}"
    for command, expected in steps():
        done = subprocess.run(
            command,
            shell=True,
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": path},
            timeout=60,
            check=False,
        )
        printed = done.stdout.replace(str(home), "/home/you").splitlines()
        assert len(printed) == len(expected), f"$ {command}\n{done.stdout}{done.stderr}"
        for seen, wanted in zip(printed, expected, strict=True):
            assert re.fullmatch(pattern(wanted), seen), f"$ {command}\n{seen!r} is not {wanted!r}"


def test_the_tour_can_fail() -> None:
    assert re.fullmatch(pattern("a … c"), "a  bbb c")
    assert not re.fullmatch(pattern("a … c"), "a bbb d")
    assert not re.fullmatch(pattern("plain"), "plain text")
    assert len(steps()) >= 8


@pytest.mark.parametrize("target", ["run", "test"])
def test_the_two_commands_exist(target: str) -> None:
    assert re.search(rf"^make {target} ", README, re.MULTILINE)
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_ci_calls_exactly_the_readmes_test_command() -> None:
    lines = [line for line in (ROOT / ".ci" / "run").read_text().splitlines() if line and not line.startswith("#")]
    assert lines[-1] == "make test"
