"""Forgetting turns: because the owner says so, or because they are too old to be kept whole.

Rules: what goes is content; names, counts, states and times stay, and so does every row that something else points at.
Old turns leave a summary, in the transaction that takes their content out, so a crash leaves them whole or summarised.
Nothing is summarised that a projection has not acknowledged. What a language model makes of them is only text; if it
fails, an extract takes its place. What turned out stable is proposed for long memory, and only of what the owner asked.
Does not reach what other files hold of a turn: an open question, what undo keeps, the audit's digests, backups.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from metnos.core.canon import canonical_json
from metnos.core.clock import from_text, to_text
from metnos.grimoire import content, feedback, rules
from metnos.grimoire import medium_rows as rows
from metnos.grimoire.projections import UNPROJECTED
from metnos.grimoire.rules import Age, Asked, Proposal
from metnos.grimoire.trace import Kept, Trace
from metnos.law.principal import OWNER_CHANNELS
from metnos.store.db import Database, Transaction

Summarise = Callable[[list[Trace]], str]

_WHOLE = f"""SELECT t.id, t.closed, (SELECT count(*) FROM messages m WHERE m.turn = t.id), t.conversation, {UNPROJECTED}
    FROM turns t WHERE t.kept = 'whole' ORDER BY t.seq"""  # noqa: S608 -- our own words


@dataclass(frozen=True, slots=True)
class Retained:
    """What one run did: turns and messages that lost their content, summaries made and by whom; what to propose."""

    turns: int
    messages: int
    summaries: int
    by_model: int
    model_failed: int
    proposals: tuple[Proposal, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """What is left of turns that were too old."""

    id: int
    conversation: str
    first: datetime
    last: datetime
    turns: int
    text: str
    made_by: str


# -- because the owner says so


def saying(db: Database, says: Callable[[str], bool]) -> list[str]:
    """The turns of which anything that is kept says it: what was asked, done, found, answered, shown or summed up."""
    found = dict.fromkeys(turn for sql in _CONTENT for turn, *texts in db.query(sql) if says(_readable(texts)))
    return list(found)


# Separate queries: what a turn found may be large, and is held only as long as one of them runs.
_CONTENT = (
    "SELECT turn, text FROM messages WHERE text <> ''",
    "SELECT turn, args, message, reply FROM steps",
    "SELECT id, plan, canonical, slots, candidates, memories, permits, cwd, tags, error FROM turns"
    " WHERE kept = 'whole'",
    "SELECT turn, name, signature FROM desired WHERE signature <> '{}'",
    "SELECT turn, system, body FROM contexts",
    "SELECT turn, note FROM feedback WHERE note <> ''",
    "SELECT t.id, s.text FROM turns t JOIN summaries s ON s.id = t.summary WHERE t.kept <> 'forgotten'",
)


def _readable(texts: Sequence[str]) -> str:
    """Columns as a person would read them: without what JSON puts before quotes and ends of lines."""
    return "\n".join(texts).replace("\\n", "\n").replace('\\"', '"')


def redact(db: Database, turn: str) -> bool:
    """Take the content of a turn out of everything here that holds any of it; says whether there was any left."""
    with db.write() as tx:
        trace = rows.read(tx, turn)
        if trace is None or trace.kept is Kept.FORGOTTEN:
            return False
        rows.take_out(tx, trace, Kept.FORGOTTEN)
        tx.execute("UPDATE feedback SET note = '' WHERE turn = ? AND note <> ''", (turn,))
        about = "EXISTS (SELECT 1 FROM json_each(evidence) WHERE value = ?)"
        tx.execute(f"DELETE FROM proposals WHERE put IS NULL AND {about}", (turn,))  # noqa: S608 -- our own words
        tx.execute(f"UPDATE proposals SET text = '' WHERE {about}", (turn,))  # noqa: S608 -- as above
        _rewrite_summary(tx, turn)
    empty_log(db)
    return True


def _rewrite_summary(tx: Transaction, turn: str) -> None:
    """A summary that a forgotten turn went into is made anew from what is left of its turns: names and counts."""
    row = tx.first("SELECT summary FROM turns WHERE id = ? AND summary IS NOT NULL", (turn,))
    if row is None:
        return
    ids = tx.query("SELECT id FROM turns WHERE summary = ? ORDER BY seq", row)
    traces = [trace for (each,) in ids if (trace := rows.read(tx, each)) is not None]
    tx.execute(
        "UPDATE summaries SET text = ?, made_by = 'extraction' WHERE id = ?", (rules.extract(traces), int(row[0]))
    )


def empty_log(db: Database) -> None:
    """Put the write-ahead log into the file and empty it: it would hold what was taken out a while longer."""
    db.query("PRAGMA wal_checkpoint(TRUNCATE)")


# -- because they are too old


def retain(
    db: Database, now: datetime, keep_days: int, keep_messages: int, summarise: Summarise | None = None
) -> Retained:
    """Propose what is stable, then summarise what is too old. A second run finds nothing left to do."""
    with db.write() as tx:
        _propose(tx, now)
    turns = messages = summaries = by_model = failed = 0
    for group in _groups(db, now, keep_days, keep_messages):
        with db.read() as tx:
            traces = [trace for turn in group if (trace := rows.read(tx, turn)) is not None]
        text, made_by = _summary(traces, summarise)
        count = _retire(db, traces, text, made_by, now)
        if count is None:
            continue
        turns, messages, summaries = turns + len(traces), messages + count, summaries + 1
        by_model += made_by == "model"
        failed += made_by != "model" and summarise is not None
    if turns:
        empty_log(db)
    return Retained(turns, messages, summaries, by_model, failed, tuple(proposals(db)))


def outdated(db: Database, now: datetime, keep_days: int, keep_messages: int) -> int:
    """How many turns are too old to be kept whole, and seen by everything that learns from them."""
    return sum(map(len, _groups(db, now, keep_days, keep_messages)))


def _groups(db: Database, now: datetime, keep_days: int, keep_messages: int) -> list[tuple[str, ...]]:
    """The turns to summarise, the oldest first, at most so many in a group.

    Those of one conversation are together; conversations of which only one turn is due are put together too.
    """
    with db.read() as tx:
        found = tx.query(_WHOLE)
    ages = [Age(turn, from_text(closed), count) for turn, closed, count, _, _ in found]
    old = set(rules.beyond(ages, now, keep_days, keep_messages))
    due = [(turn, conversation) for turn, _, _, conversation, busy in found if turn in old and not busy]
    count = Counter(conversation for _, conversation in due)
    together: dict[str, list[str]] = {}
    for turn, conversation in due:
        together.setdefault(conversation if count[conversation] > 1 else "", []).append(turn)
    return [tuple(part) for turns in together.values() for part in _parts(turns, rules.TURNS)]


def _parts(turns: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(turns), most):
        yield turns[start : start + most]


def _summary(traces: list[Trace], summarise: Summarise | None) -> tuple[str, str]:
    """The text, and who made it."""
    if summarise is not None:
        try:
            text = content.text(summarise(traces).strip(), rules.SUMMARY_CHARS)
        except Exception:  # noqa: BLE001 -- a border: whatever a model does must not keep old turns whole for ever
            text = ""
        if text:
            return text, "model"
    return content.text(rules.extract(traces), rules.SUMMARY_CHARS), "extraction"


def _retire(db: Database, traces: Sequence[Trace], text: str, made_by: str, now: datetime) -> int | None:
    """Content out, summary in, at one stroke; how many messages that were. Nothing if somebody was faster."""
    with db.write() as tx:
        for trace in traces:
            whole = f"SELECT 1 FROM turns t WHERE id = ? AND kept = 'whole' AND NOT {UNPROJECTED}"  # noqa: S608 -- ours
            if tx.first(whole, (trace.id,)) is None:
                return None  # the next run looks again at what is left
        conversations = {trace.conversation for trace in traces}
        first, last = min(trace.asked for trace in traces), max(trace.closed for trace in traces)
        tx.execute(
            "INSERT INTO summaries (conversation, first, last, turns, text, made_by, ts) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                conversations.pop() if len(conversations) == 1 else "",
                to_text(first),
                to_text(last),
                len(traces),
                text,
                made_by,
                to_text(now),
            ),
        )
        (summary,) = tx.first("SELECT last_insert_rowid()") or (None,)
        for trace in traces:
            rows.take_out(tx, trace, Kept.SUMMARISED, summary)
        return sum(bool(trace.text) + bool(trace.answer) for trace in traces)


def summaries(db: Database, conversation: str) -> list[Summary]:
    """What is left of the old part of a conversation, the oldest first; without a name, of those of single turns."""
    found = db.query(
        "SELECT id, conversation, first, last, turns, text, made_by FROM summaries WHERE conversation = ? ORDER BY id",
        (conversation,),
    )
    return [
        Summary(key, name, from_text(first), from_text(last), turns, text, made_by)
        for key, name, first, last, turns, text, made_by in found
    ]


# -- what may belong into long memory


def proposals(db: Database) -> list[Proposal]:
    """What was found to be stable and has not been put before the owner."""
    found = db.query("SELECT key, kind, text, evidence FROM proposals WHERE put IS NULL ORDER BY ts, key")
    return [Proposal(key, kind, text, tuple(json.loads(evidence))) for key, kind, text, evidence in found]


def put(db: Database, key: str, now: datetime) -> None:
    """Note that a proposal is before the owner now: it is not made again, whatever they say."""
    with db.write() as tx:
        tx.execute("UPDATE proposals SET put = ? WHERE key = ? AND put IS NULL", (to_text(now), key))


def _propose(tx: Transaction, now: datetime) -> None:
    places = ", ".join("?" * len(OWNER_CHANNELS))
    worked = ", ".join("?" * len(rules.WORKED))
    which = f"kept = 'whole' AND canonical <> '' AND channel IN ({places}) AND state IN ({worked})"  # our own words
    values = (*sorted(OWNER_CHANNELS), *sorted(rules.WORKED))
    often = tx.query(
        f"SELECT canonical FROM turns WHERE {which} GROUP BY canonical HAVING count(*) >= ?",  # noqa: S608 -- as above
        (*values, rules.ASKED),
    )
    for (canonical,) in often:
        found = tx.query(
            f"SELECT id, asked, zone FROM turns WHERE {which} AND canonical = ? ORDER BY seq",  # noqa: S608 -- as above
            (*values, canonical),
        )
        for each in rules.promotions(canonical, [_asked(tx, *row) for row in found]):
            evidence = canonical_json(each.evidence).decode()
            tx.execute(
                "INSERT OR IGNORE INTO proposals (key, kind, text, evidence, ts) VALUES (?, ?, ?, ?, ?)",
                (each.key, each.kind, each.text, evidence, to_text(now)),
            )


def _asked(tx: Transaction, turn: str, asked: str, zone: int) -> Asked:
    steps = [json.loads(args) for (args,) in tx.query("SELECT args FROM steps WHERE turn = ? ORDER BY place", (turn,))]
    said = feedback.latest(tx, turn)
    return Asked(turn, rows.in_zone(asked, zone).date(), rules.targets(steps), None if said is None else said.good)
