"""The one line that changes while something goes on: what it is, and for how long.

Rules: it stands on standard error, only where the terminal can erase a line, and leaves nothing behind; it appears
after a moment, so that quick work does not flicker. Between `start` and `stop` nobody else writes to the terminal. Does
not guarantee a clean screen when the window is made narrower than the line at that very moment.
"""

import contextlib
import functools
import itertools
import os
import sys
import threading
import time
import unicodedata
from typing import TextIO

_PATIENCE_S = 0.15  # below what a person takes for a delay
_FRAME_S = 0.1
_FRAMES, _PLAIN_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏", "-\\|/"
_USUAL_COLUMNS = 80
_FREE = 5  # the frame and its space, and what an interrupt shows: a full line goes on in the next, and stays there
_ERASE = "\r\033[K"


class Live:
    """One line at a time."""

    def __init__(self) -> None:
        self._stream = sys.stderr
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._since = 0.0

    def start(self, what: str) -> None:
        """Show ``what``, which is inert and one line, until `stop`."""
        self.stop()
        self._since = time.monotonic()
        if can_erase(self._stream):
            self._ended = threading.Event()
            spin = functools.partial(_spin, self._stream, what, self._since, self._ended)
            self._thread = threading.Thread(target=spin, name="metnos-live", daemon=True)
            self._thread.start()

    def stop(self) -> float:
        """Take the line away; returns for how many milliseconds it was due."""
        self._ended.set()
        if self._thread is not None:
            if self._thread.ident is not None:  # else an interrupt came before it began, and it will not draw at all
                self._thread.join()
            self._thread = None
        return (time.monotonic() - self._since) * 1000


def can_erase(stream: TextIO) -> bool:
    """Whether this is a terminal that can erase a line."""
    if not stream.isatty():
        return False
    try:
        import curses
    except ImportError:  # not every build of Python has it
        return False
    try:
        curses.setupterm(fd=stream.fileno())
    except curses.error:  # a terminal that nobody knows
        return False
    return curses.tigetstr("el") is not None


def columns(stream: TextIO) -> int:
    """How wide the terminal is at this moment."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_COLUMNS
    except OSError:
        return _USUAL_COLUMNS


def clip(text: str, width: int) -> str:
    """As much of one line as fits into ``width`` columns."""
    used = 0
    for index, char in enumerate(text):
        used += _cells(char)
        if used > width:
            return _fitting(text[:index], width - 1) + "…" if width > 0 else ""
    return text


def lasted(milliseconds: float) -> str:
    """``34 ms``, ``2.5 s``, ``3 min 20 s``."""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f} s"
    minutes, seconds = divmod(int(milliseconds / 1000), 60)
    return f"{minutes} min {seconds} s" if seconds else f"{minutes} min"


def _fitting(text: str, width: int) -> str:
    while text and sum(map(_cells, text)) > width:
        text = text[:-1]
    return text


def _cells(char: str) -> int:
    """How many columns a character takes."""
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _spin(stream: TextIO, what: str, since: float, ended: threading.Event) -> None:
    frames = itertools.cycle(_FRAMES if (stream.encoding or "").lower().startswith("utf") else _PLAIN_FRAMES)
    if ended.wait(_PATIENCE_S):
        return
    with contextlib.suppress(OSError, ValueError):  # the terminal is gone, which others will say
        while True:
            passed = f"  {lasted((time.monotonic() - since) * 1000)}"
            room = columns(stream) - len(passed) - _FREE
            stream.write(f"{_ERASE}{next(frames)} {clip(what, room)}{passed}")
            stream.flush()
            if ended.wait(_FRAME_S):
                break
        stream.write(_ERASE)
        stream.flush()
