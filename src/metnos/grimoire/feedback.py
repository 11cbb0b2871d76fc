"""What the owner thought of an answer: rows that are only ever added, of which the latest counts."""

from dataclasses import dataclass
from datetime import datetime

from metnos.core.clock import from_text, to_text
from metnos.grimoire import content, rules
from metnos.grimoire.medium_rows import Store
from metnos.store.db import Transaction

_NOTE = 2000  # characters


@dataclass(frozen=True, slots=True)
class Feedback:
    """Good or bad, and perhaps why."""

    turn: str
    good: bool
    note: str
    ts: datetime

    @property
    def weight(self) -> float:
        return rules.weight(self.good)


def add(tx: Transaction, given: Feedback) -> None:
    tx.execute(
        "INSERT INTO feedback (turn, good, note, ts) VALUES (?, ?, ?, ?)",
        (given.turn, int(given.good), content.text(given.note, _NOTE), to_text(given.ts)),
    )


def judged(store: Store, *, good: bool) -> list[str]:
    """The turns of which the owner's last word is that they were good, or that they were not."""
    rows = store.query(
        "SELECT turn FROM feedback f WHERE good = ? AND id = (SELECT max(id) FROM feedback WHERE turn = f.turn)",
        (int(good),),
    )
    return [turn for (turn,) in rows]


def latest(store: Store, turn: str) -> Feedback | None:
    """The owner's last word on a turn."""
    row = store.first("SELECT turn, good, note, ts FROM feedback WHERE turn = ? ORDER BY id DESC LIMIT 1", (turn,))
    return None if row is None else Feedback(row[0], bool(row[1]), row[2], from_text(row[3]))
