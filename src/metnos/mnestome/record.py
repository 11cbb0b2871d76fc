"""What a closed turn leaves in the mnestome: the passings that happened, and what was wished for.

Rules:

- Mnests come from closed turns, each turn once: its mark is committed together with all that the turn changed.
- A passing that is seen several times in one turn counts once. Co-occurrence is no passing: what is recorded is what is
  given, and whoever gives it has seen data move.
- One living row for a tuple. A use makes it active; a tuple of which there is only history gets a new row.
- Tags come from the turn and stay with the mnest, beside those it has. A lambda of a tag holds from then on.

Does not guarantee that a passing's executors exist: names and versions are bounded, and what is no name is left out.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from metnos.core.clock import from_text, to_text
from metnos.mnestome import proto, rows, words
from metnos.mnestome.mnest import LIVING
from metnos.mnestome.proto import Wished
from metnos.mnestome.rules import Kind, Rules, State, reinforced
from metnos.store import applied
from metnos.store.db import Database, Row, Transaction

PROJECTION = "mnests"
WISHES = "wishes"  # the name under which turns were applied while wishes were all there was
PASSED = "passed"
USED = "used"
RULES = Rules()

_MOST = 256  # different passings of one turn: a plan of more steps is none that anybody made
_LIVE_ROW = (
    "SELECT rowid, id, weight, ts_used, ts_decayed, decay_lambda, state, tags FROM mnests"  # noqa: S608 -- our words
    f" WHERE src_executor = ? AND src_version = ? AND dst_executor = ? AND dst_version = ? AND {LIVING}"
)
# Two statements for a use: one that touches neither state nor tags spares SQLite half of the indexes.
_USE = "UPDATE mnests SET weight = ?, uses = uses + 1, ts_used = ?, ts_decayed = ? WHERE rowid = ?"
_USE_AND_CHANGE = (
    "UPDATE mnests SET weight = ?, uses = uses + 1, ts_used = ?, ts_decayed = ?, decay_lambda = ?, tags = ?,"
    " state = 'active' WHERE rowid = ?"
)


class Passed(Protocol):
    """What a turn records of a passing."""

    @property
    def src(self) -> str: ...

    @property
    def src_version(self) -> str: ...

    @property
    def dst(self) -> str: ...

    @property
    def dst_version(self) -> str: ...


class Closed(Protocol):
    """What is read of a closed turn."""

    @property
    def turn(self) -> str: ...

    @property
    def closed(self) -> datetime: ...

    @property
    def passings(self) -> Sequence[Passed]: ...

    @property
    def desired(self) -> Sequence[Wished]: ...

    @property
    def tags(self) -> Sequence[str]: ...


# -- turns


def record_turn(db: Database, facts: Closed, rules: Rules = RULES) -> bool:
    """Work a closed turn in, unless that was done before; says whether it was done now."""
    ts, tags = rows.to_millisecond(facts.closed), words.tags(facts.tags)
    with db.write() as tx:
        if not applied.mark(tx, PROJECTION, facts.turn, to_text(ts)):
            return False
        for passing in _different(facts.passings):
            record_passing(db, passing, facts.turn, ts, tags, rules)
        wished = tx.first("SELECT 1 FROM applied_turns WHERE projection = ? AND turn = ?", (WISHES, facts.turn))
        if not wished:
            proto.record(tx, facts.desired, facts.turn, ts, tags, rules)
        return True


def unapplied(db: Database, turns: Sequence[str]) -> list[str]:
    """Which of these turns were not worked in yet, in the order given."""
    return applied.unapplied(db, PROJECTION, turns)


# -- passings


def record_passing(
    db: Database, passing: Passed, turn: str, ts: datetime, tags: Sequence[str] = (), rules: Rules = RULES
) -> str | None:
    """Record one passing, whole or not at all; the id of its mnest, or nothing if it names no executors.

    The only way in which a use is written. Inside a transaction it is part of it.
    """
    ends = _ends(passing)
    if not _is_sound(ends):
        return None
    ts, labels = rows.to_millisecond(ts), words.tags(tags)
    with db.write() as tx:
        row = tx.first(_LIVE_ROW, ends)
        if row is not None:
            return _use(tx, row, turn, ts, labels, rules)
        rate = rules.lambda_for(labels)
        return rows.born(tx, ends, State.ACTIVE, rules.birth, ts, PASSED, tags=labels, turn=turn, decay_lambda=rate)


def _use(tx: Transaction, row: Row, turn: str, ts: datetime, tags: list[str], rules: Rules) -> str:
    number, key, weight, used, weighed, rate, state, known = row
    moment = to_text(ts)
    weight = reinforced(weight, from_text(weighed), ts, rate, rules.reinforcement)
    now = (weight, max(used, moment), max(weighed, moment))
    labels, new_rate = _labels(known, tags, rules)
    if state == State.ACTIVE and labels == known and new_rate == rate:
        tx.execute(_USE, (*now, number))
    else:
        tx.execute(_USE_AND_CHANGE, (*now, new_rate, labels, number))
    changed = new_rate if new_rate != rate else None
    rows.tell(tx, key, moment, Kind.REINFORCE, rules.reinforcement, PASSED, None, turn, changed)
    if state != State.ACTIVE:
        rows.tell(tx, key, moment, Kind.STATE_CHANGE, None, USED, State.ACTIVE, turn)
    return str(key)


def _labels(known: str, tags: list[str], rules: Rules) -> tuple[str, float]:
    """The tags of a mnest after a use, as they are stored, and how fast it fades with them."""
    if not tags and not rules.lambdas:  # the usual case
        return known, rules.decay_lambda
    before = words.from_json(known)
    after = words.merged(before, tags)
    return (known if after == before else words.to_json(after)), rules.lambda_for(after)


def _ends(passing: Passed) -> rows.Ends:
    return passing.src, passing.src_version, passing.dst, passing.dst_version


def _is_sound(ends: rows.Ends) -> bool:
    """Whether it can be recorded at all."""
    src, src_version, dst, dst_version = ends
    return all(map(words.is_version, (src_version, dst_version))) and all(map(words.is_name, (src, dst)))


def _different(passings: Iterable[Passed]) -> list[Passed]:
    """Each tuple that can be recorded, once."""
    return list({_ends(each): each for each in passings if _is_sound(_ends(each))}.values())[:_MOST]
