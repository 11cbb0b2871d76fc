"""The inbox over HTTP: everything that waits for the owner, and their answers.

Rules: what an answer leads to is `metnos.app.answering`'s, as at the terminal. A yes names how many yeses whoever gave
it had seen, so that one click which arrives twice stays one yes.
"""

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from metnos.api.http.inside import KEPT, PROBLEMS, Body, Desk, House, Id, Missing, Owner, TheDesk, Who
from metnos.api.http.plain import Given, Long, Said, Short, Told
from metnos.api.http.runs import Run
from metnos.app import App, answering, questions
from metnos.core.clock import to_text
from metnos.core.errors import InboxError, UsageError
from metnos.grimoire.capture import is_owner
from metnos.law.inbox import Item, State
from metnos.law.principal import Principal
from metnos.synt.proposals import State as Stand

router = APIRouter(prefix="/api/inbox", tags=["inbox"], responses=PROBLEMS)

_NEWEST = 50


class Question(BaseModel):
    """One question in a list."""

    id: str
    kind: str
    kind_words: str
    title: Said
    state: str
    yes_count: int
    needs_yes: int
    asked_by: Said
    asked_at: str
    expires_at: str
    answered_at: str | None
    answered_by: Said | None
    reason: Said


class Questions(BaseModel):
    items: list[Question]


class Given1(BaseModel):
    """One yes."""

    number: int
    by: Said
    at: str


class Part(BaseModel):
    """One part of a question in words. `kind` says how it is shown: lines, diff, code, pairs, tests, rules."""

    title: Said
    kind: str
    lines: Told
    text: Said
    folded: bool


class WholeQuestion(Question):
    """One question, whole: its body as data, and in words as whoever decides should read it."""

    digest: str
    body: Told
    parts: list[Part]
    yeses: list[Given1]
    word: Said = Field(description="What has to be typed to say yes; empty where a plain yes is enough.")
    editable: str = Field(description="What of it can be changed: args, text, code, or nothing.")


class Yes(Body):
    """A yes."""

    seen: int = Field(ge=0, le=2, description="How many yeses there were when it was shown.")
    typed: Short = Field("", description="What was typed, for what has to be named (`word` of the question).")


class No(Body):
    """A no."""

    reason: Short = Field("", description="Why not. A new executor that is refused with a reason is made again.")


class Edited(Body):
    """What takes the place of what is asked about: exactly one of these."""

    args: Given | None = None
    text: Long | None = None
    code: Long | None = None


class Answered(BaseModel):
    """What came of an answer."""

    state: str
    said: Said
    run: str | None = Field(None, description="A turn that goes on because of it: follow it at /api/runs/{run}/events.")
    ok: bool = True
    action: str = Field("", description="What takes back what was done.")


class New(BaseModel):
    """The question that took the place of another."""

    id: str


@router.get("", summary="What waits for the owner", openapi_extra=KEPT)
def listed(
    house: House,
    who: Who,
    all: Annotated[bool, Query(description=f"Also what is answered: the newest {_NEWEST}.")] = False,  # noqa: A002
) -> Questions:
    items = house.inbox.newest(_NEWEST)[::-1] if all else house.inbox.waiting()
    return Questions(items=[Question(**_data(each)) for each in items if _may_see(each, who)])


@router.get("/{id}", summary="One question, whole")
def shown(house: House, who: Who, id: Id) -> WholeQuestion:  # noqa: A002 -- the name in the path
    item = _item(house, id)
    if not _may_see(item, who):
        raise Missing(f"there is no question {id!r} of yours", fix="See them: GET /api/inbox")
    rules, reversal = answering.standing(house, item)
    body = dict(item.body) | ({"reversal": reversal, "why": rules} if rules else {})
    return WholeQuestion(
        **_data(item),
        digest=item.digest,
        body=body,
        parts=[
            Part(title=each.title, kind=each.kind, lines=each.lines, text=each.text, folded=each.folded)
            for each in questions.parts(item, rules, reversal)
        ],
        yeses=[Given1(number=each.number, by=each.by, at=to_text(each.ts)) for each in house.inbox.yeses(item.id)],
        word=item.word,
        editable=answering.editable(item),
    )


@router.post("/{id}/approve", summary="Say yes")
def approve(house: House, desk: TheDesk, by: Owner, id: Id, yes: Yes) -> Answered:  # noqa: A002
    """What was approved is done at once; what cannot be taken back needs a second yes."""
    found = _item(house, id)
    with desk.runs.reserved(by, found.title) as run:  # a yes that nothing could follow would stay in force unseen
        return _approved(house, desk, by, house.inbox.approve(found.id, by, seen=yes.seen, typed=yes.typed), run)


def _approved(house: App, desk: Desk, by: Principal, item: Item, run: Run) -> Answered:
    if item.state is State.WAITING:
        said = f"Yes {item.yes_count} of {item.needs_yes}. This cannot be taken back: if you are sure, say it again."
        return Answered(state=item.state, said=said)
    carried = answering.carry_out(house, item, by)
    turn, outcome = carried.turn, carried.outcome
    if turn is not None:
        desk.runs.start(run, lambda _household: turn)
        return Answered(state=_state(house, item), said=carried.said or "Approved. It goes on.", run=run.id)
    if outcome is not None:
        said = "Done." if outcome.ok else f"It failed: {outcome.message}"
        return Answered(state=_state(house, item), said=said, ok=outcome.ok, action=outcome.action)
    return Answered(state=_state(house, item), said=carried.said or "Approved.")


@router.post("/{id}/refuse", summary="Say no")
def refuse(house: House, by: Owner, id: Id, no: No) -> Answered:  # noqa: A002
    """A yes that was not used yet is taken back by it, too."""
    item, proposal = answering.refuse(house, _item(house, id), by, no.reason)
    said = "Refused."
    if proposal is not None and proposal.is_open:
        said = "Refused. Another is made that heeds your reason, at the latest in the night."
    elif proposal is not None and proposal.state is Stand.ABANDONED:
        said = f"Refused. It is given up: {proposal.reason}"
    return Answered(state=item.state, said=said)


@router.post("/{id}/edit", summary="Change what is asked about")
def edit(house: House, by: Owner, id: Id, edited: Edited) -> New:  # noqa: A002
    """It is a new question then: with other arguments, other words, or other code, which is tried again."""
    item = _item(house, id)
    wanted = answering.require_editable(item)
    given = {name for name in Edited.model_fields if getattr(edited, name) is not None}
    if given != {wanted}:
        raise UsageError(f"of this question its {wanted} can be changed, and nothing else", fix=f"Send `{wanted}`.")
    if edited.args is not None:
        return New(id=answering.edit_args(house, item, edited.args, by).id)
    if edited.code is not None:
        return New(id=answering.edit_code(house, item, edited.code, by).id)
    if not (edited.text or "").strip():
        raise UsageError("there are no words", fix="To drop it, refuse it.")
    return New(id=answering.edit_text(house, item, edited.text or "", by).id)


def _may_see(item: Item, who: Principal) -> bool:
    """The owner sees everything, a program what it asked for: a question holds what would be written or sent."""
    return is_owner(who.channel) or item.asked_by == str(who)


def _item(house: App, part: str) -> Item:
    try:
        return house.inbox.find(part)
    except InboxError as error:
        raise Missing(error.what, fix=error.fix) from error


def _state(house: App, item: Item) -> str:
    """How it stands by now: a yes may be used already."""
    return house.inbox.find(item.id).state


def _data(item: Item) -> dict[str, object]:
    return {
        "id": item.id,
        "kind": item.kind,
        "kind_words": questions.KINDS.get(item.kind, item.kind),
        "title": item.title,
        "state": item.state,
        "yes_count": item.yes_count,
        "needs_yes": item.needs_yes,
        "asked_by": item.asked_by,
        "asked_at": to_text(item.asked_at),
        "expires_at": to_text(item.expires_at),
        "answered_at": to_text(item.answered_at) if item.answered_at else None,
        "answered_by": item.answered_by,
        "reason": item.reason,
    }
