"""Which turns were worked into a database, by projection: the table ``applied_turns`` of whoever has one.

Rule: a mark is written in the transaction that holds what was made of the turn, so that both are there or neither.
"""

import json
from collections.abc import Sequence

from metnos.store.db import Database, Transaction


def mark(tx: Transaction, projection: str, turn: str, ts: str) -> bool:
    """Mark a turn as worked in; says whether that is new."""
    put = "INSERT OR IGNORE INTO applied_turns (projection, turn, ts) VALUES (?, ?, ?)"
    return bool(tx.execute(put, (projection, turn, ts)))


def unapplied(db: Database, projection: str, turns: Sequence[str]) -> list[str]:
    """Which of these turns were not worked in yet, in the order given."""
    done = db.query(
        "SELECT turn FROM applied_turns WHERE projection = ? AND turn IN (SELECT value FROM json_each(?))",
        (projection, json.dumps(list(turns))),
    )
    known = {turn for (turn,) in done}
    return [turn for turn in turns if turn not in known]
