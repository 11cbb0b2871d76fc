"""How an answer came about, in words for whoever does not know ours, and as data for programs.

Rules: reads what a turn recorded and changes nothing. A line that begins with spaces belongs to the one before it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from metnos.app import explaining as fast
from metnos.core.clock import to_text
from metnos.fastpath.records import State as PathState
from metnos.grimoire.medium import Feedback
from metnos.grimoire.trace import Kept, State, StepTrace, Trace

if TYPE_CHECKING:
    from metnos.app.house import App

GONE = {
    Kept.FORGOTTEN: "What was said and found was forgotten, as you wished. What ran and when is still known.",
    Kept.SUMMARISED: "This turn is too old to be kept whole: a summary has what was said. What ran is still known.",
}
PATHS = {
    "": "There was no plan.",
    "router": "Planned by fixed rules, without a language model.",
    "model": "Planned by a language model, from the executors below.",
    "react": "Reasoned step by step by a language model, from the executors below.",
    "fast": "A shortcut, learnt from earlier requests of this kind.",
}
STATES = {
    State.DONE: "everything that was asked for was done",
    State.PARTLY: "part of it was done",
    State.FAILED: "it did not succeed",
    State.REFUSED: "it was not allowed",
    State.WAITING: "it waits for your yes",
    State.QUESTION: "something was missing, and Metnos asked back",
    State.NOTHING: "nothing that Metnos has fits",
    State.TALKED: "answered in words, nothing was done",
    State.CANCELLED: "you stopped it",
    State.INTERRUPTED: "its process ended before it was over",
    State.REHEARSED: "a dry run: nothing was changed",
}
FAST: dict[str, str] = {  # what a fast path does in each state, and what the state is called
    PathState.CANDIDATE: "was seen too rarely (candidate)",
    PathState.SHADOW: "only watches (shadow)",
    PathState.ACTIVE: "answers (active)",
    PathState.DEMOTED: "is switched off (demoted)",
}
_CAREFUL = ("careful:", "attenzione:")  # how a note that warns begins
_SAID = {"yes": "yes.", "no": "no.", "later": "nothing."}


def how(app: "App", trace: Trace) -> Iterator[str]:
    """How a request was planned, line by line."""
    yield PATHS.get(trace.path, f"By the way called {trace.path}.")
    certainty = trace.plan.get("certainty")
    if isinstance(certainty, int | float) and trace.path:
        yield f"How sure that this was meant: {certainty:.0%}"
    if trace.plan.get("missing"):
        yield f"What was missing: {trace.plan['missing']}"
    for note in listed(trace.plan.get("notes")):
        warned = str(note).startswith(_CAREFUL)
        yield f"You were warned: {note}" if warned else f"Assumed: {note}"
    reading = fast.reading(trace) or trace.canonical
    if reading:
        yield f"Without its details the request reads: {reading}"
    if trace.plan.get("explored"):
        yield (
            f"{trace.plan['explored']} is hidden from planners, and could be chosen this once, to see whether it has"
            f" become better: metnos executor show {trace.plan['explored']}"
        )
    told = trace.plan.get("fast")
    if isinstance(told, Mapping):
        yield from _fast(app, told, trace)


def _fast(app: "App", said: Mapping[str, Any], trace: Trace) -> Iterator[str]:
    """What a fast path said about the request: what it rests on, and why it answered or did not."""
    way = "in the same words" if said.get("exact") else "by its meaning"
    path = str(said.get("path", ""))
    knows = f"A fast path knows such requests {way}" if said.get("sure", True) else f"The nearest fast path {way}"
    yield f"{knows}: {fast.spelled(app, path, str(said.get('form', '')))}"
    passes, sure = said.get("passes"), said.get("probability")
    learnt = f", learnt from {passes} request{'' if passes == 1 else 's'}" if isinstance(passes, int) else ""
    likely = f", {sure:.2%} likely to be right" if is_number(sure) else ""
    state = str(said.get("state", ""))
    yield f"  It {FAST.get(state, state or 'is not known any more')}{learnt}{likely}."
    yield f"  See: metnos fastpath show {path[:10]}"
    if trace.path == "fast":
        yield f"  It answered: {said.get('why', '')}"
    elif said.get("fell_back"):
        yield f"  It tried, changed nothing, and it was planned anew: {said['fell_back']}"
    else:
        yield f"  It did not answer: {said.get('why', '')}"
    if said.get("steps") and trace.plan.get("steps") and trace.path != "fast":
        same = said["steps"] == trace.plan.get("steps")
        yield "  It would have done the same." if same else "  It would have done something else."


def made(trace: Trace) -> Iterator[str]:
    """What was made for the request, and what the owner said to it; nothing if nothing was."""
    told = trace.plan.get("made")
    if not isinstance(told, Mapping):
        return
    name, offer, answer = (str(told.get(key, "")) for key in ("name", "offer", "answer"))
    if offer:
        yield f"Nothing that was there fitted. Offered to have it made, you said: {_SAID.get(offer, offer)}"
    if told.get("proposal"):
        yield f"How it was made: metnos synt show {told['proposal']}"
    if told.get("item"):
        yield f"Whether {name} may live, you were asked with its files before you: metnos inbox show {told['item']}"
    if answer:
        yield f"You said: {_SAID.get(answer, answer)}"
    if told.get("failed"):
        yield f"It came to nothing: {told['failed']}"
    if told.get("lives") or told.get("before"):
        used = "used" if any(step.executor == name for step in trace.steps) else "not used"
        since = "was signed and is active" if told.get("lives") else "was made for such a request before"
        yield f"{name} {since}. It was {used} for this request."


def found(step: StepTrace) -> str:
    """How a step ended, in a few words."""
    if not step.ok:
        return step.message or step.kind or "it did not succeed"
    count, total, failed = (int(step.reply.get(key, 0)) for key in ("count", "total", "failed"))
    words = f"{count} of {total}" if total > count else f"{count} item{'' if count == 1 else 's'}"
    return f"{words}, {failed} failed" if failed else words


# -- as data


def data(trace: Trace, opinion: Feedback | None) -> dict[str, Any]:
    """A turn, whole."""
    said = {"good": opinion.good, "note": opinion.note, "ts": to_text(opinion.ts)} if opinion else None
    return asdict(trace) | {"asked": to_text(trace.asked), "closed": to_text(trace.closed), "feedback": said}


def explained(trace: Trace, opinion: Feedback | None) -> dict[str, Any]:
    """What explains an answer: the turn without what was said and found."""
    whole = data(trace, opinion)
    for key in ("text", "answer", "slots"):
        del whole[key]
    for step in whole["steps"]:
        step["found"] = {key: step["reply"].get(key) for key in ("count", "total", "failed")}
        del step["reply"], step["args"]
    return whole | {"cost": cost(trace)}


def cost(trace: Trace) -> dict[str, Any]:
    """What language models took for a turn."""
    tokens = sum(each.input_tokens + each.output_tokens for each in trace.calls)
    return {"calls": len(trace.calls), "tokens": tokens, "usd": sum(each.usd for each in trace.calls)}


def listed(value: Any) -> list[Any]:
    """A list where one was recorded, and nothing else."""
    return list(value) if isinstance(value, list | tuple) else []


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
