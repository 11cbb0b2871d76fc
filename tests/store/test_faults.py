"""Faults of the disk, made real: a full one is a tiny tmpfs that bubblewrap mounts."""

import json
import sqlite3
from pathlib import Path

import pytest

from metnos.core.errors import StoreBusy, StoreCorrupt, StoreFull
from metnos.store.faults import translate
from support import on_a_full_disk

FILL = """
import json, sys
from pathlib import Path
from metnos.core.errors import StoreFull
from metnos.store.db import Database
from metnos.store.migrations import Migration

path = Path(sys.argv[1]) / "store.db"
db = Database(path, (Migration("0001", ("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT)",)),))
acknowledged, said = 0, ""
try:
    while acknowledged < 10_000:
        with db.write() as tx:
            tx.execute("INSERT INTO items (name) VALUES (?)", ("x" * 3000,))
        acknowledged += 1
except StoreFull as error:
    said = str(error)
kept = db.first("SELECT count(*) FROM items")[0]
problems = db.problems()
db.close()
again = Database(path, read_only=True)
print(json.dumps({"acknowledged": acknowledged, "kept": kept, "reopened": again.first("SELECT count(*) FROM items")[0],
                  "said": said, "problems": problems}))
"""


def test_a_full_disk_loses_nothing_and_says_so() -> None:
    seen = json.loads(on_a_full_disk(FILL, "/mnt", size=2 << 20))
    assert seen["acknowledged"] > 10
    assert seen["kept"] == seen["reopened"] == seen["acknowledged"]
    assert seen["problems"] == []
    assert "the disk is full" in seen["said"]
    assert "Free some space" in seen["said"]


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_BUSY, StoreBusy),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, StoreBusy),
        (sqlite3.SQLITE_LOCKED, StoreBusy),
        (sqlite3.SQLITE_FULL, StoreFull),
        (sqlite3.SQLITE_IOERR_SHMSIZE, StoreFull),
        (sqlite3.SQLITE_CORRUPT_VTAB, StoreCorrupt),
        (sqlite3.SQLITE_NOTADB, StoreCorrupt),
    ],
)
def test_extended_codes_mean_what_their_primary_code_means(code: int, kind: type[Exception]) -> None:
    error = sqlite3.OperationalError("detail")
    error.sqlite_errorcode = code  # type: ignore[misc]
    assert isinstance(translate(error, Path("/x.db")), kind)


def test_a_mistake_of_our_own_stays_what_it_is() -> None:
    error = sqlite3.OperationalError("no such table: x")
    error.sqlite_errorcode = sqlite3.SQLITE_ERROR  # type: ignore[misc]
    assert translate(error, Path("/x.db")) is error
