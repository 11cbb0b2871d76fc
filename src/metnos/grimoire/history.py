"""Turns page by page, as a conversation or a list shows them, and how many go on. Reads only.

Rules: the newest first, by the order in which they were closed; a page begins behind a turn that was on the one before,
so that what is asked meanwhile neither shows twice nor hides anything.
"""

from dataclasses import dataclass
from datetime import datetime

from metnos.grimoire import medium_rows as rows
from metnos.grimoire.trace import Kept, State
from metnos.sandbox import process
from metnos.store.db import Database, Row

# What a turn took is what planning, its steps and whatever else a model was asked took, without the time in which it
# waited for the owner.
_SEEN = """SELECT t.id, t.conversation, t.channel, t.asked, t.zone, t.state, t.path, t.kept, t.continues, t.item,
    coalesce((SELECT text FROM messages m WHERE m.turn = t.id AND m.role = 'owner'), ''),
    coalesce((SELECT text FROM messages m WHERE m.turn = t.id AND m.role = 'agent'), ''),
    (SELECT group_concat(executor, ' ') FROM (SELECT executor FROM steps s WHERE s.turn = t.id ORDER BY place)),
    (SELECT good FROM feedback f WHERE f.turn = t.id ORDER BY f.id DESC LIMIT 1),
    coalesce(json_extract(t.plan, '$.ms'), 0.0) + (SELECT total(wall_ms) FROM steps s WHERE s.turn = t.id)
      + (SELECT total(wall_ms) FROM model_calls c WHERE c.turn = t.id AND c.purpose <> 'plan'),
    (SELECT total(usd) FROM model_calls c WHERE c.turn = t.id) FROM turns t"""


@dataclass(frozen=True, slots=True)
class Seen:
    """A turn as a conversation shows it. ``good`` is the owner's last word on it, if there is one."""

    id: str
    conversation: str
    channel: str
    asked: datetime
    state: State
    path: str
    kept: Kept
    continues: str
    item: str
    text: str
    answer: str
    executors: tuple[str, ...]
    good: bool | None
    wall_ms: float
    usd: float


def page(
    db: Database,
    count: int,
    *,
    before: str | None = None,
    conversation: str | None = None,
    turn: str | None = None,
    within: str = "",
) -> list[Seen]:
    """The turns that were closed before a turn, or the newest; of one conversation, the one ``turn``, or those
    whose conversations begin so."""
    found = db.query(
        f"{_SEEN} WHERE (? IS NULL OR t.seq < (SELECT seq FROM turns b WHERE b.id = ?))"  # noqa: S608 -- constants
        " AND (? IS NULL OR t.conversation = ?) AND (? IS NULL OR t.id = ?)"
        " AND substr(t.conversation, 1, ?) = ? ORDER BY t.seq DESC LIMIT ?",
        (before, before, conversation, conversation, turn, turn, len(within), within, count),
    )
    return list(map(_seen, found))


def is_turn(db: Database, turn: str) -> bool:
    return db.first("SELECT 1 FROM turns WHERE id = ?", (turn,)) is not None


def running(db: Database) -> int:
    """How many turns go on, in whatever process."""
    found = db.query("SELECT pid, started FROM open_turns")
    return sum(process.start_time(pid) == started for pid, started in found)


def _seen(row: Row) -> Seen:
    turn, conversation, channel, asked, zone, state, path, kept, continues, item, text, answer, used, good, ms, usd = (
        row
    )
    return Seen(
        id=turn,
        conversation=conversation,
        channel=channel,
        asked=rows.in_zone(asked, zone),
        state=State(state),
        path=path,
        kept=Kept(kept),
        continues=continues,
        item=item,
        text=text,
        answer=answer,
        executors=tuple(used.split()) if used else (),
        good=None if good is None else bool(good),
        wall_ms=ms,
        usd=usd,
    )
