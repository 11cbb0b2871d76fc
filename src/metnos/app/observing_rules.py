"""What of a turn may be told to a log or a collector: spans, figures and one line, drawn from its trace. Pure.

Names follow OpenTelemetry's conventions for generative AI where they have one: a turn is ``invoke_agent``, a step
``execute_tool``, a call of a language model ``chat``.

Rules: names, ids, states, counts and durations only. Nothing that was asked, answered, read or written, no argument, no
path, no reason in words, and no name that the owner chose (conversations are told by digest). A trace keeps how long
its parts took and not when each began: spans are laid one behind the other in their order, so that time spent waiting
for the owner shows as the end of the turn.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePath

from metnos.core.canon import sha256_hex
from metnos.core.log import Field
from metnos.grimoire.trace import ModelCall, State, StepTrace, Trace

Value = str | int | float | bool

DURATION, TOKENS = "gen_ai.client.operation.duration", "gen_ai.client.token.usage"
TURN, HITS, RUNS, RUN = (
    "metnos.turn.duration",
    "metnos.fast_path.hits",
    "metnos.executor.runs",
    "metnos.executor.duration",
)
ROOT, PLAN = "turn", "plan"  # keys of spans that have children

_FAILED = frozenset({State.FAILED, State.INTERRUPTED})
_FAST = "fast"
_PLANNING = ("plan", "repair")  # purposes of calls that make the plan
_ASKED_BY = "asked by "
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,63}")
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Span:
    """One piece of a turn; times in nanoseconds since 1970. ``parent`` is the key of another, or empty."""

    key: str
    parent: str
    name: str
    begin: int
    end: int
    attributes: dict[str, Value] = field(default_factory=dict)
    error: str = ""
    client: bool = False  # whether it asks somebody else


@dataclass(frozen=True, slots=True)
class Point:
    """One measurement: a duration in seconds, a number of tokens, or one more of something."""

    metric: str
    value: float
    attributes: dict[str, Value]


def spans(trace: Trace, provider: str) -> list[Span]:
    """A turn as spans, the root first. ``provider`` is whose protocol the language model speaks."""
    begin = _nanoseconds(trace.asked)
    plan_ms = float(trace.plan.get("ms", 0.0))
    at = begin + _ns(plan_ms)
    children: list[Span] = []
    if trace.plan:
        children.append(Span(PLAN, ROOT, "plan", begin, at, _plan(trace)))
    for place, step in enumerate(trace.steps, start=1):
        end = at + _ns(step.wall_ms)
        children.append(Span(f"step {place}", ROOT, f"execute_tool {step.executor}", at, end, *_step(trace, step)))
        at = end
    calls = list(_chats(trace, children, begin, provider))
    end = max([_nanoseconds(trace.closed), begin, *(each.end for each in (*children, *calls))])
    root = Span(ROOT, "", "invoke_agent metnos", begin, end, _turn(trace), _error(trace))
    return [root, *children, *calls]


def points(trace: Trace, provider: str) -> Iterator[Point]:
    """A turn as measurements."""
    told: dict[str, Value] = {"metnos.turn.state": str(trace.state), "metnos.turn.path": trace.path or "none"}
    yield Point(TURN, max(0.0, (trace.closed - trace.asked).total_seconds()), told | {"metnos.channel": trace.channel})
    if trace.path == _FAST:
        yield Point(HITS, 1, {"metnos.turn.state": str(trace.state)})
    for step in trace.steps:
        ran: dict[str, Value] = {"gen_ai.tool.name": step.executor, "metnos.step.ok": step.ok}
        yield Point(RUNS, 1, ran)
        yield Point(RUN, step.wall_ms / 1000, ran)
    for call in trace.calls:
        about = _chat(call, provider)
        failed: dict[str, Value] = {"error.type": _word(call.error)} if call.error else {}
        yield Point(DURATION, call.wall_ms / 1000, about | failed)
        for kind, count in (("input", call.input_tokens), ("output", call.output_tokens)):
            if count > 0:
                yield Point(TOKENS, count, about | {"gen_ai.token.type": kind})


def line(trace: Trace) -> dict[str, Field]:
    """A turn as the fields of one line of the log."""
    return {
        "turn": trace.id,
        "channel": trace.channel,
        "state": str(trace.state),
        "path": trace.path or None,
        "executors": ",".join(step.executor for step in trace.steps) or None,
        "failed": sum(not step.ok for step in trace.steps) or None,
        "ms": round((trace.closed - trace.asked).total_seconds() * 1000),
        "plan_ms": round(float(trace.plan.get("ms", 0.0)), 1),
        "calls": len(trace.calls) or None,
        "tokens": sum(call.input_tokens + call.output_tokens for call in trace.calls) or None,
        "usd": round(sum(call.usd for call in trace.calls), 6) or None,
        "error": _error(trace) or None,
    }


# -- one span each


def _turn(trace: Trace) -> dict[str, Value]:
    told: dict[str, Value] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "metnos",
        "gen_ai.agent.name": "metnos",
        "gen_ai.conversation.id": sha256_hex(trace.conversation.encode("utf-8", "surrogatepass"))[:16],
        "gen_ai.usage.input_tokens": sum(call.input_tokens for call in trace.calls),
        "gen_ai.usage.output_tokens": sum(call.output_tokens for call in trace.calls),
        "metnos.turn.id": trace.id,
        "metnos.turn.state": str(trace.state),
        "metnos.turn.path": trace.path or "none",
        "metnos.turn.steps": len(trace.steps),
        "metnos.turn.cpu_ms": trace.cpu_ms,
        "metnos.turn.usd": sum(call.usd for call in trace.calls),
        "metnos.channel": trace.channel,
    }
    return told | ({"metnos.turn.continues": trace.continues} if trace.continues else {})


def _plan(trace: Trace) -> dict[str, Value]:
    steps = trace.plan.get("steps", ())
    return {
        "metnos.plan.path": trace.path or "none",
        "metnos.plan.steps": len(steps) if isinstance(steps, list | tuple) else 0,
        "metnos.plan.certainty": float(trace.plan.get("certainty", 0.0)),
        "metnos.plan.fast_path": trace.path == _FAST,
    }


def _step(trace: Trace, step: StepTrace) -> tuple[dict[str, Value], str]:
    """What is told of a step, and how it failed if it did."""
    permit = next((each for each in trace.permits if each.get("step") == step.number), {})
    # A reason begins with the rule that decided; what follows are words, and they stay here.
    rule = str(permit.get("because", "")).partition(":")[0] if permit.get("permit") else ""
    told: dict[str, Value] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": step.executor,
        "gen_ai.tool.type": "function",
        "metnos.executor.version": step.version,
        "metnos.step.number": step.number,
        "metnos.step.ok": step.ok,
        "metnos.step.ms": step.wall_ms,
        "metnos.step.cpu_ms": step.cpu_ms,
        "metnos.permit": _word(rule) if rule else "none",
        "metnos.step.asked": bool(step.item),
    }
    return told, _word(step.kind)


def _chats(trace: Trace, children: list[Span], begin: int, provider: str) -> Iterator[Span]:
    """The calls of language models, each within what it was for, one behind the other."""
    known = {each.key: each for each in children}
    free: dict[str, int] = {}
    for number, call in enumerate(trace.calls, start=1):
        parent = _parent(trace, call, known)
        at = free.get(parent, known[parent].begin if parent in known else begin)
        free[parent] = end = at + _ns(call.wall_ms)
        told = _chat(call, provider) | {
            "gen_ai.usage.input_tokens": call.input_tokens,
            "gen_ai.usage.output_tokens": call.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": call.cached_tokens,
            "metnos.purpose": "executor" if call.purpose.startswith(_ASKED_BY) else _word(call.purpose),
            "metnos.usd": call.usd,
        }
        name = f"chat {told['gen_ai.request.model']}"
        yield Span(f"chat {number}", parent, name, at, end, told, _word(call.error), client=True)


def _parent(trace: Trace, call: ModelCall, known: dict[str, Span]) -> str:
    if call.purpose in _PLANNING and PLAN in known:
        return PLAN
    asker = call.purpose.removeprefix(_ASKED_BY)
    places = enumerate(trace.steps, start=1)
    return next((f"step {place}" for place, step in places if step.executor == asker), ROOT)


def _chat(call: ModelCall, provider: str) -> dict[str, Value]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": _model(call.model),
    }


def _model(name: str) -> str:
    """A model's own name, without the address it was asked at and the folder its file lies in."""
    bare = PurePath(name.partition(" at ")[0]).name
    return "".join(char for char in bare if char.isprintable())[:_LONGEST] or "unknown"


def _error(trace: Trace) -> str:
    return _word(trace.error or str(trace.state)) if trace.state in _FAILED else ""


def _word(text: str) -> str:
    """A name of ours as it is; anything else might be words."""
    return "" if not text else text.replace(" ", "_") if _NAME.fullmatch(text.replace(" ", "_")) else "other"


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000) * 1000


def _ns(milliseconds: float) -> int:
    return max(0, int(milliseconds * 1_000_000))
