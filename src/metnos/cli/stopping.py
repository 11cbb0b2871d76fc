"""Ending long work at its next safe place: Ctrl-C and SIGTERM ask for it, and the work goes on there the next time.

Rules: the first signal only asks; the second does what it always does, so nobody has to wait for work that does not
listen. Whatever was set before is set again afterwards.
"""

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType
from typing import Any, Self

from metnos.cli.progress import Counting
from metnos.night.jobs import Watcher, quiet

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_DOING = {  # what long work calls its parts, in words
    "embedding": "embedded",
    "judging": "looked at",
    "learning": "learning, step",
    "settle": "earlier dreams",
    "replay": "replayed",
    "products": "thought through",
    "calm": "calmed",
}


class Stopping(contextlib.AbstractContextManager["Stopping"]):
    """Listens while it is open. It is called to be asked whether to stop."""

    def __init__(self) -> None:
        self._asked = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._ask) for number in _SIGNALS}
        return self

    def __call__(self) -> bool:
        return self._asked

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self._asked = True
        for number, before in self._before.items():
            signal.signal(number, before)


@contextlib.contextmanager
def watched(*, shows: bool) -> Iterator[Watcher]:
    """Somebody at a terminal: sees how far the work is, if it ``shows``, and can stop it."""
    with Counting(""), Stopping() as stopping:  # the first clears what is shown
        yield Watcher(stopping, _show if shows else quiet)


def _show(what: str, done: int, of: int) -> None:
    Counting(_DOING.get(what, what)).step(done, of)
