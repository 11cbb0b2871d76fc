"""The way in for testaments that are to be refused."""

from pathlib import Path

import pytest

from metnos.app import inheriting
from metnos.core.clock import MovableClock
from metnos.core.errors import TestamentError
from metnos.core.workspace import Workspace


class Door:
    """The way in."""

    def __init__(self, blank: Workspace, folder: Path, clock: MovableClock) -> None:
        self.blank = blank
        self.path = folder / "left.testament"
        self._clock = clock

    def refuses(self, raw: bytes | None = None) -> str:
        """What is said to whoever brings this; nothing is made of it."""
        if raw is not None:
            self.path.write_bytes(raw)
        with pytest.raises(TestamentError) as refused:
            inheriting.found_from(self.blank, self.path, clock=self._clock)
        assert not self.blank.root.exists()
        said = refused.value.what
        assert said
        assert "Traceback" not in said
        return said
