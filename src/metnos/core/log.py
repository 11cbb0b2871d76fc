"""Structured logs: one line for each thing that happens, as a sentence with fields or as one JSON object.

Rules: a line holds names, ids, counts and durations, and never what was said; a value is one line and bounded, whatever
is put in. A log that cannot be written ends nothing. A line that JSON readers get is one object, whatever it says.
What strangers can cause goes through `Bounded`, and what libraries say through `hear_libraries`.
"""

import contextlib
import json
import logging
import math
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from metnos.core.clock import Clock, SystemClock, to_text

Field = str | int | float | bool | None

MOST_A_MINUTE = 20
_MINUTE_S = 60.0
_LONGEST_EVENT, _LONGEST_VALUE = 500, 200
_BARE = re.compile(r"[\w.:@/+-]+")
_KEY = re.compile(r"[a-z][a-z0-9_.]{0,63}")


class Log:
    """Writes lines. Called with a sentence alone it is what plain loggers are. Threads may share it."""

    def __init__(self, write: Callable[[str], None], form: str = "text", clock: Clock | None = None) -> None:
        self._write = write
        self._line = as_json if form == "json" else as_text
        self._clock = clock or SystemClock()

    def __call__(self, event: str, /, **fields: Field) -> None:
        line = self._line(
            self._clock.now(), event, {key: value for key, value in fields.items() if _is_known(key, value)}
        )
        with contextlib.suppress(OSError, ValueError):
            self._write(line)


class Bounded:
    """Passes on so many lines a minute, and then how many it kept back: for what people who are not signed in cause."""

    def __init__(
        self, log: Callable[[str], None], most: int = MOST_A_MINUTE, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._log = log
        self._most = most
        self._now = now
        self._lock = threading.Lock()
        self._since = now()
        self._passed = self._kept_back = 0

    def __call__(self, event: str) -> None:
        with self._lock:
            left_out = self._begin_minute()
            passes = self._passed < self._most
            self._passed += passes
            self._kept_back += not passes
        if left_out:
            self._log(f"{left_out} more lines of this kind were left out")
        if passes:
            self._log(event)

    def _begin_minute(self) -> int:
        if self._now() - self._since < _MINUTE_S:
            return 0
        left_out, self._since, self._passed, self._kept_back = self._kept_back, self._now(), 0, 0
        return left_out


class _Heard(logging.Handler):
    """Writes what a library says into our log: in one line, and without what a traceback would show."""

    def __init__(self, log: Bounded) -> None:
        super().__init__(logging.WARNING)
        self._write = log

    def emit(self, record: logging.LogRecord) -> None:
        kind = record.exc_info[0] if record.exc_info else None
        try:
            said = record.getMessage().partition("\n")[0]
        except Exception:  # noqa: BLE001 -- a library's own mistake in its words ends nothing here
            said = "something that cannot be put in words"
        self._write(f"{record.name}: {said}{f' ({kind.__name__})' if kind else ''}")


def hear_libraries(names: Iterable[str], log: Bounded) -> None:
    """From now on, what these libraries have to say goes to ``log`` alone."""
    for name in names:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [_Heard(log)], False


def as_text(now: datetime, event: str, fields: Mapping[str, Field]) -> str:
    """``2026-04-21 22:14:00 what happened key=value``, in local time."""
    told = [f"{key}={_quoted(value)}" for key, value in fields.items()]
    return " ".join([f"{now.astimezone():%Y-%m-%d %H:%M:%S}", _one_line(event, _LONGEST_EVENT), *told])


def as_json(now: datetime, event: str, fields: Mapping[str, Field]) -> str:
    """``{"ts": …, "event": …, "key": …}``; fields cannot take the place of these two."""
    plain = {
        key: _one_line(value, _LONGEST_VALUE) if isinstance(value, str) else value for key, value in fields.items()
    }
    return json.dumps(plain | {"ts": to_text(now), "event": _one_line(event, _LONGEST_EVENT)}, allow_nan=False)


def _is_known(key: str, value: Field) -> bool:
    is_number = not isinstance(value, float) or math.isfinite(value)
    return value is not None and is_number and _KEY.fullmatch(key) is not None


def _quoted(value: Field) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    text = _one_line(f"{value:g}" if isinstance(value, float) else str(value), _LONGEST_VALUE)
    return text if _BARE.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _one_line(text: str, most: int) -> str:
    line = "".join(char if char.isprintable() else " " if char.isspace() else f"\\x{ord(char):02x}" for char in text)
    return line if len(line) <= most else f"{line[: most - 1]}…"
