"""Proto-mnests: executors that were wished for and do not exist, each with what it should do.

Rules: wishes come from closed turns and from nowhere else, each turn once: its mark is committed together with what the
turn changed. A wish that is repeated reinforces one row, and once in a turn counts once. Names, signatures and tags may
be a language model's words: what is no name is not recorded, and all of it is bounded. Does not remove what fades: that
is the ager's work.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from metnos.core.canon import canonical_json
from metnos.core.clock import MovableClock, from_text, to_text
from metnos.core.ids import UlidMaker
from metnos.mnestome.rules import Kind, Rules, decayed, reinforced
from metnos.store.db import Database, Row, Transaction

PROJECTION = "wishes"
STATE = "proto"
WISHED = "wished for"
RULES = Rules()

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_VERSION = re.compile(r"[0-9A-Za-z.+-]{0,64}")  # empty for what has none, such as the request itself
_MOST = 16  # wishes of one turn: more is a model that rambles
_SIGNATURE = 8 * 1024  # bytes
_TAGS, _TAG = 16, 64  # how many, and characters of each

_COLUMNS = (
    "id, src_executor, src_version, dst_executor, weight, uses, ts_first, ts_used, ts_decayed, decay_lambda, tags,"
    " desired_sig"
)
_PROTOS = f"SELECT {_COLUMNS} FROM mnests WHERE state = 'proto'"  # noqa: S608 -- our own words


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


@dataclass(frozen=True, slots=True)
class Proto:
    """One wish. ``weight`` is as it was at ``weighed``; `at` says what it is later."""

    id: str
    source: str
    source_version: str
    name: str
    weight: float
    uses: int
    first: datetime
    used: datetime
    weighed: datetime
    decay_lambda: float
    tags: tuple[str, ...]
    signature: Mapping[str, Any]

    def at(self, now: datetime) -> float:
        """The weight at a later moment."""
        return decayed(self.weight, self.weighed, now, self.decay_lambda)

    @property
    def summary(self) -> str:
        return str(self.signature.get("summary", ""))


# -- writing


def record_wishes(
    db: Database,
    wishes: Sequence[Wished],
    turn: str,
    ts: datetime,
    tags: Sequence[str] = (),
    rules: Rules = RULES,
) -> bool:
    """Work the wishes of one closed turn in, unless that was done before; says whether it was done now."""
    moment = from_text(to_text(ts))  # as the events will say it, to the millisecond
    with db.write() as tx:
        mark = (PROJECTION, turn, to_text(ts))
        if not tx.execute("INSERT OR IGNORE INTO applied_turns (projection, turn, ts) VALUES (?, ?, ?)", mark):
            return False
        for wish in _sound(wishes):
            _record(tx, wish, turn, moment, _tags(tags), rules)
        return True


def forget_turn(db: Database, turn: str) -> None:
    """Take out the words that came from a turn: the signatures it gave. The next such wish brings new ones."""
    with db.write() as tx:
        tx.query("PRAGMA secure_delete = ON")
        tx.execute("UPDATE mnests SET desired_sig = '{}', desired_by = NULL, tags = '[]' WHERE desired_by = ?", (turn,))
    db.query("PRAGMA wal_checkpoint(TRUNCATE)")


def _record(tx: Transaction, wish: Wished, turn: str, ts: datetime, tags: list[str], rules: Rules) -> None:
    row = tx.first(f"{_PROTOS} AND src_executor = ? AND dst_executor = ?", (wish.source, wish.name))
    if row is None:
        key, delta, born = _insert(tx, wish, turn, ts, tags, rules), rules.birth, STATE
    else:
        known = _proto(row)
        key, delta, born = known.id, rules.reinforcement, None
        _reinforce(tx, known, wish, turn, ts, tags, rules)
    tx.execute(
        "INSERT INTO events (mnest_id, ts, kind, delta, new_state, reason, turn) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (key, to_text(ts), Kind.REINFORCE, delta, born, WISHED, turn),
    )


def _insert(tx: Transaction, wish: Wished, turn: str, ts: datetime, tags: list[str], rules: Rules) -> str:
    key = UlidMaker(MovableClock(ts))()
    moment = to_text(ts)
    values = (
        *(key, wish.source, wish.source_version, wish.name, rules.birth),
        *(moment, moment, moment, rules.decay_lambda),
        *(canonical_json(tags).decode(), _signature(wish), turn),
    )
    tx.execute(
        "INSERT INTO mnests (id, src_executor, src_version, dst_executor, dst_version, weight, uses, ts_first, ts_used,"
        " ts_decayed, decay_lambda, state, tags, desired_sig, desired_by)"
        " VALUES (?, ?, ?, ?, NULL, ?, 1, ?, ?, ?, ?, 'proto', ?, ?, ?)",
        values,
    )
    return key


def _reinforce(
    tx: Transaction, known: Proto, wish: Wished, turn: str, ts: datetime, tags: list[str], rules: Rules
) -> None:
    weight = reinforced(known.weight, known.weighed, ts, known.decay_lambda, rules.reinforcement)
    merged = list(dict.fromkeys([*known.tags, *tags]))[:_TAGS]
    tx.execute(
        "UPDATE mnests SET weight = ?, uses = uses + 1, ts_used = ?, ts_decayed = ?, src_version = ?, tags = ?"
        " WHERE id = ?",
        (
            weight,
            to_text(max(known.used, ts)),
            to_text(max(known.weighed, ts)),
            wish.source_version,
            canonical_json(merged).decode(),
            known.id,
        ),
    )
    if not known.signature:  # it was forgotten; what is there otherwise stays, so that a later wish cannot change it
        tx.execute("UPDATE mnests SET desired_sig = ?, desired_by = ? WHERE id = ?", (_signature(wish), turn, known.id))


# -- reading


def protos(db: Database) -> list[Proto]:
    """Every wish, the one wished for last first."""
    return [_proto(row) for row in db.query(f"{_PROTOS} ORDER BY ts_used DESC, id DESC")]


def recurring(
    db: Database, now: datetime, min_uses: int = RULES.recurring_uses, min_weight: float = RULES.recurring_weight
) -> list[Proto]:
    """The wishes that came often enough and are fresh enough, the weightiest first."""
    found = [each for each in protos(db) if each.uses >= min_uses and each.at(now) >= min_weight]
    return sorted(found, key=lambda each: (-each.at(now), each.id))


def unapplied(db: Database, turns: Sequence[str]) -> list[str]:
    """Which of these turns were not worked in yet, in the order given."""
    done = db.query(
        "SELECT turn FROM applied_turns WHERE projection = ? AND turn IN (SELECT value FROM json_each(?))",
        (PROJECTION, canonical_json(list(turns)).decode()),
    )
    known = {turn for (turn,) in done}
    return [turn for turn in turns if turn not in known]


# -- inside


def _sound(wishes: Sequence[Wished]) -> list[Wished]:
    """What can be recorded at all; each source and name once."""
    found: dict[tuple[str, str], Wished] = {}
    for wish in wishes:
        if (
            _NAME.fullmatch(wish.name)
            and _NAME.fullmatch(wish.source)
            and _VERSION.fullmatch(wish.source_version)
            and wish.name != wish.source
        ):
            found.setdefault((wish.source, wish.name), wish)
    return list(found.values())[:_MOST]


def _signature(wish: Wished) -> str:
    """As it is if it can be stored, else without what is too much."""
    summary = str(wish.signature.get("summary", ""))[:_TAG].encode("utf-8", "backslashreplace").decode()
    try:
        text = canonical_json(dict(wish.signature))
    except (TypeError, ValueError, RecursionError):
        return canonical_json({"summary": summary}).decode()
    return (text if len(text) <= _SIGNATURE else canonical_json({"summary": summary})).decode()


def _tags(tags: Sequence[str]) -> list[str]:
    return [tag[:_TAG].encode("utf-8", "backslashreplace").decode() for tag in tags[:_TAGS]]


def _proto(row: Row) -> Proto:
    key, source, version, name, weight, uses, first, used, weighed, decay_lambda, tags, signature = row
    return Proto(
        id=key,
        source=source,
        source_version=version,
        name=name,
        weight=weight,
        uses=uses,
        first=from_text(first),
        used=from_text(used),
        weighed=from_text(weighed),
        decay_lambda=decay_lambda,
        tags=tuple(json.loads(tags)),
        signature=json.loads(signature),
    )
