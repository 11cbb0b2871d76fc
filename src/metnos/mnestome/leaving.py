"""How rows leave the living mnestome: faded wishes, old history, and what the owner let go.

Rules: an event that says why comes first, in the transaction that moves the row. A wish that faded is removed, and its
events stay. A row that was superseded stays for its time and then goes to ``mnests_archive``. A mnest that is hardly
there any more is proposed, once for each time it was left alone, and goes only when the owner says so and if it was not
used meanwhile. Does not ask: whoever does notes it with `asked`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from metnos.core.clock import from_text, to_text
from metnos.core.decay import days_between
from metnos.mnestome.past import Past
from metnos.mnestome.rules import Kind, Rules, State, is_noise, is_past
from metnos.store.db import Database, Row, Transaction

REMOVED, ARCHIVED = "removed", "archived"  # what an event says of a row that is not among the living any more
FADED = "a wish that did not come back"
_COLUMNS = (
    "id, src_executor, src_version, dst_executor, dst_version, weight, uses, ts_first, ts_used, ts_decayed,"
    " decay_lambda, state, tags, desired_sig, desired_by"
)
_ASKED = "asked "  # a fact of the ager: this mnest, as it was last used then, is before the owner
_PROPOSABLE = (
    " FROM mnests m WHERE state = ? AND weight < ? AND ts_used <= ?"
    " AND NOT EXISTS (SELECT 1 FROM ager_facts f WHERE f.name = ? || m.id AND f.value = m.ts_used)"
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A mnest that could go."""

    id: str
    source: str
    destination: str
    weight: float
    uses: int
    used: datetime


# -- wishes


def remove_noise(db: Database, now: datetime, active_days: Callable[[datetime], int], rules: Rules) -> tuple[str, ...]:
    """Remove the wishes that faded, also by the days on which the owner was there; returns their names."""
    gone = []
    with db.write() as tx:
        found = tx.query(
            "SELECT id, dst_executor, weight, ts_used, ts_decayed, decay_lambda FROM mnests"
            " WHERE state = ? AND weight < ? ORDER BY id",
            (State.PROTO, rules.proto_min),
        )
        for key, name, weight, used, weighed, decay_lambda in found:
            since = from_text(used)
            there = by_presence(weight, days_between(since, from_text(weighed)), active_days(since), decay_lambda)
            if is_noise(State.PROTO, there, rules):
                _tell(tx, key, now, REMOVED, FADED)
                tx.execute("DELETE FROM mnests WHERE id = ?", (key,))
                gone.append(name)
    return tuple(gone)


def by_presence(weight: float, days: float, active: float, decay_lambda: float) -> float:
    """A weight that faded over ``days``, as if only those had counted on which the owner was there."""
    return weight * math.exp(decay_lambda * max(0.0, days - active))


# -- history


def archive_past(db: Database, past: Past, now: datetime, rules: Rules) -> int:
    """Bring rows that were superseded long ago to the archive; returns how many."""
    rows = db.query("SELECT id, ts_used FROM mnests WHERE state = ?", (State.SUPERSEDED,))
    old = [
        key
        for key, used in rows
        if is_past(State.SUPERSEDED, days_between(_superseded(db, past, key) or from_text(used), now), rules)
    ]
    reason = f"superseded {rules.archive_after_days} days ago"
    return sum(_archive(db, key, reason, now, (State.SUPERSEDED,)) for key in old)


def _superseded(db: Database, past: Past, key: str) -> datetime | None:
    """When a row became history. Whatever happened to it later tells when a clock had run ahead."""
    mine = "SELECT id FROM events WHERE mnest_id = ? AND new_state = 'superseded' ORDER BY id DESC LIMIT 1"
    row = db.first(mine, (key,))
    if row is not None:
        (earliest,) = db.first("SELECT min(ts) FROM events WHERE mnest_id = ? AND id >= ?", (key, row[0])) or (None,)
        return from_text(earliest) if earliest else None
    times: list[str] = []
    for event in reversed(past.rows(db, key)):
        times.append(event[2])
        if event[5] == State.SUPERSEDED:
            return from_text(min(times))
    return None


# -- what the owner decides about


def proposals(db: Database, cutoff: datetime | None, rules: Rules, most: int) -> tuple[Proposal, ...]:
    """What could go: hardly there, not used since ``cutoff``, and not asked about yet; the lightest first."""
    if cutoff is None:
        return ()
    found = db.query(
        f"SELECT id, src_executor, dst_executor, weight, uses, ts_used {_PROPOSABLE} ORDER BY weight, id LIMIT ?",
        (*_proposable(cutoff, rules), most),
    )
    return tuple(map(_proposal, found))


def proposable(db: Database, cutoff: datetime | None, rules: Rules) -> int:
    """How many there are altogether."""
    if cutoff is None:
        return 0
    row = db.first(f"SELECT count(*) {_PROPOSABLE}", _proposable(cutoff, rules))
    return int(row[0]) if row else 0


def asked(db: Database, proposal: Proposal) -> None:
    """Note that the owner was asked: not again, whatever they say, until it was used and left alone once more."""
    with db.write() as tx:
        tx.execute(
            "INSERT INTO ager_facts (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
            (_ASKED + proposal.id, to_text(proposal.used)),
        )


def archive(db: Database, mnest: str, reason: str, now: datetime) -> bool:
    """Take a mnest out of the living ones because the owner said so; not if it was used again meanwhile."""
    return _archive(db, mnest, reason, now, (State.DECAYING, State.SUPERSEDED))


def _archive(db: Database, key: str, reason: str, now: datetime, states: tuple[State, ...]) -> bool:
    places = ", ".join("?" * len(states))
    with db.write() as tx:
        copied = tx.execute(
            f"INSERT OR REPLACE INTO mnests_archive ({_COLUMNS}, ts_archived, reason)"  # noqa: S608 -- our own words
            f" SELECT {_COLUMNS}, ?, ? FROM mnests WHERE id = ? AND state IN ({places})",
            (to_text(now), reason, key, *states),
        )
        if not copied:
            return False
        _tell(tx, key, now, ARCHIVED, reason)
        tx.execute("DELETE FROM mnests WHERE id = ?", (key,))
        tx.execute("DELETE FROM ager_facts WHERE name = ?", (_ASKED + key,))
        return True


def _tell(tx: Transaction, key: str, now: datetime, becomes: str, reason: str) -> None:
    tx.execute(
        "INSERT INTO events (mnest_id, ts, kind, new_state, reason) VALUES (?, ?, ?, ?, ?)",
        (key, to_text(now), Kind.STATE_CHANGE, becomes, reason),
    )


def _proposable(cutoff: datetime, rules: Rules) -> tuple[str, float, str, str]:
    return State.DECAYING, rules.archive_weight, to_text(cutoff), _ASKED


def _proposal(row: Row) -> Proposal:
    key, source, destination, weight, uses, used = row
    return Proposal(key, source, destination, weight, uses, from_text(used))
