"""Weighing very many rows: the indexes that are ordered by weight are laid aside meanwhile.

Rules: a new weight moves a row in each of them, to a page of its own; beyond some ten thousand rows it is many times
quicker to build them anew. How they are built is written down (`ager_facts`) in the transaction that lays them aside,
so a killed run loses none: the next one puts them back first. Until then everything is found as before, more slowly.
"""

import contextlib
from collections.abc import Iterator

from metnos.store.db import Database

_LAID_ASIDE = "index "  # a fact: this index, and how it is made


@contextlib.contextmanager
def without_order(db: Database, rows: int, many: int) -> Iterator[None]:
    """Lay the indexes aside as long as this goes on, if so many ``rows`` change that it pays."""
    put_back(db)
    if rows >= many:
        _lay_aside(db)
    try:
        yield
    finally:
        put_back(db)


def put_back(db: Database) -> None:
    """Build again what was laid aside, by whomever."""
    while (row := db.first("SELECT name FROM ager_facts WHERE name LIKE ? LIMIT 1", (f"{_LAID_ASIDE}%",))) is not None:
        with db.write() as tx:
            made = tx.first("SELECT value FROM ager_facts WHERE name = ?", row)
            if made is not None:
                tx.execute(str(made[0]))
                tx.execute("DELETE FROM ager_facts WHERE name = ?", row)


def _lay_aside(db: Database) -> None:
    with db.write() as tx:
        found = tx.query("SELECT name, sql FROM sqlite_master WHERE tbl_name = 'mnests' AND sql LIKE '%weight DESC%'")
        for name, sql in found:
            made = sql.replace("CREATE INDEX", "CREATE INDEX IF NOT EXISTS", 1)
            tx.execute("INSERT OR REPLACE INTO ager_facts (name, value) VALUES (?, ?)", (_LAID_ASIDE + name, made))
            tx.execute(f"DROP INDEX {name}")
