"""Weighing very many rows: the indexes that are ordered by weight are laid aside meanwhile.

Rules: a new weight moves a row in each of them, to a page of its own; beyond some ten thousand rows it is many times
quicker to build them anew. That they are laid aside is written down (`ager_facts`) in the transaction that does it, so
a killed run loses none: the next one puts them back first. Until then everything is found as before, more slowly. How
an index is made is said by the schema alone: a row may come from a stranger's backup, and is never run as SQL.
"""

import contextlib
import re
from collections.abc import Iterator

from metnos.mnestome.schema import MIGRATIONS
from metnos.store.db import Database

_LAID_ASIDE = "index "  # a fact: this index is laid aside
_NAME = re.compile(r"CREATE INDEX (\w+)\s+ON mnests\b.*weight DESC", re.DOTALL)
_INDEXES = {
    found[1]: statement.replace("CREATE INDEX", "CREATE INDEX IF NOT EXISTS", 1)
    for migration in MIGRATIONS
    for statement in migration.statements
    if (found := _NAME.match(statement))
}


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
            made = _INDEXES.get(row[0].removeprefix(_LAID_ASIDE))
            if tx.execute("DELETE FROM ager_facts WHERE name = ?", row) and made is not None:
                tx.execute(made)


def _lay_aside(db: Database) -> None:
    with db.write() as tx:
        for name in _INDEXES:
            tx.execute("INSERT OR REPLACE INTO ager_facts (name, value) VALUES (?, ?)", (_LAID_ASIDE + name, ""))
            tx.execute(f"DROP INDEX IF EXISTS {name}")
