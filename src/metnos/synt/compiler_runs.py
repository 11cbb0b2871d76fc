"""Recorded runs of a sequence: what a compiled executor is made from, and held against.

They are read from traces, and not from the shapes of fast paths: a trace has the plan with its references, every call
as it was made and every reply; a shape has none of the values, and nothing to compare with.

Rules: a run counts if it is kept whole, was made with the parts as they are now, and did what was planned and nothing
else: no repair, no reasoning, no rehearsal, nothing that was refused or waits, nothing that a model planned after it
had read content. One that failed counts too: what fails must fail in the same way. A turn that went on after a yes is
one run with what it went on with. Reads; decides nothing about forms.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metnos.executors.birth import counted
from metnos.executors.manifest import Manifest
from metnos.executors.outcome import KINDS
from metnos.fastpath.heard import Heard
from metnos.fastpath.shape import Learnt, learn
from metnos.grimoire.trace import Kept, State, StepTrace, Trace

_ENDED = (State.DONE, State.PARTLY, State.FAILED)
_WORD = re.compile(r"[^\W\d_]{4,}")
_INNER = ("parts", "list", "table")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a part answered: a reply with its counts, or an error."""

    reply: Mapping[str, Any]
    error: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """One recorded use. There are as many answers as steps were taken."""

    turn: str
    text: str
    planned: tuple[Mapping[str, Any], ...]  # the arguments of each step, with references
    called: tuple[Mapping[str, Any], ...]  # those of the steps that were taken, as they were made
    answers: tuple[Answer, ...]
    said: frozenset[tuple[int, str]]  # step and argument, of values that come from the request
    words: frozenset[str]  # of the request, without its particulars


Load = Callable[[str], Trace]  # a turn by its id


def read(traces: Iterable[Trace], parts: Sequence[Manifest], load: Load | None = None) -> tuple[list[Run], list[str]]:
    """The runs that count, and why the others do not. ``load`` finds the turn that another went on with."""
    runs: list[Run] = []
    skipped: list[str] = []
    for trace in traces:
        found = _run(trace, parts, load)
        if isinstance(found, Run):
            runs.append(found)
        else:
            skipped.append(f"{trace.id}: {found}")
    return runs, skipped


def _run(trace: Trace, parts: Sequence[Manifest], load: Load | None) -> Run | str:
    chain = list(_chain(trace, load))
    first = chain[0]
    steps = [step for each in chain[:-1] for step in each.steps if step.ok] + list(trace.steps)
    planned = trace.plan.get("steps") or ()
    problem = _unusable(trace, chain, steps) or _differs(parts, planned, steps)
    if problem:
        return problem
    args = tuple(dict(each["args"]) for each in planned)
    return Run(
        turn=trace.id,
        text=first.text,
        planned=args,
        called=tuple(step.args for step in steps),
        answers=tuple(map(_answer, steps)),
        said=frozenset(_said(first, args)),
        words=frozenset(_words(first)),
    )


def _chain(trace: Trace, load: Load | None) -> Iterator[Trace]:
    """The turns that led to this one, the first of all first."""
    found = [trace]
    while found[0].continues and load is not None:
        found.insert(0, load(found[0].continues))
    return iter(found)


def _unusable(trace: Trace, chain: Sequence[Trace], steps: Sequence[StepTrace]) -> str:
    plan = trace.plan
    whole = all(each.kept is Kept.WHOLE for each in chain) and not plan.get("cut")
    if not whole or chain[0].continues or any(step.reply.get("cut") or step.args.get("cut") for step in steps):
        return "it is not kept whole"
    if trace.state not in _ENDED or trace.error:
        return "it did not come to an end of its own"
    if plan.get("open") or plan.get("tainted"):
        return "it rested on what a model had read"
    return ""


def _differs(parts: Sequence[Manifest], planned: Sequence[Mapping[str, Any]], steps: Sequence[StepTrace]) -> str:
    names = [part.name for part in parts]
    taken = [step.executor for step in steps]
    if [each.get("executor") for each in planned] != names or taken != names[: len(taken)]:
        return "it went another way"
    if any(not step.ok for step in steps[:-1]):
        return "it was mended on the way"
    if any(step.version != part.version for step, part in zip(steps, parts, strict=False)):
        return "its executors are others by now"
    return ""


def _answer(step: StepTrace) -> Answer:
    if step.ok:
        return Answer(counted(step.reply))
    return Answer({}, step.kind if step.kind in KINDS else "failed", step.message)


# -- what was said


def _said(trace: Trace, planned: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, str]]:
    """The arguments whose values come from the request: by its particulars, or because they stand in it."""
    heard = Heard.from_data(trace.text, trace.slots, trace.asked)
    learnt = learn(planned, heard, trace.cwd) if heard is not None else None
    for number, args in enumerate(planned, start=1):
        for name, value in args.items():
            heeded = isinstance(learnt, Learnt) and _is_said(learnt.shape[number - 1]["args"][name])
            if heeded or any(_stands_in(text, trace.text) for text in _texts(value)):
                yield number, name


def _is_said(node: Mapping[str, Any]) -> bool:
    if any(kind in node for kind in ("read", "said", "words")):
        return True
    inner = (node[kind] for kind in _INNER if kind in node)
    return any(_is_said(each) for held in inner for each in (held.values() if isinstance(held, Mapping) else held))


def _stands_in(text: str, request: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(text.casefold())}(?!\w)", request.casefold()) is not None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(each)
    elif isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
        yield str(value)


def _words(trace: Trace) -> Iterator[str]:
    """The words of a request that are no particulars of it."""
    text = trace.text
    for slot in sorted(trace.slots, key=lambda each: -int(each.get("start", 0))):
        text = f"{text[: int(slot.get('start', 0))]} {text[int(slot.get('end', 0)) :]}"
    yield from (word.casefold() for word in _WORD.findall(text))
