"""Warm sandboxes that are passed on: starting one takes a tenth of a second of CPU, and most tests start their own.

A warm parent knows nothing of a workspace and runs no foreign code; its children serve one call each. So the next test
gets the parent that the last one leaves, if it is well.
"""

import os
from typing import ClassVar

from metnos.sandbox.pool import Pool
from metnos.sandbox.profile import NOTHING
from metnos.sandbox.zygote import Zygote


class LentPool(Pool):
    """A pool that takes a warm parent which another one left, and leaves its own when it is closed."""

    _free: ClassVar[list[tuple[int, Zygote, int]]] = []  # whose process, the parent, how many of its children wait

    _waiting = 0  # children of what was borrowed just now

    def close(self) -> None:
        with self._lock:
            left = self._zygote
            if left is not None and self._is_usual() and self._pid == os.getpid() and left.alive():
                self.on_stop(left.pid)
                self._free.append((self._pid, left, self._ordered))
                self._zygote, self._ordered = None, 0
        super().close()

    def _is_usual(self) -> bool:
        return (self._bwrap, self._without) == ("", NOTHING)

    def _parent(self) -> Zygote:
        before, self._waiting = self._zygote, 0
        found = super()._parent()
        if found is not before:
            self._ordered = self._waiting
        return found

    def _start(self, *, warm: bool) -> Zygote:
        found = self._borrow() if warm and self._is_usual() else None
        if found is None:
            return super()._start(warm=warm)
        zygote, self._waiting = found
        return self._announce(zygote)

    def _borrow(self) -> tuple[Zygote, int] | None:
        while self._free:
            process, zygote, waiting = self._free.pop()
            if process != os.getpid():
                continue  # a fork brought it along
            if zygote.alive():
                return zygote, waiting
            zygote.close()
        return None

    @classmethod
    def end_all(cls) -> None:
        """End every parent that nobody uses."""
        while cls._free:
            process, zygote, _ = cls._free.pop()
            if process == os.getpid():
                zygote.close()
