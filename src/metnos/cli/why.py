"""``metnos why``: how an answer came about, in words for whoever does not know ours."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from metnos.app import App
from metnos.app import explaining as fast
from metnos.cli import Choice
from metnos.cli.fastpath import WORDS
from metnos.cli.live import lasted
from metnos.cli.opening import open_app
from metnos.cli.output import counted, hanging, json_option, print_json, print_table, say
from metnos.cli.turns import GONE, asked, chosen, data, found, when
from metnos.grimoire.trace import Kept, ModelCall, State, StepTrace, Trace

_PATHS = {
    "": "There was no plan.",
    "router": "Planned by fixed rules, without a language model.",
    "model": "Planned by a language model, from the executors below.",
    "react": "Reasoned step by step by a language model, from the executors below.",
    "fast": "A shortcut, learnt from earlier requests of this kind.",
}
_STATES = {
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
_PARTS = {
    "lexical": "words",
    "cosine": "meaning",
    "affinity": "keywords",
    "slots": "details",
    "weight": "experience",
}
_SAID = {"yes": "yes.", "no": "no.", "later": "nothing."}
_HOW = {"reference": "the plan said so", "content": "the same content", "call": "called by it"}


@click.command()
@click.argument("turn", required=False)
@json_option
@click.pass_obj
def why(choice: Choice, turn: str | None, as_json: bool) -> None:
    """See how an answer came about: path, candidates, permits, costs.

    TURN is an id from `metnos turns list`, or its last letters; without it, the last answer is explained.
    """
    app = open_app(choice)
    trace = chosen(app.medium, turn)
    if as_json:
        print_json(_data(data(trace, app.medium.opinion(trace.id)), trace))
        return
    _head(trace)
    _plan(app, trace)
    _made(trace)
    _candidates(trace.candidates)
    _memories(trace.memories)
    _permits(trace.permits)
    _steps(trace.steps)
    _flows(trace)
    _models(trace.calls)
    _further(trace)


def _head(trace: Trace) -> None:
    click.secho(f"Turn {trace.id}", bold=True)
    say(f"{when(trace)}, {trace.channel or 'unknown channel'}: {_STATES[trace.state]}")
    if trace.kept is not Kept.WHOLE:
        click.secho(hanging(GONE[trace.kept], 0), fg="yellow")
    if trace.text:
        say(f"You asked: {asked(trace)}")
    if trace.continues:
        say(f"It goes on with turn {trace.continues}.")
    if trace.error:
        say(f"What went wrong: {trace.error}")


def _plan(app: App, trace: Trace) -> None:
    _title("How it was planned")
    _say(_PATHS.get(trace.path, f"By the way called {trace.path}."))
    certainty = trace.plan.get("certainty")
    if isinstance(certainty, int | float) and trace.path:
        _say(f"How sure that this was meant: {certainty:.0%}")
    if trace.plan.get("missing"):
        _say(f"What was missing: {trace.plan['missing']}")
    for note in _list(trace.plan.get("notes")):
        _say(f"Assumed: {note}")
    reading = fast.reading(trace) or trace.canonical
    if reading:
        _say(f"Without its details the request reads: {reading}")
    if trace.plan.get("explored"):
        _say(
            f"{trace.plan['explored']} is hidden from planners, and could be chosen this once, to see whether it has"
            f" become better: metnos executor show {trace.plan['explored']}"
        )
    told = trace.plan.get("fast")
    if isinstance(told, Mapping):
        _fast(app, told, trace)


def _made(trace: Trace) -> None:
    """What was made for the request, and what the owner said to it."""
    told = trace.plan.get("made")
    if not isinstance(told, Mapping):
        return
    _title("What was made for it")
    name, offer, answer = (str(told.get(key, "")) for key in ("name", "offer", "answer"))
    if offer:
        _say(f"Nothing that was there fitted. Offered to have it made, you said: {_SAID.get(offer, offer)}")
    if told.get("proposal"):
        _say(f"How it was made: metnos synt show {told['proposal']}")
    if told.get("item"):
        _say(f"Whether {name} may live, you were asked with its files before you: metnos inbox show {told['item']}")
    if answer:
        _say(f"You said: {_SAID.get(answer, answer)}")
    if told.get("failed"):
        _say(f"It came to nothing: {told['failed']}")
    if told.get("lives") or told.get("before"):
        used = "used" if any(step.executor == name for step in trace.steps) else "not used"
        since = "was signed and is active" if told.get("lives") else "was made for such a request before"
        _say(f"{name} {since}. It was {used} for this request.")


def _fast(app: App, said: Mapping[str, Any], trace: Trace) -> None:
    """What a fast path said about the request: what it rests on, and why it answered or did not."""
    how = "in the same words" if said.get("exact") else "by its meaning"
    path = str(said.get("path", ""))
    knows = f"A fast path knows such requests {how}" if said.get("sure", True) else f"The nearest fast path {how}"
    _say(f"{knows}: {fast.spelled(app, path, str(said.get('form', '')))}")
    passes, sure = said.get("passes"), said.get("probability")
    learnt = f", learnt from {counted(passes, 'request')}" if isinstance(passes, int) else ""
    likely = f", {sure:.2%} likely to be right" if _is_number(sure) else ""
    state = str(said.get("state", ""))
    _say(f"  It {WORDS.get(state, state or 'is not known any more')}{learnt}{likely}.")
    _say(f"  See: metnos fastpath show {path[:10]}")
    if trace.path == "fast":
        _say(f"  It answered: {said.get('why', '')}")
    elif said.get("fell_back"):
        _say(f"  It tried, changed nothing, and it was planned anew: {said['fell_back']}")
    else:
        _say(f"  It did not answer: {said.get('why', '')}")
    if said.get("steps") and trace.plan.get("steps") and trace.path != "fast":
        same = said["steps"] == trace.plan.get("steps")
        _say("  It would have done the same." if same else "  It would have done something else.")


def _candidates(candidates: Sequence[Mapping[str, Any]]) -> None:
    if not candidates:
        return
    _title("What could have done it, the best first")
    known = ("score", *_PARTS)
    given = dict.fromkeys(key for each in candidates for key in each if _is_number(each[key]))
    names = [name for name in known if name in given] + [name for name in given if name not in known]
    rows = [(each.get("executor", "?"), *(_figure(each.get(name)) for name in names)) for each in candidates]
    head = [_PARTS.get(name, name) for name in names]
    print_table(("executor", *head), rows, drop=head[:0:-1])
    _say(
        "The score is made of the figures beside it: how well words, meaning and details of the request fit."
        " Experience, what usually follows what was done before, changes the order only."
    )


def _memories(memories: Sequence[Mapping[str, Any]]) -> None:
    _title("What was remembered for it")
    if not memories:
        _say("Nothing.")
    for each in memories:
        _say(f"{each.get('kind', 'memory')}: {each.get('text', '')}")


def _permits(permits: Sequence[Mapping[str, Any]]) -> None:
    if not permits:
        return
    _title("Why each step was allowed, or was not")
    for each in permits:
        _say(f"{each.get('step', '?')}. {each.get('executor', '?')}: {each.get('because') or 'not known any more'}")
        for step in _list(each.get("why")):
            if isinstance(step, list | tuple) and step:
                _say("   " + ", ".join(map(str, step)))
        if each.get("item"):
            _say(f"   You were asked: metnos inbox show {each['item']}")
        _parts(each)


def _parts(whole: Mapping[str, Any], deep: int = 1) -> None:
    """The calls that an executor made, each with what came of it and why it was allowed."""
    for each in _list(whole.get("parts")):
        how = "" if each.get("ok") else f", which failed ({each.get('kind') or 'failed'})"
        line = f", audit line {each['audit']}" if each.get("audit") else ""
        because = each.get("because") or "not known any more"
        changed = "; it changed something" if each.get("action") else ""
        _say(f"{'   ' * deep}It called {each.get('executor', '?')}{how}{line}: {because}{changed}")
        _parts(each, deep + 1)


def _steps(steps: Sequence[StepTrace]) -> None:
    _title("What was done")
    if not steps:
        _say("No executor ran.")
        return
    rows = [
        (
            step.number,
            f"{step.executor} {step.version}".strip(),
            "yes" if step.ok else f"no ({step.kind})" if step.kind else "no",
            found(step),
            lasted(step.wall_ms),
            f"{step.gap_before} → {step.gap_after}",
            step.audit or "none",
            step.action or "none",
        )
        for step in steps
    ]
    head = ("step", "executor", "worked", "found", "took", "steps to go", "audit line", "undo id")
    print_table(head, rows, drop=("undo id", "audit line", "steps to go", "took", "step"))  # the first two come below


def _flows(trace: Trace) -> None:
    if trace.passings:
        _title("What was handed on")
    for each in trace.passings:
        places = f"step {each.src_step} to step {each.dst_step}, {_HOW.get(each.how, each.how)}"
        _say(f"{each.src} → {each.dst} ({places})")
    if trace.desired:
        _title("What was missing, and is remembered as a wish (metnos mnestome proto)")
    for wish in trace.desired:
        _say(f"{wish.name}, to follow {wish.source}: {wish.signature.get('summary', '') or 'no description'}")


def _models(calls: Sequence[ModelCall]) -> None:
    _title("Language models")
    if not calls:
        _say("None was asked; it cost nothing.")
        return
    rows = [
        (each.purpose, each.model, each.input_tokens, each.cached_tokens, each.output_tokens, _money(each.usd),
         lasted(each.wall_ms), each.error or "no")
        for each in calls
    ]  # fmt: skip
    head = ("for", "model", "tokens in", "of them cached", "tokens out", "cost", "took", "failed")
    print_table(head, rows, drop=("of them cached", "took", "tokens in", "tokens out", "failed"))
    tokens = sum(each.input_tokens + each.output_tokens for each in calls)
    spent = _money(sum(each.usd for each in calls))
    _say(f"Together: {counted(len(calls), 'call')}, {counted(tokens, 'token')}, {spent}.")


def _further(trace: Trace) -> None:
    _title("Further")
    _say(f"Metnos's own computing time: {trace.cpu_ms:.1f} ms")
    for step in trace.steps:
        if step.audit:
            _say(f"The record of step {step.number}: metnos audit show {step.audit}")
        if step.action:
            _say(f"To take step {step.number} back: metnos undo {step.action}")
    if trace.item:
        _say(f"It waits for your answer: metnos inbox show {trace.item}")
    _say(f"To say what you think of it: metnos feedback good|bad {trace.id}")


def _data(whole: dict[str, Any], trace: Trace) -> dict[str, Any]:
    """What explains an answer: the turn without what was said and found."""
    for key in ("text", "answer", "slots"):
        del whole[key]
    for step in whole["steps"]:
        step["found"] = {key: step["reply"].get(key) for key in ("count", "total", "failed")}
        del step["reply"], step["args"]
    tokens = sum(each.input_tokens + each.output_tokens for each in trace.calls)
    return whole | {"cost": {"calls": len(trace.calls), "tokens": tokens, "usd": sum(each.usd for each in trace.calls)}}


def _title(text: str) -> None:
    click.secho(f"\n{hanging(text, 0)}", bold=True)


def _say(text: str) -> None:
    """One line of a part, or, where it begins further in, of what belongs to the line before."""
    inner = len(text) - len(text.lstrip())
    say(text.lstrip(), 2 + inner)


def _money(usd: float) -> str:
    return f"${usd:.4f}" if usd else "nothing"


def _figure(value: Any) -> str:
    return f"{value:.3f}" if _is_number(value) else ""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []
