"""Turns as rows: the only code that writes and reads what a trace consists of.

Rules: all of a trace or nothing, in the caller's transaction; what is read is what was written, bounded and storable
(see `content`). Taking the content out leaves names, counts, states and times.
"""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, timezone
from enum import StrEnum
from typing import Any

from metnos.core.clock import from_text, to_text
from metnos.grimoire import content
from metnos.grimoire.trace import Context, Desired, Kept, ModelCall, Passing, State, StepTrace, Trace
from metnos.store.db import Database, Row, Transaction, Value

Store = Database | Transaction


class Role(StrEnum):
    """Who said a message."""

    OWNER = "owner"
    AGENT = "agent"


_TURN = (
    "id, conversation, channel, sender, cwd, asked, zone, closed, language, path, state, plan, canonical, slots,"
    " candidates, memories, permits, continues, item, cpu_ms, error, tags, kept"
)
_STEP = (
    "number, executor, version, digest, args, ok, kind, message, reply, wall_ms, cpu_ms, action, audit, item,"
    " gap_before, gap_after"
)
_PASSING = "src, src_version, dst, dst_version, how, src_step, dst_step"
_DESIRED = "name, source, source_version, signature"
_CALL = "purpose, model, input_tokens, output_tokens, cached_tokens, usd, wall_ms, error"
_CONTEXT = "task, system, body, record"
# -- writing


def write(tx: Transaction, trace: Trace) -> None:
    """All rows of one trace."""
    _conversation(tx, trace)
    _insert(tx, "turns", _TURN, [_turn_values(trace)])
    said = [(trace.id, Role.OWNER, trace.text), (trace.id, Role.AGENT, trace.answer)]
    spoken = [(turn, role, content.text(words)) for turn, role, words in said if words]
    _insert(tx, "messages", "turn, role, text", spoken)
    _parts(tx, trace.id, "steps", _STEP, map(_step_values, trace.steps))
    _parts(tx, trace.id, "passings", _PASSING, map(_passing_values, trace.passings))
    _parts(tx, trace.id, "desired", _DESIRED, map(_desired_values, trace.desired))
    _parts(tx, trace.id, "model_calls", _CALL, map(_call_values, trace.calls))
    _parts(tx, trace.id, "contexts", _CONTEXT, map(_context_values, trace.contexts))


def take_out(tx: Transaction, trace: Trace, kept: Kept, summary: int | None = None) -> None:
    """Remove the content of a turn for good. What is left still says what ran, when, how often and how it ended."""
    # Freed pages are overwritten, so that what is forgotten is not in the file any more either.
    tx.query("PRAGMA secure_delete = ON")
    tx.execute(
        "UPDATE turns SET kept = ?, summary = coalesce(?, summary), cwd = '', canonical = '', slots = '[]',"
        " memories = '[]', tags = '[]', plan = ?, candidates = ?, permits = ?, error = ? WHERE id = ?",
        (
            kept,
            summary,
            content.mapping(content.bare_plan(trace.plan)),
            content.sequence(content.bare_list(trace.candidates)),
            content.sequence(content.bare_list(trace.permits)),
            content.GONE if trace.error else "",
            trace.id,
        ),
    )
    tx.execute("UPDATE messages SET text = '' WHERE turn = ?", (trace.id,))
    tx.execute("DELETE FROM contexts WHERE turn = ?", (trace.id,))
    for place, step in enumerate(trace.steps):
        tx.execute(
            "UPDATE steps SET args = '{}', message = '', reply = ? WHERE turn = ? AND place = ?",
            (content.mapping(content.bare_reply(step.reply)), trace.id, place),
        )
    tx.execute("UPDATE desired SET signature = '{}' WHERE turn = ?", (trace.id,))
    tx.execute("UPDATE model_calls SET error = ? WHERE turn = ? AND error <> ''", (content.GONE, trace.id))


def _conversation(tx: Transaction, trace: Trace) -> None:
    asked, closed = to_text(trace.asked), to_text(trace.closed)
    names = [content.text(each) for each in (trace.conversation, trace.channel, trace.sender)]
    tx.execute(
        "INSERT INTO conversations (id, channel, sender, first, last) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET last = max(last, excluded.last)",
        (*names, asked, closed),
    )


def _parts(tx: Transaction, turn: str, table: str, columns: str, rows: Iterable[Sequence[Value]]) -> None:
    placed = [(turn, place, *row) for place, row in enumerate(rows)]
    _insert(tx, table, f"turn, place, {columns}", placed)


def _insert(tx: Transaction, table: str, columns: str, rows: Sequence[Sequence[Value]]) -> None:
    if rows:
        marks = ", ".join("?" * len(rows[0]))
        tx.execute_many(f"INSERT INTO {table} ({columns}) VALUES ({marks})", rows)  # noqa: S608 -- our own words


def _turn_values(trace: Trace) -> tuple[Value, ...]:
    zone = trace.asked.utcoffset() or timedelta(0)
    return (
        trace.id,
        *(content.text(each) for each in (trace.conversation, trace.channel, trace.sender, trace.cwd)),
        to_text(trace.asked),
        int(zone.total_seconds()),
        to_text(trace.closed),
        content.text(trace.language),
        content.text(trace.path),
        str(trace.state),
        content.mapping(trace.plan),
        content.text(trace.canonical),
        *(content.sequence(each) for each in (trace.slots, trace.candidates, trace.memories, trace.permits)),
        trace.continues,
        trace.item,
        content.number(trace.cpu_ms),
        content.text(trace.error),
        content.sequence(trace.tags),
        str(trace.kept),
    )


def _step_values(step: StepTrace) -> tuple[Value, ...]:
    return (
        step.number,
        *(content.text(each) for each in (step.executor, step.version, step.digest)),
        content.mapping(step.args),
        int(step.ok),
        content.text(step.kind),
        content.text(step.message),
        content.mapping(step.reply, content.REPLY_BYTES),
        content.number(step.wall_ms),
        content.number(step.cpu_ms),
        step.action,
        step.audit,
        step.item,
        step.gap_before,
        step.gap_after,
    )


def _passing_values(each: Passing) -> tuple[Value, ...]:
    names = (each.src, each.src_version, each.dst, each.dst_version, each.how)
    return (*map(content.text, names), each.src_step, each.dst_step)


def _desired_values(each: Desired) -> tuple[Value, ...]:
    names = (each.name, each.source, each.source_version)
    return (*map(content.text, names), content.mapping(each.signature))


def _context_values(seen: Context) -> tuple[Value, ...]:
    return (seen.task, content.text(seen.system), content.text(seen.body), content.mapping(seen.record))


def _call_values(call: ModelCall) -> tuple[Value, ...]:
    return (
        content.text(call.purpose),
        content.text(call.model),
        call.input_tokens,
        call.output_tokens,
        call.cached_tokens,
        content.number(call.usd),
        content.number(call.wall_ms),
        content.text(call.error),
    )


# -- reading


def read(store: Store, turn: str) -> Trace | None:
    """The trace of a turn, if there is one. Give a transaction if the turn may change meanwhile."""
    row = store.first(f"SELECT {_TURN} FROM turns WHERE id = ?", (turn,))  # noqa: S608 -- our own words
    return None if row is None else _trace(store, row)


def _trace(store: Store, row: Row) -> Trace:
    turn, conversation, channel, sender, cwd, asked, zone, closed, language, path, state = row[:11]
    plan, canonical, slots, candidates, memories, permits, continues, item, cpu_ms, error, tags, kept = row[11:]
    said: dict[str, str] = dict(store.query("SELECT role, text FROM messages WHERE turn = ?", (turn,)))
    return Trace(
        id=turn,
        conversation=conversation,
        channel=channel,
        sender=sender,
        cwd=cwd,
        asked=in_zone(asked, zone),
        closed=from_text(closed),
        text=said.get(Role.OWNER, ""),
        language=language,
        path=path,
        state=State(state),
        answer=said.get(Role.AGENT, ""),
        plan=json.loads(plan),
        canonical=canonical,
        slots=_loaded(slots),
        candidates=_loaded(candidates),
        steps=tuple(map(_step, _placed(store, "steps", _STEP, turn))),
        passings=read_passings(store, turn),
        desired=read_desired(store, turn),
        calls=tuple(ModelCall(*each) for each in _placed(store, "model_calls", _CALL, turn)),
        contexts=tuple(
            Context(task, system, body, json.loads(record))
            for task, system, body, record in _placed(store, "contexts", _CONTEXT, turn)
        ),
        memories=_loaded(memories),
        permits=_loaded(permits),
        continues=continues,
        item=item,
        cpu_ms=cpu_ms,
        error=error,
        tags=_loaded(tags),
        kept=Kept(kept),
    )


def read_passings(store: Store, turn: str) -> tuple[Passing, ...]:
    return tuple(Passing(*each) for each in _placed(store, "passings", _PASSING, turn))


def read_desired(store: Store, turn: str) -> tuple[Desired, ...]:
    return tuple(_desired(*each) for each in _placed(store, "desired", _DESIRED, turn))


def _placed(store: Store, table: str, columns: str, turn: str) -> list[Row]:
    return store.query(f"SELECT {columns} FROM {table} WHERE turn = ? ORDER BY place", (turn,))  # noqa: S608 -- ours


def _step(row: Row) -> StepTrace:
    number, executor, version, digest, args, ok, kind, message, reply, *rest = row
    return StepTrace(
        number, executor, version, digest, json.loads(args), bool(ok), kind, message, json.loads(reply), *rest
    )


def _desired(name: str, source: str, source_version: str, signature: str) -> Desired:
    return Desired(name, source, source_version, json.loads(signature))


def _loaded(text: str) -> tuple[Any, ...]:
    return tuple(json.loads(text))


def in_zone(text: str, offset_s: int) -> datetime:
    """A stored time in the zone of whoever asked."""
    return from_text(text).astimezone(timezone(timedelta(seconds=offset_s)))
