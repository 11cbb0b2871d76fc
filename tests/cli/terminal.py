"""Somebody before a pseudo-terminal: waits for what they want to see, and types."""

import fcntl
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
from collections.abc import Sequence
from typing import Self, TextIO

import pytest

_PATIENCE_S = 30.0
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")


def plain(text: str) -> str:
    """What was shown, without what moves and colours it."""
    return _CODES.sub("", text)


class Program:
    """A program on a terminal of its own."""

    def __init__(self, line: Sequence[str], *, columns: int = 80, **variables: str) -> None:
        self._child, self._terminal = pty.fork()
        if self._child == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
            os.environ.update({"TERM": "xterm-256color"} | variables)
            os.environ.pop("COLUMNS", None)
            os.execv(line[0], list(line))
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
            os.kill(self._child, signal.SIGKILL)
        _, status = os.waitpid(self._child, 0)
        os.close(self._terminal)
        code = os.waitstatus_to_exitcode(status)
        assert code != -signal.SIGKILL, f"it did not end:\n{self.text}"
        return code

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
        monkeypatch.setenv("TERM", "xterm-256color")
        self._chunks: list[str] = []
        self._thread = threading.Thread(target=self._sit)
        self._thread.start()

    def leave(self) -> str:
        """End; returns all that was shown, as it was sent to the terminal."""
        for stream in self._streams:
            stream.close()
        self._thread.join(_PATIENCE_S)
        os.close(self._master)
        return "".join(self._chunks)

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
