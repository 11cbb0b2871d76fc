"""Both files of fast paths for every test: the one that the mnestome shares, and the one of sequences."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from metnos.executors import schema as executors
from metnos.fastpath.log import Log
from metnos.fastpath.schema import L1, L2, MIGRATIONS_L1, MIGRATIONS_L2
from metnos.mnestome.schema import MIGRATIONS
from metnos.store.db import Database


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    db = Database(tmp_path / "mnest.sqlite", (*executors.MIGRATIONS, *MIGRATIONS, *MIGRATIONS_L1))
    yield Log(db, L1)
    db.close()


@pytest.fixture
def log2(tmp_path: Path) -> Iterator[Log]:
    db = Database(tmp_path / "multi_tool_paths.sqlite", MIGRATIONS_L2)
    yield Log(db, L2)
    db.close()
