"""What one executor in the place of a sequence costs, against running the sequence's steps.

Each sequence is taken once as a turn (fixed rules plan it, no language model), compiled from its trace, signed, and
then run through the one door, as its steps are: every call of either side is verified, decided, permitted and audited.
So the compiled one pays for one door and one sandbox more, and saves what a turn does between steps, which is not
measured here. *Active* is an executor with a warm sandbox; *on trial* is one that was just born, which gets a cold one
each time. CPU is that of the whole process and of every sandbox. Does not measure planning: a turn that finds one
executor instead of a sequence plans less.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import scratch
from bench.runner import BenchError, Cost, Measure, compare
from metnos import app
from metnos.core.workspace import Workspace
from metnos.executors import folder as folders
from metnos.executors import refs
from metnos.executors.outcome import Outcome
from metnos.executors.run import Call
from metnos.executors.state import State
from metnos.grimoire.trace import Trace
from metnos.law.inbox import ADOPTION
from metnos.law.principal import Channel, of_account
from metnos.synt.compiler import Bench, unify
from metnos.synt.draft import Draft

PURPOSE = "one compiled executor in the place of a sequence, against the sequence's steps"

_ROUNDS, _BUDGET_S, _CALLS = 9, 20.0, 5
_PAUSE_S = 0.015  # in which the next warm children are made, on either side
_FILES = 30
_REQUESTS = (
    "find the txt files in {0} and read them",
    "find the txt files in {0} and count their words",
    "find the txt files in {0} and hash them",
)


@dataclass(frozen=True, slots=True)
class _Sequence:
    """A sequence with the executor that takes its place."""

    opened: app.App
    folder: Path
    trace: Trace
    draft: Draft

    @property
    def name(self) -> str:
        return ", ".join(step.executor for step in self.trace.steps)

    def call(self, name: str, args: dict[str, Any]) -> Outcome:
        outcome = self.opened.runner.run(Call(name, args, of_account(Channel.TERMINAL), self.folder))
        if not outcome.ok:
            raise BenchError(f"{name} did not run as it should: {outcome.message}")
        return outcome

    def whole(self) -> list[Outcome]:
        return [self.call(self.draft.name, dict(self.draft.read().examples[0].args))]

    def steps(self) -> list[Outcome]:
        made: list[Outcome] = []
        for planned in self.trace.plan["steps"]:
            args = refs.resolve(
                planned["args"], {f"step{place}": each.reply for place, each in enumerate(made, start=1)}
            )
            made.append(self.call(planned["executor"], args))
        return made


def run(data: Path) -> list[Measure]:  # noqa: ARG001 -- needs none
    with scratch.folder() as folder:
        papers = folder / "papers"
        papers.mkdir()
        for number in range(_FILES):
            (papers / f"note-{number}.txt").write_text(f"line {number} of a short text\n" * 20)
        opened = _open(folder)
        try:
            made = [_compiled(opened, folder, text.format(papers)) for text in _REQUESTS]
            return [measure for each in made for measure in _measures(each)]
        finally:
            opened.close()


def _open(folder: Path) -> app.App:
    workspace = Workspace(folder / "workspace")
    app.found(workspace)
    first = app.App.open(workspace)
    first.set_setting("executors.births", "100", of_account(Channel.TERMINAL))
    first.close()
    return app.App.open(workspace)


def _compiled(opened: app.App, folder: Path, text: str) -> _Sequence:
    request = opened.turns.request(text, principal=of_account(Channel.TERMINAL), cwd=folder)
    for _ in opened.turns.run(request):
        pass
    trace = opened.medium.load(request.id)
    if len(trace.steps) < 2 or not all(step.ok for step in trace.steps):
        raise BenchError(f"{text!r} did not run as it should: {trace.answer}")
    parts = [opened.catalog.get(step.executor).manifest for step in trace.steps]
    bench = Bench(opened.pool, opened.settings.executors)
    made = unify(parts, [trace], opened.catalog.names(), bench, home=str(folder))
    if made.draft is None:
        raise BenchError(f"{text!r} was not compiled: {made.abandoned}")
    folders.place(opened.catalog.folder, made.draft.name, made.draft.contents())
    _agree(opened, made.draft)
    opened.catalog.sign(made.draft.name, "a benchmark")
    return _Sequence(opened, folder, trace, made.draft)


def _agree(opened: app.App, draft: Draft) -> None:
    """Say yes to exactly these files, as whoever starts a benchmark."""
    by, body = of_account(Channel.TERMINAL), {"name": draft.name}
    item = opened.inbox.ask(ADOPTION, f"Sign {draft.name}", body, draft.digest, asked_by=by, hours=1)
    opened.inbox.approve(item.id, by, typed=item.word)
    opened.inbox.take(item.digest)


def _measures(sequence: _Sequence) -> list[Measure]:
    catalog, name = sequence.opened.catalog, sequence.draft.name
    measures = [
        _compare(sequence, "active, wall", _wall),
        _compare(sequence, "active, CPU", _cpu),
    ]
    catalog.sign(name, "a benchmark", state=State.SEED)
    return [*measures, _compare(sequence, "on trial, wall", _wall)]


def _compare(sequence: _Sequence, what: str, cost: Callable[[Callable[[], Sequence[Outcome]]], Cost]) -> Measure:
    return compare(
        f"{sequence.name}: {what}",
        "ms",
        subject=cost(sequence.whole),
        baseline=cost(sequence.steps),
        rounds=_ROUNDS,
        budget_s=_BUDGET_S,
        note="one compiled executor against its parts, one after the other",
    )


def _wall(work: Callable[[], Sequence[Outcome]]) -> Cost:
    def cost() -> float:
        spent = 0.0
        for _ in range(_CALLS):
            time.sleep(_PAUSE_S)
            start = time.perf_counter()
            work()
            spent += time.perf_counter() - start
        return spent * 1000 / _CALLS

    return cost


def _cpu(work: Callable[[], Sequence[Outcome]]) -> Cost:
    def cost() -> float:
        start, inside = time.process_time(), 0.0
        for _ in range(_CALLS):
            inside += sum(map(_inside, work()))
        return ((time.process_time() - start) * 1000 + inside) / _CALLS

    return cost


def _inside(outcome: Outcome) -> float:
    """What the sandboxes of a call used, with those of the calls that it made."""
    return outcome.cpu_ms + sum(map(_inside, outcome.inner))
