"""Runs what a page shows: its ``console`` blocks as they stand, with the files that it shows written first.

A block of another language whose first line is ``# executors/...`` is that file of the workspace. ``…`` in what a
command prints stands for anything. Where a line asks (``[y/N]: y``, ``Type it to go on: it``), the
command runs on a terminal and is answered so, by the program itself: a copy of a loaded one has no terminal.
"""

import contextlib
import os
import pty
import re
import secrets
import select
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import processes
from cli import warm
from support import PROGRAM

HOME = "/home/you"
WORKSPACE = ".local/share/metnos"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_ANSWER = re.compile(r"(?:\[y/(?:N|n[a-z/]*)\]|Type \S+ to go on): (\w+)$")

Step = tuple[str, list[str]]


def steps(page: str) -> list[Step]:
    """Every command of a page with what it should print, and every file with its lines, in the page's order."""
    found: list[Step] = []
    for language, text in _BLOCK.findall(page):
        lines = text.splitlines()
        if lines and lines[0].startswith("# executors/"):
            found.append((lines[0].removeprefix("# "), lines))
        for line in lines if language == "console" else ():
            if line.startswith("$ "):
                found.append((line, []))
            else:
                found[-1][1].append(line)
    return found


def check(page: str, cwd: Path | None = None) -> None:
    """Run every step of a page in a home of its own, or in ``cwd``; what is printed must be what is shown.

    `metnos` is the program that `cli.warm` has loaded. What a step leaves running ends with the page.
    """
    before = processes.children()
    with short_home() as home, tempfile.TemporaryDirectory() as programs, contextlib.ExitStack() as after:
        after.callback(processes.kill_new, before)
        warm.write_command(Path(programs))
        for first, expected in steps(page):
            if not first.startswith("$ "):
                (home / WORKSPACE / first).write_text("\n".join(expected) + "\n", encoding="utf-8")
                continue
            answers = [found[1] for line in expected if (found := _ANSWER.search(line))]
            printed = _run(first[2:], home, cwd or home, answers, programs)
            seen = [line.rstrip() for line in printed.replace(str(home), HOME).splitlines()]
            assert len(seen) == len(expected), f"{first}\n{printed}"
            for line, wanted in zip(seen, expected, strict=True):
                assert re.fullmatch(pattern(wanted), line), f"{first}\n{line!r} is not {wanted!r}"


def pattern(line: str) -> str:
    """``…`` stands for anything; where it does, columns may shift."""
    if "…" not in line:
        return re.escape(line)
    return r"\s+".join(".*?".join(map(re.escape, word.split("…"))) for word in line.split()).join((r"\s*", r"\s*"))


@contextlib.contextmanager
def short_home() -> Iterator[Path]:
    """A home whose name is as long as the one that the pages show, so that columns stand where they do there."""
    free = (home for _ in range(100) if not (home := Path("/tmp") / secrets.token_hex(2)).exists())
    home = next(free)
    home.mkdir(mode=0o700)
    assert len(str(home)) == len(HOME)
    try:
        yield home
    finally:
        shutil.rmtree(home)


def _run(command: str, home: Path, cwd: Path, answers: list[str], programs: str) -> str:
    path = os.pathsep.join((programs, str(PROGRAM.parent), os.environ["PATH"]))
    env = {**os.environ, "PATH": path, "HOME": str(home), "COLUMNS": "200", "LC_ALL": "C.UTF-8", "TERM": "dumb"}
    if answers:
        env["PATH"] = os.pathsep.join((str(PROGRAM.parent), os.environ["PATH"]))
        return _on_a_terminal(command, env, cwd, answers)
    done = subprocess.run(
        command, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=env, cwd=cwd, timeout=60, check=False,
    )  # fmt: skip
    return done.stdout


def _on_a_terminal(command: str, env: dict[str, str], cwd: Path, answers: list[str]) -> str:
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(cwd)
        os.execve("/bin/sh", ["sh", "-c", command], env)
    seen = b""
    while select.select([terminal], [], [], 60)[0]:
        try:
            chunk = os.read(terminal, 1 << 16)
        except OSError:  # the way Linux says that the other side is gone
            break
        seen += chunk
        if answers and chunk.rstrip().endswith(b":"):
            os.write(terminal, f"{answers.pop(0)}\n".encode())
    os.waitpid(child, 0)
    os.close(terminal)
    return _COLOURS.sub("", seen.decode()).replace("\r", "")
