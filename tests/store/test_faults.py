"""Faults of the disk, made real: a full one is a tiny tmpfs that bubblewrap mounts."""

import json
import sqlite3
from pathlib import Path

import pytest

from metnos.core.errors import StoreBusy, StoreCorrupt, StoreError, StoreFull, StoreSchema
from metnos.store.db import Database
from metnos.store.faults import translate
from metnos.store.migrations import Migration
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


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_ERROR, StoreSchema),  # no such table
        (sqlite3.SQLITE_CONSTRAINT_TRIGGER, StoreSchema),
        (sqlite3.SQLITE_MISMATCH, StoreSchema),
        (sqlite3.SQLITE_TOOBIG, StoreSchema),
    ],
)
def test_a_file_that_is_not_as_we_make_it_says_so(code: int, kind: type[Exception]) -> None:
    error = sqlite3.DatabaseError("no such table: x\x1b[31m" + "x" * 5000)
    error.sqlite_errorcode = code  # type: ignore[misc]
    said = translate(error, Path("/x.db"))
    assert isinstance(said, kind)
    assert "no such table: x" in str(said)
    assert "metnos restore" in str(said)
    assert "\x1b" not in str(said)
    assert len(str(said)) < 1000


def test_a_text_that_is_none_is_not_quoted(tmp_path: Path) -> None:
    db = Database(tmp_path / "x.db", (Migration("0001", ("CREATE TABLE t (a TEXT)",)),))
    with db.write() as tx:
        tx.execute("INSERT INTO t VALUES (CAST(x'736563726574ff' AS TEXT))")
    with pytest.raises(StoreSchema) as caught:
        db.first("SELECT a FROM t")
    assert "secret" not in str(caught.value)


def test_a_number_too_large_is_an_error_of_the_store(tmp_path: Path) -> None:
    db = Database(tmp_path / "x.db", (Migration("0001", ("CREATE TABLE t (a INTEGER)",)),))
    with pytest.raises(StoreError, match="larger"), db.write() as tx:
        tx.execute("INSERT INTO t VALUES (?)", (1 << 63,))


def test_a_wrong_use_of_the_module_stays_what_it_is() -> None:
    error = sqlite3.ProgrammingError("Cannot operate on a closed database.")
    assert translate(error, Path("/x.db")) is error
