"""Marks of turns: once each, by projection, and gone with the transaction that made them."""

from pathlib import Path

import pytest

from metnos.fastpath.schema import MIGRATIONS_L2
from metnos.store.applied import mark, unapplied
from metnos.store.db import Database


@pytest.fixture
def db(tmp_path: Path) -> Database:
    return Database(tmp_path / "a.sqlite", MIGRATIONS_L2)


def test_a_turn_is_marked_once_for_each_projection(db: Database) -> None:
    with db.write() as tx:
        assert mark(tx, "one", "T1", "2026")
        assert not mark(tx, "one", "T1", "2027")
        assert mark(tx, "two", "T1", "2026")
    assert unapplied(db, "one", ["T2", "T1", "T0"]) == ["T2", "T0"]
    assert unapplied(db, "three", ["T1"]) == ["T1"]
    assert unapplied(db, "one", []) == []


def test_a_mark_goes_with_what_was_not_committed(db: Database) -> None:
    with pytest.raises(RuntimeError), db.write() as tx:
        mark(tx, "one", "T1", "2026")
        raise RuntimeError
    assert unapplied(db, "one", ["T1"]) == ["T1"]
