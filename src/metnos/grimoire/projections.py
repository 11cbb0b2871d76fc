"""What reads turns and builds something of its own from them: who has got how far.

Rules: a *projection* is known from the first time it asks. Turns are offered in the order in which they were closed,
until they are acknowledged. An acknowledgement is no proof: the store that receives a turn keeps its own mark of it, in
the transaction that holds what it made of the turn, and does nothing for a turn that it has marked. So a crash between
the two costs one more offer and nothing else.
"""

from metnos.store.db import Database, Transaction

# A turn `t` that some projection has not acknowledged.
UNPROJECTED = (
    "EXISTS (SELECT 1 FROM projections p WHERE t.seq > p.upto"
    " AND NOT EXISTS (SELECT 1 FROM projected d WHERE d.name = p.name AND d.seq = t.seq))"
)


def pending(db: Database, name: str, again: int = 0) -> list[str]:
    """The turns to apply, in order: those not acknowledged, and the newest ``again`` in any case.

    ``again`` is for a receiver whose last moments a power cut may take (`Durability.NORMAL`): it is asked once more
    about turns that it acknowledged just before.
    """
    with db.read() as tx:
        row = tx.first("SELECT upto FROM projections WHERE name = ?", (name,))
        if row is not None:
            return _pending(tx, name, int(row[0]), again)
    with db.write() as tx:
        _know(tx, name)
        return _pending(tx, name, 0, again)


def applied(db: Database, name: str, *turns: str) -> None:
    """Acknowledge turns. Whoever calls this has them committed, with its own mark. Again costs next to nothing."""
    fresh = set(pending(db, name)).intersection(turns)
    if not fresh:
        return
    with db.write() as tx:
        for turn in sorted(fresh):
            tx.execute(
                "INSERT OR IGNORE INTO projected (name, seq) SELECT p.name, t.seq FROM turns t, projections p"
                " WHERE t.id = ? AND p.name = ? AND t.seq > p.upto",
                (turn, name),
            )
        _advance(tx, name)


def offer_again(db: Database, name: str) -> None:
    """Forget every acknowledgement: the receiver was lost, and is built anew from all turns."""
    with db.write() as tx:
        _know(tx, name)
        tx.execute("UPDATE projections SET upto = 0 WHERE name = ?", (name,))
        tx.execute("DELETE FROM projected WHERE name = ?", (name,))


def _know(tx: Transaction, name: str) -> None:
    tx.execute("INSERT OR IGNORE INTO projections (name, upto) VALUES (?, 0)", (name,))


def _pending(tx: Transaction, name: str, upto: int, again: int) -> list[str]:
    row = tx.first("SELECT coalesce(max(seq), 0) FROM turns")
    anyway = int(row[0] if row else 0) - again
    rows = tx.query(
        "SELECT id FROM turns t WHERE seq > ? AND (seq > ? OR seq > ? AND NOT EXISTS"
        " (SELECT 1 FROM projected d WHERE d.name = ? AND d.seq = t.seq)) ORDER BY seq",
        (min(upto, anyway), anyway, upto, name),
    )
    return [turn for (turn,) in rows]


def _advance(tx: Transaction, name: str) -> None:
    """Everything up to the first turn that is still to do is one number; only what is beyond it needs rows."""
    tx.execute(
        "UPDATE projections AS p SET upto = coalesce("
        " (SELECT min(t.seq) - 1 FROM turns t WHERE t.seq > p.upto"
        "   AND NOT EXISTS (SELECT 1 FROM projected d WHERE d.name = p.name AND d.seq = t.seq)),"
        " (SELECT max(seq) FROM turns), 0) WHERE name = ?",
        (name,),
    )
    tx.execute(
        "DELETE FROM projected WHERE name = ? AND seq <= (SELECT upto FROM projections WHERE name = ?)", (name, name)
    )
