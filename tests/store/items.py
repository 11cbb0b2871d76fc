"""A small table that the tests of the store share."""

from metnos.store.db import Database
from metnos.store.migrations import Migration

SCHEMA = (Migration("0001_items", ("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT",)),)


def add(db: Database, name: str) -> None:
    with db.write() as tx:
        tx.execute("INSERT INTO items (name) VALUES (?)", (name,))


def names(db: Database) -> list[str]:
    return [name for (name,) in db.query("SELECT name FROM items ORDER BY id")]
