"""What was asked and done before: turn by turn, why each answer came about, and what the owner thought of it."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from metnos.api.http.inside import KEPT, PROBLEMS, Body, House, Id, Limit, Missing, Owner, Who
from metnos.api.http.plain import Said, Short, Told
from metnos.app import App, learning, reasons
from metnos.core.clock import to_text
from metnos.core.errors import TurnError, UndoError
from metnos.executors.undo_rules import State as Standing
from metnos.grimoire import history
from metnos.grimoire.capture import is_owner
from metnos.grimoire.history import Seen
from metnos.grimoire.medium import Feedback
from metnos.grimoire.trace import Kept, StepTrace, Trace
from metnos.law.principal import Principal
from metnos.turn.request import own_conversation

router = APIRouter(prefix="/api/turns", tags=["turns"], responses=PROBLEMS)

Before = Annotated[
    str, Query(pattern=r"^[A-Za-z0-9_.-]{0,64}$", description="A turn; what was closed before it is listed.")
]
Conversation = Annotated[
    str, Query(pattern=r"^[A-Za-z0-9_.:-]{0,200}$", description="Only what was said in this conversation.")
]


class Turn(BaseModel):
    """One request and what came of it."""

    id: str
    conversation: str
    channel: str
    asked: str
    text: Said = Field(description="Empty if it was forgotten.")
    answer: Said
    state: str
    path: str = Field(description="Who planned it: router, fast, model, react; empty if nobody did.")
    executors: list[str]
    wall_ms: float = Field(description="What planning and doing took, without the time that it waited for an answer.")
    usd: float
    good: bool | None = Field(description="The owner's last word on it.")
    continues: str = Field(description="The turn that it goes on with.")
    item: str = Field(description="The question that it waits for.")


class Page(BaseModel):
    """Turns, the newest first. ``next`` is what to ask for ``before`` which, if there are more."""

    turns: list[Turn]
    next: str | None


class Opinion(BaseModel):
    """What the owner thinks of an answer."""

    good: bool
    note: Said
    ts: str


class Step(BaseModel):
    """One step: what was called with what, how it ended, and why it was allowed."""

    number: int
    executor: str
    version: str
    args: Told
    ok: bool
    kind: str = Field(description="The class of what went wrong.")
    message: Said
    found: Said = Field(description="How it ended, in a few words.")
    count: int
    wall_ms: float
    cpu_ms: float
    because: Said
    permit: Told = Field(description="What each step of the policy said: [step, verdict, reason].")
    parts: Told = Field(description="The calls that it made itself.")
    item: str = Field(description="The question that was asked about it.")
    action: str = Field(description="What takes it back.")
    undone: bool
    audit: int


class Call(BaseModel):
    """One call of a language model."""

    purpose: str
    model: str
    input_tokens: int
    output_tokens: int
    cached_tokens: int
    usd: float
    wall_ms: float
    error: Said


class Costs(BaseModel):
    calls: int
    tokens: int
    usd: float
    seconds: float


class Flow(BaseModel):
    """What one step handed on to another."""

    source: str
    target: str
    source_step: int
    target_step: int
    how: str


class Wish(BaseModel):
    """What was missing, and is remembered as a wish."""

    name: str
    source: str
    summary: Said


class Whole(Turn):
    """A turn and all that explains it."""

    state_words: str
    path_words: str
    how: list[Said] = Field(description="How it was planned; a line that begins with spaces belongs to that before.")
    made: list[Said] = Field(description="What was made for it.")
    gone: str = Field(description="Why what was said is not known any more.")
    notes: list[Said]
    plan: Told
    candidates: Told
    steps: list[Step]
    memories: Told
    passings: list[Flow]
    wishes: list[Wish]
    calls: list[Call]
    costs: Costs
    cpu_ms: float
    closed: str
    error: Said
    feedback: Opinion | None


class Thought(Body):
    """What the owner thinks of an answer."""

    good: bool
    reason: Short = ""


@router.get("", summary="What was asked and done", openapi_extra=KEPT)
def turns(house: House, who: Who, limit: Limit = 50, before: Before = "", conversation: Conversation = "") -> Page:
    db = house.medium.db
    if before and not history.is_turn(db, before):
        raise Missing(f"there is no turn {before!r}", fix="Ask for the first page again.")
    named = own_conversation(conversation, who) if conversation and _of(who) else conversation
    found = history.page(db, limit + 1, before=before or None, conversation=named or None, within=_of(who))
    shown = found[:limit]
    return Page(turns=[Turn(**_seen(each)) for each in shown], next=shown[-1].id if len(found) > limit else None)


@router.get("/{id}", summary="Why an answer came about", openapi_extra=KEPT)
def why(house: House, who: Who, id: Id) -> Whole:  # noqa: A002 -- the name in the path
    trace = _trace(house, id)
    if not trace.conversation.startswith(_of(who)):
        raise Missing(f"there is no turn {id!r} of yours", fix="See them: GET /api/turns")
    (seen,) = history.page(house.medium.db, 1, turn=trace.id)
    opinion = house.medium.opinion(trace.id)
    cost = reasons.cost(trace)
    return Whole(
        **_seen(seen),
        state_words=reasons.STATES[trace.state],
        path_words=reasons.PATHS.get(trace.path, trace.path),
        how=list(reasons.how(house, trace)),
        made=list(reasons.made(trace)),
        gone="" if trace.kept is Kept.WHOLE else reasons.GONE[trace.kept],
        notes=[str(note) for note in reasons.listed(trace.plan.get("notes"))],
        plan=trace.plan,
        candidates=trace.candidates,
        steps=[_step(house, trace, step) for step in trace.steps],
        memories=trace.memories,
        passings=[
            Flow(source=each.src, target=each.dst, source_step=each.src_step, target_step=each.dst_step, how=each.how)
            for each in trace.passings
        ],
        wishes=[
            Wish(name=each.name, source=each.source, summary=each.signature.get("summary", ""))
            for each in trace.desired
        ],
        calls=[Call(**{name: getattr(each, name) for name in Call.model_fields}) for each in trace.calls],
        costs=Costs(**cost, seconds=sum(each.wall_ms for each in trace.calls) / 1000),
        cpu_ms=trace.cpu_ms,
        closed=to_text(trace.closed),
        error=trace.error,
        feedback=_opinion(opinion) if opinion else None,
    )


@router.post("/{id}/feedback", summary="Say whether an answer was good")
def feedback(house: House, _by: Owner, id: Id, thought: Thought) -> Opinion:  # noqa: A002
    given = house.medium.feedback(_trace(house, id).id, thought.good, thought.reason)
    learning.catch_up_or_later(house)  # what a fast path did wrong it does not do again
    return _opinion(given)


def _of(who: Principal) -> str:
    """What the conversations of the turns begin with that are shown: to the owner all, to a program its own."""
    return "" if is_owner(who.channel) else f"{who}:"


def _trace(house: App, part: str) -> Trace:
    try:
        return house.medium.find(part)
    except TurnError as error:
        raise Missing(error.what, fix=error.fix) from error


def _seen(each: Seen) -> dict[str, Any]:
    return {
        "id": each.id,
        "conversation": each.conversation,
        "channel": each.channel,
        "asked": to_text(each.asked),
        "text": each.text,
        "answer": each.answer,
        "state": each.state,
        "path": each.path,
        "executors": list(each.executors),
        "wall_ms": each.wall_ms,
        "usd": each.usd,
        "good": each.good,
        "continues": each.continues,
        "item": each.item,
    }


def _step(house: App, trace: Trace, step: StepTrace) -> Step:
    permit = next((each for each in trace.permits if each.get("step") == step.number), {})
    return Step(
        number=step.number,
        executor=step.executor,
        version=step.version,
        args=step.args,
        ok=step.ok,
        kind=step.kind,
        message=step.message,
        found=reasons.found(step),
        count=int(step.reply.get("count", 0)),
        wall_ms=step.wall_ms,
        cpu_ms=step.cpu_ms,
        because=permit.get("because") or "",
        permit=reasons.listed(permit.get("why")),
        parts=reasons.listed(permit.get("parts")),
        item=step.item,
        action=step.action,
        undone=bool(step.action) and _is_undone(house, step.action),
        audit=step.audit,
    )


def _is_undone(house: App, action: str) -> bool:
    try:
        return house.undo.find(action).state is Standing.UNDONE
    except UndoError:  # too old to be known
        return False


def _opinion(given: Feedback) -> Opinion:
    return Opinion(good=given.good, note=given.note, ts=to_text(given.ts))
