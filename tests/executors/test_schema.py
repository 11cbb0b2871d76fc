from pathlib import Path

import pytest

from metnos.core.errors import StoreSchema
from metnos.executors.schema import MIGRATIONS
from metnos.store.db import Database

COLUMNS = "name, version, state, loaded_at, manifest_hash, digest, code, origin, serial, reason, before, ts"


def test_from_blank_and_again(tmp_path: Path) -> None:
    for _ in range(2):
        db = Database(tmp_path / "mnest.sqlite", MIGRATIONS)
        tables = {name for (name,) in db.query("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert tables == {"executors", "executor_uses", "executor_births", "executor_revoked", "migrations"}
        db.close()


@pytest.mark.parametrize(("state", "origin"), [("draft", "owner"), ("active", "stranger")])
def test_a_state_and_an_origin_that_there_is_none_of(tmp_path: Path, state: str, origin: str) -> None:
    db = Database(tmp_path / "mnest.sqlite", MIGRATIONS)
    values = ("find_files", "1.0.0", state, "t", "m", "d", "c", origin, 1, "", None, "t")
    with pytest.raises(StoreSchema), db.write() as tx:
        tx.execute(f"INSERT INTO executors ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
