"""A mnestome of its own for every test, in the file that the executors' tables share with it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from metnos.executors import schema as executors
from metnos.mnestome.schema import MIGRATIONS
from metnos.store.db import Database


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "mnest.sqlite", (*executors.MIGRATIONS, *MIGRATIONS))
    yield made
    made.close()
