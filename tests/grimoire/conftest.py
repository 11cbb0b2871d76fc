"""A medium memory of its own for every test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from metnos.core.clock import MovableClock
from metnos.grimoire.medium import MIGRATIONS, Medium
from metnos.store.db import Database


@pytest.fixture
def medium(tmp_path: Path, clock: MovableClock) -> Iterator[Medium]:
    made = Medium(Database(tmp_path / "medium.db", MIGRATIONS, clock=clock), clock)
    yield made
    made.db.close()
