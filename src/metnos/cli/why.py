"""``metnos why``: how an answer came about, in words for whoever does not know ours."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from metnos.app import App, reasons
from metnos.app.reasons import GONE, found, is_number, listed
from metnos.cli import Choice
from metnos.cli.live import lasted
from metnos.cli.opening import open_app
from metnos.cli.output import counted, hanging, json_option, print_json, print_table, say
from metnos.cli.turns import asked, chosen, when
from metnos.grimoire.trace import Kept, ModelCall, StepTrace, Trace

_PARTS = {
    "lexical": "words",
    "cosine": "meaning",
    "affinity": "keywords",
    "slots": "details",
    "weight": "experience",
}
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
        print_json(reasons.explained(trace, app.medium.opinion(trace.id)))
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
    say(f"{when(trace)}, {trace.channel or 'unknown channel'}: {reasons.STATES[trace.state]}")
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
    for line in reasons.how(app, trace):
        _say(line)


def _made(trace: Trace) -> None:
    """What was made for the request, and what the owner said to it."""
    if isinstance(trace.plan.get("made"), Mapping):
        _title("What was made for it")
    for line in reasons.made(trace):
        _say(line)


def _candidates(candidates: Sequence[Mapping[str, Any]]) -> None:
    if not candidates:
        return
    _title("What could have done it, the best first")
    known = ("score", *_PARTS)
    given = dict.fromkeys(key for each in candidates for key in each if is_number(each[key]))
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
        for step in listed(each.get("why")):
            if isinstance(step, list | tuple) and step:
                _say("   " + ", ".join(map(str, step)))
        if each.get("item"):
            _say(f"   You were asked: metnos inbox show {each['item']}")
        _parts(each)


def _parts(whole: Mapping[str, Any], deep: int = 1) -> None:
    """The calls that an executor made, each with what came of it and why it was allowed."""
    for each in listed(whole.get("parts")):
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


def _title(text: str) -> None:
    click.secho(f"\n{hanging(text, 0)}", bold=True)


def _say(text: str) -> None:
    """One line of a part, or, where it begins further in, of what belongs to the line before."""
    inner = len(text) - len(text.lstrip())
    say(text.lstrip(), 2 + inner)


def _money(usd: float) -> str:
    return f"${usd:.4f}" if usd else "nothing"


def _figure(value: Any) -> str:
    return f"{value:.3f}" if is_number(value) else ""
