"""Somebody before a pseudo-terminal: waits for what they want to see, and types."""

import fcntl
import io
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self, TextIO

import pytest

from cli import warm
from metnos.cli import person
from support import PROGRAM, Ran

_PATIENCE_S = 120.0
METNOS = "metnos.cli"
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")


def plain(text: str) -> str:
    """What was shown, without what moves and colours it."""
    return _CODES.sub("", text)


class Program:
    """A program on a terminal of its own. What it prints goes into the file ``out`` if there is one.

    ``program`` is the module whose ``main`` it is. It is loaded already, unless it is to start ``from_nothing``.
    """

    def __init__(
        self,
        *arguments: str,
        program: str = METNOS,
        from_nothing: bool = False,
        columns: int = 80,
        out: Path | None = None,
        **variables: str,
    ) -> None:
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
        environment |= {"TERM": "xterm-256color"} | variables
        self._terminal, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        files = [slave] * 3
        if out is not None:
            files[1] = os.open(out, os.O_CREAT | os.O_WRONLY, 0o600)
        if from_nothing:
            self._child = _from_nothing(program, arguments, files, environment)
        else:
            self._child = warm.start(arguments, files, environment, program=program, on_terminal=True)
        for each in set(files):
            os.close(each)
        self.seen = ""
        self._looked = 0

    def wait_for(self, text: str) -> Self:
        """Wait until ``text`` is shown behind what was waited for before."""
        deadline = time.monotonic() + _PATIENCE_S
        while (place := plain(self.seen).find(text, self._looked)) < 0:
            if not select.select([self._terminal], [], [], max(deadline - time.monotonic(), 0))[0]:
                raise AssertionError(f"{text!r} was not shown:\n{plain(self.seen)[self._looked :]}")
            if not self._read():
                raise AssertionError(f"{text!r} was not shown before the end:\n{plain(self.seen)}")
        self._looked = place + len(text)
        return self

    def type(self, keys: str) -> Self:
        os.write(self._terminal, keys.encode())
        return self

    def end(self) -> int:
        """Wait for the end; returns the exit code."""
        while select.select([self._terminal], [], [], _PATIENCE_S)[0]:
            if not self._read():
                break
        else:
            self._child.kill()
        code = self._child.wait()
        os.close(self._terminal)
        assert code != -signal.SIGKILL, f"it did not end:\n{self.text}"
        return code

    def send_signal(self, number: int) -> None:
        self._child.send_signal(number)

    @property
    def text(self) -> str:
        return plain(self.seen)

    def _read(self) -> bool:
        try:
            chunk = os.read(self._terminal, 1 << 16)
        except OSError:  # the way Linux says that the other side is gone
            return False
        # Whoever draws a prompt asks where the cursor stands.
        if b"\x1b[6n" in chunk:
            os.write(self._terminal, b"\x1b[1;1R")
        self.seen += chunk.decode(errors="replace")
        return bool(chunk)


def _from_nothing(
    program: str, arguments: Sequence[str], files: Sequence[int], environment: Mapping[str, str]
) -> warm.Started:
    """Start the installed program, or another module of these tests."""
    line = [str(PROGRAM)]
    if program != METNOS:
        line = [sys.executable, "-c", f"import sys, {program}; sys.exit({program}.main())"]
        environment = {**environment, "PYTHONPATH": str(warm.TESTS)}
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            for target, descriptor in enumerate(files):
                os.dup2(descriptor, target)
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            os.execve(line[0], [*line, *arguments], environment)
        finally:
            os._exit(127)
    return warm.remember(warm.Started(child))


def on_a_terminal(*arguments: str, typed: Sequence[tuple[str, str]] = ()) -> Ran:
    """What a person sees and types: each line once its question is asked."""
    program = Program(*arguments, columns=100)
    for question, line in typed:
        program.wait_for(question).wait_for(": ").type(f"{line}\n")
    return Ran(program.end(), program.seen, "")


class Desk:
    """This very process on a terminal: each time a prompt is shown, the next of ``typed`` is typed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *typed: str, prompt: str = ": ", columns: int = 80) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
        self._typed, self._prompt = list(typed), prompt
        self._streams: list[TextIO] = [os.fdopen(slave, "r", encoding="utf-8")]
        for name in ("stdout", "stderr"):
            self._streams.append(os.fdopen(os.dup(slave), "w", encoding="utf-8", errors="backslashreplace"))
            monkeypatch.setattr(sys, name, self._streams[-1])
        monkeypatch.setattr(sys, "stdin", self._streams[0])
        # A terminal controls a whole session, and this process has another one.
        monkeypatch.setattr(person, "is_at_terminal", lambda: True)
        monkeypatch.setattr(person, "open_keys", lambda: io.FileIO(os.dup(slave), "r"))
        monkeypatch.setenv("TERM", "xterm-256color")
        self._chunks: list[str] = []
        self._thread = threading.Thread(target=self._sit)
        self._thread.start()

    @property
    def shown(self) -> str:
        """All that was shown until now."""
        return "".join(self._chunks)

    def leave(self) -> str:
        """End; returns all that was shown, as it was sent to the terminal."""
        for stream in self._streams:
            stream.close()
        self._thread.join(_PATIENCE_S)
        os.close(self._master)
        return self.shown

    def _sit(self) -> None:
        unanswered = ""
        while True:
            try:
                chunk = os.read(self._master, 1 << 16).decode(errors="replace")
            except OSError:
                return
            self._chunks.append(chunk)
            unanswered += chunk
            if self._typed and unanswered.endswith(self._prompt):
                unanswered = ""
                os.write(self._master, self._typed.pop(0).encode())
