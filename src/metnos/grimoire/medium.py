"""Medium memory: conversations and the traces of turns. Closing a turn here is the one commit point.

Rules: while a turn goes on, nothing of it is here but that it goes on; `close` writes all of it in one transaction, or
nothing. Closing again changes nothing. A turn whose process died is found by process id and start time, and recorded as
interrupted, once, by whoever looks first. Everything else that learns from turns is a projection of what is here
(see `projections`). Content can be taken out (see `retention`); what a turn was stays.

Does not guarantee to tell the living from the dead across containers or machines that share one workspace.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from metnos.core.canon import canonical_json
from metnos.core.clock import Clock, from_text, to_text
from metnos.core.errors import TurnError
from metnos.grimoire import feedback as opinions
from metnos.grimoire import medium_rows as rows
from metnos.grimoire import projections, retention
from metnos.grimoire.feedback import Feedback
from metnos.grimoire.medium_schema import MIGRATIONS
from metnos.grimoire.retention import Retained, Summarise, Summary
from metnos.grimoire.trace import Desired, Kept, Passing, State, StepTrace, Trace
from metnos.sandbox import process
from metnos.store.db import Database, Row

__all__ = ["MIGRATIONS", "Conversation", "Facts", "Feedback", "Glance", "Medium", "Open", "Retained", "Said", "Summary"]

_FIX = "See them: metnos turns list"
_GLANCE = """SELECT t.id, t.conversation, t.channel, t.asked, t.zone, t.closed, t.state, t.path, t.kept,
    coalesce((SELECT text FROM messages m WHERE m.turn = t.id AND m.role = 'owner'), ''),
    (SELECT group_concat(executor, ' ') FROM (SELECT executor FROM steps s WHERE s.turn = t.id ORDER BY place)),
    (SELECT good FROM feedback f WHERE f.turn = t.id ORDER BY f.id DESC LIMIT 1) FROM turns t"""
_OPEN = "id, pid, started, text_digest, conversation, channel, sender, ts"
_DIED = "its process ended before the turn was over"


@dataclass(frozen=True, slots=True)
class Open:
    """A turn that has begun and was not closed."""

    id: str
    pid: int
    started: str
    text_digest: str
    conversation: str
    channel: str
    sender: str
    ts: datetime

    @property
    def dead(self) -> bool:
        return process.start_time(self.pid) != self.started


@dataclass(frozen=True, slots=True)
class Glance:
    """A turn as a list shows it. ``good`` is the owner's last word on it, if there is one."""

    id: str
    conversation: str
    channel: str
    asked: datetime
    closed: datetime
    state: State
    path: str
    kept: Kept
    text: str
    executors: tuple[str, ...]
    good: bool | None


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns that belong together."""

    id: str
    channel: str
    sender: str
    first: datetime
    last: datetime
    turns: int


class Said(NamedTuple):
    """One message: who said it (`medium_rows.Role`), what, and in which turn."""

    role: str
    text: str
    turn: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What projections read of a turn: no text, no arguments, no replies. They outlive its content."""

    turn: str
    closed: datetime
    state: State
    passings: tuple[Passing, ...]
    desired: tuple[Desired, ...]
    tags: tuple[str, ...]


class Medium:
    """Conversations and turns of one workspace."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self.db = db
        self._clock = clock

    # -- a turn

    def begin(
        self,
        turn: str,
        *,
        pid: int,
        started: str,
        text_digest: str,
        conversation: str = "",
        channel: str = "",
        sender: str = "",
    ) -> None:
        """Note that a turn goes on in this process. ``started`` is `sandbox.process.start_time` of ``pid``."""
        now = to_text(self._clock.now())
        with self.db.write() as tx:
            tx.execute(
                f"INSERT OR REPLACE INTO open_turns ({_OPEN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 -- ours
                (turn, pid, started, text_digest, conversation, channel, sender, now),
            )

    def close(self, trace: Trace) -> bool:
        """Record a turn, all of it; says whether it was not recorded before."""
        with self.db.write() as tx:
            tx.execute("DELETE FROM open_turns WHERE id = ?", (trace.id,))
            if tx.first("SELECT 1 FROM turns WHERE id = ?", (trace.id,)) is not None:
                return False
            rows.write(tx, trace)
            return True

    def interrupted(self) -> list[Open]:
        """Turns that were never closed and whose process is gone, the oldest first."""
        found = self.db.query(f"SELECT {_OPEN} FROM open_turns ORDER BY ts, id")  # noqa: S608 -- our own words
        return [each for each in map(_open, found) if each.dead]

    def settle_interrupted(self, steps: Callable[[str], Sequence[StepTrace]] | None = None) -> list[Trace]:
        """Record every interrupted turn as such, once, whoever looks; returns those that this call recorded.

        ``steps`` tells what is known elsewhere (undo, audit) of what a turn did before its process died.
        """
        settled = []
        for each in self.interrupted():
            trace = _interrupted(each, self._clock.now(), tuple(steps(each.id)) if steps else ())
            with self.db.write() as tx:
                # Somebody else may have settled it, or the number may belong to a new turn's process by now.
                mine = tx.execute(
                    "DELETE FROM open_turns WHERE id = ? AND pid = ? AND started = ?",
                    (each.id, each.pid, each.started),
                )
                if mine and tx.first("SELECT 1 FROM turns WHERE id = ?", (each.id,)) is None:
                    rows.write(tx, trace)
                    settled.append(trace)
        return settled

    # -- reading

    def find(self, part: str) -> Trace:
        """The turn whose id begins or ends so."""
        wanted = part.strip().upper()
        found = self.db.query(
            "SELECT id FROM turns WHERE upper(substr(id, 1, ?)) = ? OR upper(substr(id, -?)) = ? ORDER BY seq",
            (len(wanted), wanted, len(wanted), wanted),
        )
        if not wanted or len(found) != 1:
            how_many = "more than one" if wanted and found else "no"
            raise TurnError(f"{how_many} turn has an id like {part!r}", fix=_FIX)
        return self.load(found[0][0])

    def load(self, turn: str) -> Trace:
        """The trace of the turn with this id."""
        with self.db.read() as tx:
            trace = rows.read(tx, turn)
        if trace is None:
            raise TurnError(f"there is no turn {turn!r}", fix=_FIX)
        return trace

    def last(self, conversation: str | None = None) -> Trace | None:
        """The turn that was closed last, of one conversation or of all."""
        found = self.newest(1, conversation)
        return self.load(found[0].id) if found else None

    def newest(self, count: int, conversation: str | None = None, state: State | None = None) -> list[Glance]:
        """Turns at a glance, the newest first."""
        found = self.db.query(
            f"{_GLANCE} WHERE (? IS NULL OR t.conversation = ?) AND (? IS NULL OR t.state = ?)"
            " ORDER BY t.seq DESC LIMIT ?",
            (conversation, conversation, state, state, count),
        )
        return list(map(_glance, found))

    def facts(self, turn: str) -> Facts:
        """What a projection needs to know of a turn."""
        with self.db.read() as tx:
            found = tx.first("SELECT closed, state, tags FROM turns WHERE id = ?", (turn,))
            if found is None:
                raise TurnError(f"there is no turn {turn!r}", fix=_FIX)
            passings, desired = rows.read_passings(tx, turn), rows.read_desired(tx, turn)
        closed, state, tags = found
        return Facts(turn, from_text(closed), State(state), passings, desired, tuple(json.loads(tags)))

    def waiting_for(self, item: str) -> Trace | None:
        """The turn that waits for this question, unless another has gone on with it already."""
        found = self.db.first(
            "SELECT id FROM turns t WHERE item = ? AND item <> '' AND state = ? AND kept = 'whole'"
            " AND NOT EXISTS (SELECT 1 FROM turns c WHERE c.continues = t.id) ORDER BY seq DESC LIMIT 1",
            (item, State.WAITING),
        )
        return None if found is None else self.load(found[0])

    def asked_about(self, path: str) -> list[tuple[str, str]]:
        """The turns planned in one way that did not get a yes, each with the question that they asked."""
        return self.db.query(
            "SELECT id, item FROM turns WHERE path = ? AND item <> '' AND state IN (?, ?)",
            (path, State.REFUSED, State.WAITING),
        )

    def ways(self, since: datetime) -> list[Row]:
        """In which ways turns since then were planned: each way, how many, milliseconds of planning, money."""
        return self.db.query(
            "SELECT t.path, count(*), total(json_extract(t.plan, '$.ms')),"
            " total((SELECT sum(c.usd) FROM model_calls c WHERE c.turn = t.id))"
            " FROM turns t WHERE t.asked >= ? GROUP BY t.path ORDER BY count(*) DESC, t.path",
            (to_text(since),),
        )

    def window(self, conversation: str, count: int) -> list[Said]:
        """The last messages of a conversation, the oldest first."""
        found = self.db.query(
            "SELECT m.role, m.text, m.turn FROM messages m JOIN turns t ON t.id = m.turn"
            " WHERE t.conversation = ? AND m.text <> '' ORDER BY t.seq DESC, m.role LIMIT ?",
            (conversation, count),
        )
        return [Said(*row) for row in found[::-1]]

    def conversations(self) -> list[Conversation]:
        """All conversations, the one that was last spoken in first."""
        found = self.db.query(
            "SELECT c.id, c.channel, c.sender, c.first, c.last, count(t.id) FROM conversations c"
            " LEFT JOIN turns t ON t.conversation = c.id WHERE c.id <> '' GROUP BY c.id ORDER BY max(t.seq) DESC"
        )
        return [
            Conversation(key, channel, sender, from_text(first), from_text(last), turns)
            for key, channel, sender, first, last, turns in found
        ]

    # -- feedback

    def feedback(self, turn: str, good: bool, note: str = "") -> Feedback:
        """Add what the owner thinks of a turn, however it ended."""
        given = Feedback(self.load(turn).id, good, note, self._clock.now())
        with self.db.write() as tx:
            opinions.add(tx, given)
        return given

    def opinion(self, turn: str) -> Feedback | None:
        """The owner's last word on a turn."""
        return opinions.latest(self.db, turn)

    def asked_again(self, turn: str) -> int | None:
        """How often the same one asked for the same later, and let it stand; none if there is no such turn.

        What went on after a yes was asked for when it was first asked.
        """
        found = self.db.first(
            "SELECT (SELECT count(*) FROM turns o WHERE o.canonical = t.canonical AND o.canonical <> ''"
            " AND o.channel = t.channel AND o.sender = t.sender"
            " AND o.seq > t.seq AND (o.continues = '' OR o.asked <> t.asked) AND o.state IN (?, ?) AND 1 = coalesce("
            "  (SELECT good FROM feedback f WHERE f.turn = o.id ORDER BY f.id DESC LIMIT 1), 1)"
            ") FROM turns t WHERE t.id = ?",
            (State.DONE, State.PARTLY, turn),
        )
        return None if found is None else int(found[0])

    def disliked(self) -> list[str]:
        """The turns of which the owner's last word is that they were not good."""
        return opinions.judged(self.db, good=False)

    def liked(self) -> list[str]:
        """The turns of which the owner's last word is that they were good."""
        return opinions.judged(self.db, good=True)

    def first_of(self, turns: Sequence[str]) -> dict[str, str]:
        """Of these turns those that went on with an earlier one, each with the first of all."""
        found = self.db.query(
            "WITH RECURSIVE back (turn, before) AS (SELECT id, continues FROM turns WHERE continues <> '' AND id IN"
            " (SELECT value FROM json_each(?)) UNION ALL SELECT b.turn, t.continues FROM back b JOIN turns t"
            " ON t.id = b.before WHERE t.continues <> '') SELECT turn, before FROM back",
            (canonical_json(list(turns)).decode(),),
        )
        return dict(found)  # the last of each is the first turn

    # -- projections

    def pending(self, name: str, *, again: int = 0) -> list[str]:
        """The turns that this projection has to apply, in order. See `projections.pending`."""
        return projections.pending(self.db, name, again)

    def applied(self, name: str, *turns: str) -> None:
        """Acknowledge turns that a projection has applied and marked in its own store."""
        projections.applied(self.db, name, *turns)

    def offer_again(self, name: str) -> None:
        """Offer every turn anew to a projection whose store was lost."""
        projections.offer_again(self.db, name)

    # -- forgetting

    def redact(self, turn: str) -> bool:
        """Take the content of a turn out for good; says whether there was any left."""
        return retention.redact(self.db, self.load(turn).id)

    def unmention(self, memories: Sequence[str]) -> int:
        """Take out of every turn what it says of these memories: their words, the answer, what a model saw."""
        listed = canonical_json(list(memories)).decode()
        with self.db.write() as tx:
            tx.query("PRAGMA secure_delete = ON")
            found = tx.query(
                "SELECT DISTINCT t.id FROM turns t, json_each(t.memories) m"
                " WHERE json_extract(m.value, '$.id') IN (SELECT value FROM json_each(?))",
                (listed,),
            )
            for (turn,) in found:
                tx.execute("UPDATE turns SET memories = '[]' WHERE id = ?", (turn,))
                tx.execute("UPDATE messages SET text = '' WHERE turn = ? AND role = ?", (turn, rows.Role.AGENT))
                tx.execute("DELETE FROM contexts WHERE turn = ?", (turn,))
        if found:
            retention.empty_log(self.db)
        return len(found)

    def outdated(self, now: datetime, keep_days: int, keep_messages: int) -> int:
        """How many turns `retain` would summarise."""
        return retention.outdated(self.db, now, keep_days, keep_messages)

    def retain(self, now: datetime, keep_days: int, keep_messages: int, summarise: Summarise | None = None) -> Retained:
        """Summarise what is too old, propose what is stable. See `retention.retain`."""
        return retention.retain(self.db, now, keep_days, keep_messages, summarise)

    def put(self, proposal: str) -> None:
        """Note that a proposal, by its key, is before the owner now."""
        retention.put(self.db, proposal, self._clock.now())

    def summaries(self, conversation: str) -> list[Summary]:
        """What is left of the old part of a conversation."""
        return retention.summaries(self.db, conversation)


def _open(row: Row) -> Open:
    key, pid, started, text_digest, conversation, channel, sender, ts = row
    return Open(key, pid, started, text_digest, conversation, channel, sender, from_text(ts))


def _glance(row: Row) -> Glance:
    turn, conversation, channel, asked, zone, closed, state, path, kept, text, executors, good = row
    return Glance(
        id=turn,
        conversation=conversation,
        channel=channel,
        asked=rows.in_zone(asked, zone),
        closed=from_text(closed),
        state=State(state),
        path=path,
        kept=Kept(kept),
        text=text,
        executors=tuple(executors.split()) if executors else (),
        good=None if good is None else bool(good),
    )


def _interrupted(found: Open, now: datetime, steps: tuple[StepTrace, ...]) -> Trace:
    return Trace(
        id=found.id,
        conversation=found.conversation,
        channel=found.channel,
        sender=found.sender,
        cwd="",
        asked=found.ts,
        closed=now,
        text="",
        language="",
        path="",
        state=State.INTERRUPTED,
        answer="",
        plan={},
        canonical="",
        slots=(),
        candidates=(),
        steps=steps,
        error=_DIED,
    )
