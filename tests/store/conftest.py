"""A database with the small table, for every test of the store."""

from pathlib import Path

import pytest

from metnos.store.db import Database
from store.items import SCHEMA


@pytest.fixture
def db(tmp_path: Path) -> Database:
    return Database(tmp_path / "store.db", SCHEMA, busy_timeout_s=5)
