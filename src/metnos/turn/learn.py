"""The end of a turn: the scratchpad becomes the trace, written whole at the one commit point, and nothing else.

Rules: everything that learns reads traces, right after or at the next start; so a turn that dies before this was never
recorded, and one that dies after it is learnt from later. Passings and wishes are facts of the trace.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from metnos.core.clock import Clock
from metnos.executors.outcome import Outcome
from metnos.grimoire.trace import Desired, StepTrace, Trace
from metnos.turn.passing import passings
from metnos.turn.plan.records import Candidate, Plan, Tool, Wish
from metnos.turn.scratch import Scratch, Taken
from metnos.turn.tags import tags

_CANDIDATES = 5


def trace(scratch: Scratch, answer: str, clock: Clock) -> Trace:
    """All that is kept of a turn."""
    request, plan, tools = scratch.request, scratch.plan, scratch.tools
    steps = tuple(step(number, taken, tools) for number, taken in enumerate(scratch.taken, start=1))
    made = [
        (number, taken.planned, taken.ended.outcome)
        for number, taken in enumerate(scratch.taken, start=1)
        if taken.ended.outcome is not None and not request.dry_run
    ]
    return Trace(
        id=request.id,
        conversation=request.conversation,
        channel=request.principal.channel,
        sender=request.principal.sender,
        cwd=str(request.cwd),
        asked=request.asked,
        closed=clock.now(),
        text=request.text,
        language=scratch.language,
        path=str(plan.path) if plan else "",
        state=scratch.state,
        answer=answer,
        plan=plan_data(plan, scratch.last.id if scratch.last else "") | _planning(scratch) if plan else {},
        canonical=scratch.canonical,
        slots=tuple(scratch.heard.data()) if scratch.heard else (),
        candidates=tuple(map(_candidate, plan.candidates[:_CANDIDATES])) if plan else (),
        steps=steps,
        passings=passings(made, request.text),
        desired=tuple(_desired(wish, tools) for wish in plan.wishes) if plan else (),
        calls=tuple(scratch.calls),
        contexts=tuple(scratch.contexts),
        memories=tuple(scratch.memories),
        permits=tuple(_permit(number, taken) for number, taken in enumerate(scratch.taken, start=1)),
        continues=scratch.continues,
        item=scratch.item,
        cpu_ms=round(scratch.cpu_ms, 3),
        error=scratch.error,
        tags=tags(request.text, scratch.slots),
    )


def plan_data(plan: Plan, last: str) -> dict[str, Any]:
    """A plan as it is kept: enough to go on with it later. ``last`` is the turn that its references call so."""
    return {
        "kind": str(plan.kind),
        "path": str(plan.path),
        "steps": [{"executor": step.executor, "args": dict(step.args)} for step in plan.steps],
        "say": plan.say,
        "missing": plan.missing,
        "notes": list(plan.notes),
        "certainty": round(plan.certainty, 4),
        "language": plan.language,
        "open": plan.open,
        "tainted": list(plan.tainted),
        "last": last,
    }


def _planning(scratch: Scratch) -> dict[str, Any]:
    """How the plan came about: how long it took, what fast paths said, what could be chosen by way of exception,
    and what was made for it."""
    found: dict[str, Any] = {"ms": round(scratch.plan_ms, 3)}
    if scratch.shortcut is not None:
        found["fast"] = scratch.shortcut.data() | {"fell_back": scratch.fell_back}
    if scratch.explored:
        found["explored"] = scratch.explored
    if scratch.story:
        found["made"] = dict(scratch.story)
    return found


def step(number: int, taken: Taken, tools: Mapping[str, Tool]) -> StepTrace:
    outcome = taken.ended.outcome
    tool = tools.get(taken.executor)
    return StepTrace(
        number=number,
        executor=taken.executor,
        version=(outcome.version if outcome else "") or (tool.version if tool else ""),
        digest=(outcome.digest if outcome else "") or (tool.digest if tool else ""),
        args=dict(taken.args),
        ok=outcome.ok if outcome else False,
        kind=taken.ended.kind,
        message=taken.ended.message,
        reply=outcome.reply if outcome else {},
        wall_ms=outcome.wall_ms if outcome else 0.0,
        cpu_ms=outcome.cpu_ms if outcome else 0.0,
        action=outcome.action if outcome else "",
        audit=outcome.audit if outcome else 0,
        item=taken.ended.item,
        gap_before=taken.gap_before,
        gap_after=taken.gap_after,
    )


def _permit(number: int, taken: Taken) -> dict[str, Any]:
    outcome = taken.ended.outcome
    return {
        "step": number,
        "executor": taken.executor,
        "permit": outcome.permit if outcome else "",
        "because": outcome.because if outcome else taken.ended.message,
        "item": taken.ended.item,
        "parts": [_part(inner) for inner in outcome.inner] if outcome else [],
    }


def _part(inner: Outcome) -> dict[str, Any]:
    """A call that an executor made: what it was, how it ended, and why it was let."""
    own = {name: getattr(inner, name) for name in ("executor", "version", "ok", "kind", "because", "audit", "action")}
    return own | {"parts": [_part(each) for each in inner.inner]}


def _candidate(candidate: Candidate) -> dict[str, Any]:
    parts = {
        field.name: round(getattr(candidate, field.name), 4)
        for field in dataclasses.fields(candidate)
        if field.name != "tool"
    }
    return {"executor": candidate.tool.name, **parts}


def _desired(wish: Wish, tools: Mapping[str, Tool]) -> Desired:
    source = tools.get(wish.source)
    signature = {
        "summary": wish.summary,
        "inputs": list(wish.inputs),
        "outputs": list(wish.outputs),
        "errors": list(wish.errors),
    }
    return Desired(wish.name, wish.source, source.version if source else "", signature)
