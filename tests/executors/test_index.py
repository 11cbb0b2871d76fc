from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from executors.samples import START
from metnos.executors import index
from metnos.executors.index import Entry, Use
from metnos.executors.schema import MIGRATIONS
from metnos.executors.signature import Origin
from metnos.executors.state import State
from metnos.store.db import Database

DAY = timedelta(days=1)
ENTRY = Entry(
    "find_files", "1.0.0", State.ACTIVE, START, "m", "d1", "c1", Origin.OWNER, 1, "mine", None, START
)  # fmt: skip


@pytest.fixture
def db(tmp_path: Path) -> Database:
    return Database(tmp_path / "mnest.sqlite", MIGRATIONS)


def put(db: Database, *entries: Entry) -> None:
    with db.write() as tx:
        for entry in entries:
            index.put(tx, entry)


def test_the_greatest_serial_is_in_force_and_the_others_are_history(db: Database) -> None:
    newer = replace(ENTRY, version="1.1.0", serial=2, digest="d2")
    put(db, ENTRY, newer)
    assert index.current(db, "find_files") == newer
    assert index.all_current(db) == [newer]
    assert [(entry.version, entry.state) for entry in index.versions(db, "find_files")] == [
        ("1.1.0", State.ACTIVE),
        ("1.0.0", State.ARCHIVED),
    ]
    assert index.current(db, "read_files") is None


def test_a_revoked_version_stays_revoked_behind_a_newer_one(db: Database) -> None:
    put(db, replace(ENTRY, state=State.REVOKED), replace(ENTRY, version="2.0.0", serial=2))
    assert index.versions(db, "find_files")[1].state is State.REVOKED


@pytest.mark.parametrize("state", [State.QUARANTINE, State.DISABLED])
def test_what_was_switched_off_stays_so_behind_a_newer_one(db: Database, state: State) -> None:
    put(db, replace(ENTRY, state=state, reason="three faults"), replace(ENTRY, version="2.0.0", serial=2))
    old = index.versions(db, "find_files")[1]
    assert (old.state, old.reason) == (state, "three faults")


@pytest.mark.slow
def test_only_usable_ones_that_are_not_built_in_count_as_active(db: Database) -> None:
    put(
        db,
        ENTRY,
        replace(ENTRY, name="read_files", origin=Origin.SYNTHESISED, state=State.SEED),
        replace(ENTRY, name="list_files", origin=Origin.BUILTIN),
        replace(ENTRY, name="move_files", state=State.DISABLED),
    )
    assert index.active_synthesised(db) == ["find_files", "read_files"]


def test_strikes_and_quotas_count_from_a_moment_on(db: Database) -> None:
    index.record_use(db, Use("find_files", "d", START - DAY, ok=False, kind="failed", fault=True, writes=9))
    index.record_use(db, Use("find_files", "d", START, ok=False, kind="failed", fault=True, writes=2, write_bytes=10))
    index.record_use(db, Use("find_files", "d", START, ok=False, kind="not_found", writes=1, write_bytes=5))
    index.record_use(db, Use("read_files", "d", START, ok=False, kind="failed", fault=True))
    assert index.strikes_since(db, "find_files", START) == 1
    assert index.strikes_since(db, "find_files", START - DAY) == 2
    assert index.uses_since(db, "find_files", START) == 2
    assert index.written_since(db, "find_files", START) == (3, 15)
    assert index.written_since(db, "move_files", START) == (0, 0)
    assert index.last_use(db, "find_files") == START
    assert index.last_use(db, "move_files") is None
    assert index.forget_uses(db, START) == 1
    assert index.strikes_since(db, "find_files", START - DAY) == 1


def test_revoked_code_is_known_under_any_name(db: Database) -> None:
    with db.write() as tx:
        index.record_revoked(tx, ["c1", "c2"], "find_files", START)
        index.record_revoked(tx, ["c1"], "read_files", START)
    assert index.is_revoked(db, "c1")
    assert not index.is_revoked(db, "c3")
