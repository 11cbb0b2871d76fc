"""Proto-mnests: executors that were wished for and do not exist, each with what it should do.

Rules: wishes come from closed turns, each turn once, which is `metnos.mnestome.record`'s work. A wish that is repeated
reinforces one row, and once in a turn counts once. Names, signatures and tags may be a language model's words: what is
no name is not recorded, and all of it is bounded. Does not remove what fades: that is the ager's work.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from metnos.core.canon import canonical_json
from metnos.core.clock import MovableClock, to_text
from metnos.core.ids import UlidMaker
from metnos.mnestome import rows, words
from metnos.mnestome.mnest import COLUMNS, Mnest, of_row
from metnos.mnestome.rules import Kind, Rules, State, reinforced
from metnos.store.db import Database, Transaction

WISHED = "wished for"
RULES = Rules()

_MOST = 16  # wishes of one turn: more is a model that rambles
_SIGNATURE = 8 * 1024  # bytes

_PROTOS = f"SELECT {COLUMNS} FROM mnests WHERE state = 'proto'"  # noqa: S608 -- our own words


class Wished(Protocol):
    """What a turn records of a wish. ``signature`` has summary, inputs, outputs, errors."""

    @property
    def name(self) -> str: ...

    @property
    def source(self) -> str: ...

    @property
    def source_version(self) -> str: ...

    @property
    def signature(self) -> Mapping[str, Any]: ...


# -- writing


def record(
    tx: Transaction, wishes: Sequence[Wished], turn: str, ts: datetime, tags: list[str], rules: Rules = RULES
) -> None:
    """Work the wishes of one turn in. ``ts`` is to the millisecond, as events say it."""
    for wish in _sound(wishes):
        _record(tx, wish, turn, ts, tags, rules)


def forget_turn(db: Database, turn: str) -> None:
    """Take out the words that came from a turn: the signatures it gave. The next such wish brings new ones."""
    with db.write() as tx:
        tx.query("PRAGMA secure_delete = ON")
        tx.execute("UPDATE mnests SET desired_sig = '{}', desired_by = NULL, tags = '[]' WHERE desired_by = ?", (turn,))
    db.query("PRAGMA wal_checkpoint(TRUNCATE)")


def _record(tx: Transaction, wish: Wished, turn: str, ts: datetime, tags: list[str], rules: Rules) -> None:
    row = tx.first(f"{_PROTOS} AND src_executor = ? AND dst_executor = ?", (wish.source, wish.name))
    if row is None:
        _insert(tx, wish, turn, ts, tags, rules)
    else:
        _reinforce(tx, of_row(row), wish, turn, ts, tags, rules)


def _insert(tx: Transaction, wish: Wished, turn: str, ts: datetime, tags: list[str], rules: Rules) -> None:
    key = UlidMaker(MovableClock(ts))()
    moment, rate = to_text(ts), rules.lambda_for(tags)
    values = (
        *(key, wish.source, wish.source_version, wish.name, rules.birth),
        *(moment, moment, moment, rate),
        *(words.to_json(tags), _signature(wish), turn),
    )
    tx.execute(
        "INSERT INTO mnests (id, src_executor, src_version, dst_executor, dst_version, weight, uses, ts_first, ts_used,"
        " ts_decayed, decay_lambda, state, tags, desired_sig, desired_by)"
        " VALUES (?, ?, ?, ?, NULL, ?, 1, ?, ?, ?, ?, 'proto', ?, ?, ?)",
        values,
    )
    rows.tell(tx, key, moment, Kind.REINFORCE, rules.birth, WISHED, State.PROTO, turn, rate)


def _reinforce(
    tx: Transaction, known: Mnest, wish: Wished, turn: str, ts: datetime, tags: list[str], rules: Rules
) -> None:
    weight = reinforced(known.weight, known.weighed, ts, known.decay_lambda, rules.reinforcement)
    merged = words.merged(known.tags, tags)
    rate = rules.lambda_for(merged)
    times = (to_text(max(known.used, ts)), to_text(max(known.weighed, ts)))
    tx.execute(
        "UPDATE mnests SET weight = ?, uses = uses + 1, ts_used = ?, ts_decayed = ?, src_version = ?, decay_lambda = ?,"
        " tags = ? WHERE id = ?",
        (weight, *times, wish.source_version, rate, words.to_json(merged), known.id),
    )
    if not known.signature:  # it was forgotten; what is there otherwise stays, so that a later wish cannot change it
        tx.execute("UPDATE mnests SET desired_sig = ?, desired_by = ? WHERE id = ?", (_signature(wish), turn, known.id))
    changed = rate if rate != known.decay_lambda else None
    rows.tell(tx, known.id, to_text(ts), Kind.REINFORCE, rules.reinforcement, WISHED, None, turn, changed)


# -- reading


def protos(db: Database) -> list[Mnest]:
    """Every wish, the one wished for last first."""
    return [of_row(row) for row in db.query(f"{_PROTOS} ORDER BY ts_used DESC, id DESC")]


def recurring(
    db: Database, now: datetime, min_uses: int = RULES.recurring_uses, min_weight: float = RULES.recurring_weight
) -> list[Mnest]:
    """The wishes that came often enough and are fresh enough, the weightiest first."""
    found = [each for each in protos(db) if each.uses >= min_uses and each.at(now) >= min_weight]
    return sorted(found, key=lambda each: (-each.at(now), each.id))


# -- inside


def _sound(wishes: Sequence[Wished]) -> list[Wished]:
    """What can be recorded at all; each source and name once."""
    found: dict[tuple[str, str], Wished] = {}
    for wish in wishes:
        names = words.is_name(wish.name) and words.is_name(wish.source) and wish.name != wish.source
        if names and words.is_version(wish.source_version):
            found.setdefault((wish.source, wish.name), wish)
    return list(found.values())[:_MOST]


def _signature(wish: Wished) -> str:
    """As it is if it can be stored, else without what is too much."""
    summary = words.bounded(str(wish.signature.get("summary", "")))
    try:
        text = canonical_json(dict(wish.signature))
    except (TypeError, ValueError, RecursionError):
        return canonical_json({"summary": summary}).decode()
    return (text if len(text) <= _SIGNATURE else canonical_json({"summary": summary})).decode()
