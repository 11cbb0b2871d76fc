"""What is written to ``mnests`` and ``events``: the statements that more than one writer needs.

Rules: every change of a weight, a lambda or a state is an event with a reason, in the transaction that makes it. A row
that gets a new weight gets the moment it belongs to, which is never before the one it had. Times are those of events:
to the millisecond.
"""

from collections.abc import Sequence
from datetime import datetime

from metnos.core.clock import MovableClock, from_text, to_text
from metnos.core.ids import UlidMaker
from metnos.mnestome import words
from metnos.mnestome.mnest import COLUMNS, LIVING, Mnest, of_row
from metnos.mnestome.rules import Kind, Rules, State
from metnos.store.db import Transaction

_EVENT = (
    "INSERT INTO events (mnest_id, ts, kind, delta, new_state, reason, turn, decay_lambda)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
_INSERT = (
    "INSERT INTO mnests (id, src_executor, src_version, dst_executor, dst_version, weight, uses, ts_first, ts_used,"
    " ts_decayed, decay_lambda, state, tags) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_BY_ID = f"SELECT {COLUMNS} FROM mnests WHERE id = ?"  # noqa: S608 -- our own words
_BY_TUPLE = (
    f"SELECT {COLUMNS} FROM mnests WHERE src_executor = ? AND src_version = ?"  # noqa: S608 -- our own words
    f" AND dst_executor = ? AND dst_version = ? AND {LIVING}"
)

Ends = tuple[str, str, str, str]  # source, its version, destination, its version


def to_millisecond(ts: datetime) -> datetime:
    """A moment as events will say it."""
    return from_text(to_text(ts))


def by_id(tx: Transaction, key: str) -> Mnest | None:
    row = tx.first(_BY_ID, (key,))
    return of_row(row) if row else None


def live(tx: Transaction, ends: Ends) -> Mnest | None:
    """The one living row of a tuple."""
    row = tx.first(_BY_TUPLE, ends)
    return of_row(row) if row else None


def tell(
    tx: Transaction,
    key: str,
    ts: str,
    kind: Kind,
    delta: float | None,
    reason: str,
    new_state: State | None = None,
    turn: str | None = None,
    decay_lambda: float | None = None,
) -> None:
    """Add an event."""
    tx.execute(_EVENT, (key, ts, kind, delta, new_state, reason, turn, decay_lambda))


def born(
    tx: Transaction,
    ends: Ends,
    state: State,
    weight: float,
    ts: datetime,
    reason: str,
    *,
    tags: Sequence[str] = (),
    turn: str | None = None,
    decay_lambda: float,
    like: Mnest | None = None,
) -> str:
    """A new row and its first event; ``like`` is the row whose uses it goes on counting."""
    key, moment = UlidMaker(MovableClock(ts))(), to_text(ts)
    uses, first, used = (like.uses, like.first, like.used) if like else (1, ts, ts)
    used = min(used, ts)  # a clock that had run ahead
    times = (to_text(min(first, used)), to_text(used), moment)
    tx.execute(_INSERT, (key, *ends, weight, uses, *times, decay_lambda, state, words.to_json(tags)))
    tell(tx, key, moment, Kind.REINFORCE, weight, reason, state, turn, decay_lambda)
    return key


def change_state(tx: Transaction, key: str, state: State, ts: datetime, reason: str) -> None:
    tx.execute("UPDATE mnests SET state = ? WHERE id = ?", (state, key))
    tell(tx, key, to_text(ts), Kind.STATE_CHANGE, None, reason, state)


def absorb(tx: Transaction, into: Mnest, old: Mnest, ts: datetime, reason: str, rules: Rules) -> None:
    """Let a living row go on with what another one had: its uses, its tags, and its weight if that is greater."""
    weight, weighed = into.at(ts), max(into.weighed, ts)
    delta = max(0.0, old.at(ts) - weight)
    tags = words.merged(into.tags, old.tags)
    rate = rules.lambda_for(tags)
    times = (min(into.first, old.first), min(weighed, max(into.used, old.used)), weighed)
    tx.execute(
        "UPDATE mnests SET weight = ?, uses = uses + ?, ts_first = ?, ts_used = ?, ts_decayed = ?, decay_lambda = ?,"
        " tags = ? WHERE id = ?",
        (min(1.0, weight + delta), old.uses, *map(to_text, times), rate, words.to_json(tags), into.id),
    )
    changed = rate if rate != into.decay_lambda else None
    tell(tx, into.id, to_text(ts), Kind.REINFORCE, delta, reason, decay_lambda=changed)
