"""Showing that long work goes on: a bar on a terminal, nothing in a pipe."""

import contextlib
import sys
from typing import Self


class Counting(contextlib.AbstractContextManager["Counting"]):
    """Counts on standard error while it is open."""

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> Self:
        return self

    def step(self, done: int, of: int) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{self._what}: {done} of {of}\033[K")
            sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


class Bar(contextlib.AbstractContextManager["Bar"]):
    """Counts files and bytes on standard error while it is open."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._files = 0
        self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def step(self, _name: str, size: int) -> None:
        self._files += 1
        self._bytes += size
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{self._what}: {self._files} files, {self._bytes / 1e6:.1f} MB\033[K")
            sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if self._files and sys.stderr.isatty():
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
