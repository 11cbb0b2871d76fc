"""Find what a call must not see in the folders that it is shown.

Rules: whatever is forbidden is private, and so is what has a hidden name, be it by a link of a home, unless it was
asked for. Once a call runs, only forbidden paths end it: hidden files come and go beside every program that saves, so a
hidden name that was covered is left alone while it is the same file or folder, and one that is new is searched for
forbidden paths alone.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from metnos.executors.exposure import Enter, identify
from metnos.law import aliases
from metnos.law.forbidden import Access, forbidden_below, why_forbidden
from metnos.law.guarded import is_hidden_entry

_MOST_ENTRIES = 500_000


class PrivateView:
    """What is private to one call. ``asked`` are the hidden paths that it may see."""

    def __init__(self, asked: frozenset[Path]) -> None:
        self._asked = asked
        self._covered: dict[Path, tuple[int, int]] = {}
        self._runs = False

    def run(self) -> None:
        """From now on the call runs."""
        self._runs = True

    def below(self, folder: Path, enter: Enter) -> Iterator[Path]:
        """What is private below a folder, the outermost of each. Raises `TooMany`."""
        waiting, led = [folder], aliases.look().hidden

        def is_hidden(entry: os.DirEntry[str]) -> bool:
            return is_hidden_entry(entry) or entry.path in led

        while waiting:
            here = waiting.pop()
            is_asked = any(here.is_relative_to(path) for path in self._asked)
            also = None if is_asked else is_hidden
            for path in forbidden_below(here, Access.READ, _MOST_ENTRIES, enter=enter, also=also):
                if why_forbidden(path, Access.READ) is not None:
                    yield path
                elif path in self._asked:
                    waiting.append(path)
                elif not self._runs:
                    self._covered[path] = identify(str(path))
                    yield path
                elif self._covered.get(path) != identify(str(path)):
                    waiting.append(path)
