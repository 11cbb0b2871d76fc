"""The tools that act: a whole turn, and one executor. Both go through the one door, like everything else.

Rules: nothing here decides what may happen. What needs a yes stops and waits in the inbox; whether a person is asked by
the client is `elicit`'s business, and whether their answer counts is the law's. What a program wants changed or sent is
always treated as wanted after content from outside was seen, because nobody knows what it has read: no grant of the
owner's speaks for it.
"""

from collections.abc import Mapping
from typing import Any

from metnos.api.mcp.desk import Question, Reply, Visit, cut, fitting
from metnos.core.errors import InboxError, MetnosError, Waiting
from metnos.executors.call import Call
from metnos.executors.outcome import Outcome
from metnos.grimoire.trace import State
from metnos.law.inbox import ACT, Item
from metnos.turn.events import Answer, Answered, Event, Planned, StepDone, StepStarted, Thinking, Wanted
from metnos.turn.loop import Turn

_LINES, _LINE = 40, 400  # of a preview, and characters of one of them
_CONVERSATION = 64


def ask(visit: Visit, text: str, conversation: str, dry_run: bool) -> Reply:
    """A whole turn."""
    named = conversation[:_CONVERSATION]
    request = visit.app.turns.request(text, principal=visit.who, cwd=visit.cwd, conversation=named, dry_run=dry_run)
    return _followed(visit, visit.app.turns.run(request))


def run(visit: Visit, name: str, args: Mapping[str, Any], dry_run: bool) -> Reply:
    """One executor."""
    manifest = visit.app.catalog.get(name).manifest
    call = Call(name, args, visit.who, visit.cwd, now=visit.app.clock.now(), tainted=not manifest.is_quiet)
    visit.tell(f"{name} begins")
    if dry_run:
        outcome, preview = visit.app.runner.preview(call)
        lines = [cut(line, _LINE) for line in preview.lines[:_LINES]]
        data = {"ok": outcome.ok, "would": lines, "message": outcome.message}
        return Reply("\n".join(lines) or outcome.message or "Nothing would change.", data, failed=not outcome.ok)
    try:
        return _outcome(visit.app.runner.run(call))
    except Waiting as waiting:
        return waits(visit, visit.app.inbox.find(waiting.item))


def answered(visit: Visit, item_id: str, yes: bool) -> Reply:
    """Go on after a person has answered. The law says whether their answer counts."""
    inbox = visit.app.inbox
    item = inbox.find(item_id)
    if not yes:
        inbox.refuse(item.id, visit.who, "refused in an MCP client")
        return Reply("You said no; nothing was done.", {"state": State.REFUSED, "item": item.id})
    item = inbox.approve(item.id, visit.who, seen=item.yes_count)
    turn = visit.app.turns.go_on(item, visit.who)
    if turn is not None:
        return _followed(visit, turn)
    try:
        return _outcome(visit.app.runner.resume(item))
    except Waiting as waiting:
        return waits(visit, inbox.find(waiting.item))


def waits(visit: Visit, item: Item, data: Mapping[str, Any] | None = None, said: str = "") -> Reply:
    """What is told while a question waits, and the question itself if this client may answer it."""
    where = f"It waits for the owner's yes: metnos inbox show {item.id}"
    if item.needs_yes > 1:
        where = f"It cannot be taken back and waits for two yeses of the owner: metnos inbox show {item.id}"
    told = {**(data or {}), "state": State.WAITING, "item": item.id, "title": item.title}
    may = visit.who.may_answer_to(item.asked_by, item.needs_yes, act=item.kind == ACT)
    question = Question({"item": item.id}, shown(item)) if may else None
    return Reply(f"{said}\n{where}" if said and item.id not in said else said or where, told, question)


def shown(item: Item) -> str:
    """What a person sees before they answer: what would be done, line by line, and whether it can be taken back."""
    lines = [str(line) for line in item.body.get("preview", ())]
    told = [f"  {cut(_inert(line), _LINE)}" for line in lines[:_LINES]]
    if len(lines) > _LINES:
        told.append(f"  … {len(lines) - _LINES} more lines: metnos inbox show {item.id}")
    return "\n".join([_inert(item.title), *told, "Do this?"])


def _inert(text: str) -> str:
    """In one line, with nothing that a face could take for more than letters."""
    return "".join(char if char.isprintable() else " " for char in text)


def _outcome(outcome: Outcome) -> Reply:
    if not outcome.ok:
        failure = {"ok": False, "kind": outcome.kind, "state": State.FAILED}
        return Reply(f"{outcome.executor} failed: {outcome.message}", failure, failed=True)
    reply = dict(outcome.reply)
    key = "results" if "results" in reply else "entries"
    kept, left = fitting(list(reply.get(key, ())))
    data = {**reply, key: kept, "ok": True, "state": State.DONE, "left_out": left}
    undo = f" To take it back: metnos undo {outcome.action}" if outcome.action else ""
    data |= {"undo": [outcome.action]} if outcome.action else {}
    return Reply(f"{outcome.executor}: {reply.get('count', len(kept))} {key}.{undo}", data)


# -- a turn


def _followed(visit: Visit, turn: Turn) -> Reply:
    """Follow a turn to its end. Nothing is answered on the way: what asks, waits in the inbox."""
    ended: Answered | None = None
    try:
        answer: Answer | None = None
        while True:
            event = turn.send(answer)
            answer = Answer.LATER if isinstance(event, Wanted) else None
            if isinstance(event, Answered):
                ended = event
            elif visit.cancelled.is_set():
                break
            elif said := _words(event):
                visit.tell(said)
    except StopIteration:
        pass
    finally:
        turn.close()
    if ended is None:
        raise MetnosError("it was cancelled", fix="What was done stays: metnos undo --list")
    return _answer(visit, ended)


def _words(event: Event) -> str:
    """What a client is told of an event."""
    if isinstance(event, Thinking):
        return f"a language model is asked: {event.what}"
    if isinstance(event, Planned):
        return f"planned: {', '.join(event.executors) or 'nothing to do'}"
    if isinstance(event, StepStarted):
        return f"step {event.number} of {event.of}: {event.executor} {event.title}".strip()
    if isinstance(event, StepDone):
        how = "done" if event.ok else f"failed: {event.message}"
        return f"step {event.number}: {event.executor} {how}"
    return ""


def _answer(visit: Visit, ended: Answered) -> Reply:
    steps = [
        {key: value for key, value in step.items() if key in ("executor", "ok", "message", "action")}
        for step in ended.steps
    ]
    data: dict[str, Any] = {"turn": ended.turn, "state": ended.state, "steps": fitting(steps)[0]}
    data |= {"undo": list(ended.undo), "own_words": ended.model_text}
    text = cut(ended.text)
    if ended.undo:
        text += f"\nTo take it back: metnos undo {' '.join(ended.undo)}"
    item = visit.app.medium.load(ended.turn).item if ended.state == State.WAITING else ""
    if not item:
        return Reply(text, data, failed=ended.state == State.FAILED)
    try:
        return waits(visit, visit.app.inbox.find(item), data, text)
    except InboxError:
        return Reply(text, data)
