"""Lists of mnests for people, one mnest by a part of its id, and how its weight came to be.

Rules: reads only; the heaviest first, as of the moment asked for. Lists read whole rows and take memory with their
length; `metnos.mnestome.graph.top` does not.
"""

from dataclasses import dataclass
from datetime import datetime

from metnos.core.canon import canonical_json
from metnos.core.clock import from_text
from metnos.core.errors import UsageError
from metnos.core.ids import LENGTH
from metnos.mnestome.mnest import COLUMNS, LIVING, Mnest, of_row
from metnos.mnestome.past import COLUMNS as EVENT_COLUMNS
from metnos.mnestome.past import Past
from metnos.mnestome.rules import Event, Kind, Rules, State, replayed
from metnos.store.db import Database, Row, Value

RULES = Rules()
_PREFIX = "MNEST_"  # as the source document writes ids
_FIX = "`metnos mnestome list --json` shows the ids."
_EVENTS = f"SELECT {EVENT_COLUMNS} FROM events WHERE mnest_id = ? ORDER BY id"  # noqa: S608 -- our own words


@dataclass(frozen=True, slots=True)
class Change:
    """One event of a mnest, and what the mnest weighed after it."""

    event: Event
    new_state: str | None  # a `State`, or what `leaving` says of a row that is gone
    turn: str | None
    weight: float


# -- lists


def listing(db: Database, now: datetime, tag: str | None = None, state: State | None = None) -> list[Mnest]:
    """The living mnests, or those of one state; all, or those with a tag."""
    where, values = LIVING, list[Value]()
    if state is not None:
        where, values = "state = ?", [state]
    if tag is not None:
        # A quick look for its text first; whether it really is a tag is seen in what that finds.
        where, values = f"{where} AND instr(tags, ?) > 0", [*values, canonical_json(tag).decode()]
    rows = db.query(f"SELECT {COLUMNS} FROM mnests WHERE {where}", values)  # noqa: S608 -- our own words
    found = [each for each in map(of_row, rows) if tag is None or tag in each.tags]
    return sorted(found, key=lambda each: (-each.at(now), each.id))


def by_tag(db: Database, tag: str, now: datetime) -> list[Mnest]:
    """The living mnests with a tag."""
    return listing(db, now, tag=tag)


def decaying(db: Database, now: datetime) -> list[Mnest]:
    """The mnests that are on their way out."""
    return listing(db, now, state=State.DECAYING)


# -- one of them


def find(db: Database, part: str) -> Mnest:
    """The mnest whose id begins or ends so, wherever it is: living, superseded or in the archive."""
    wanted = part.strip().upper().removeprefix(_PREFIX)
    if not wanted or len(wanted) > LENGTH or not wanted.isalnum() or not wanted.isascii():
        raise UsageError(f"{part[:40]!r} is no part of a mnest's id", fix=_FIX)
    found = _by_id(db, "id >= ? AND id < ?", (wanted, wanted + "~")) or _by_id(db, "id LIKE ?", (f"%{wanted}",))
    if not found:
        raise UsageError(f"there is no mnest whose id begins or ends with {wanted}", fix=_FIX)
    if len(found) > 1:
        raise UsageError(f"several mnests have an id with {wanted}", fix="Give more of the id.")
    return of_row(found[0])


def _by_id(db: Database, where: str, values: tuple[str, ...]) -> list[Row]:
    """At most two: that it is not the only one is all that counts."""
    sql = (
        f"SELECT {COLUMNS} FROM mnests WHERE {where}"  # noqa: S608 -- our own words
        f" UNION ALL SELECT {COLUMNS} FROM mnests_archive WHERE {where} LIMIT 2"
    )
    return db.query(sql, (*values, *values))


def history(db: Database, key: str, past: Past | None = None, rules: Rules = RULES) -> list[Change]:
    """All that happened to a mnest, the oldest first; ``past`` has what happened in earlier years."""
    told, weight, at, rate = list[Change](), 0.0, None, rules.decay_lambda
    events = past.rows(db, key) if past is not None else db.query(_EVENTS, (key,))
    for _, _, ts, kind, delta, new_state, reason, turn, decay_lambda in events:
        event = Event(from_text(ts), Kind(kind), delta, decay_lambda, reason)
        weight, at, rate = replayed(weight, at, rate, event)
        told.append(Change(event, new_state, turn, weight))
    return told
