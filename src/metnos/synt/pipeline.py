"""The five stages in order, each with its gate, until a draft passes every gate or is abandoned.

Rules: a stage whose work is refused does it again with the reason, at most twice; the third refusal in all ends the
attempt, and the owner is told plainly where. A gate at the end sends the draft back to the stage that has to mend it,
and what depends on that is done again; nothing else is. A model is asked only for what code cannot settle. Whatever a
model says is data here: nothing of it runs but in the sandbox, and nothing of it lives without the owner's yes.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from metnos.core.errors import ModelError
from metnos.models.chat import Prompt, Reply, Usage
from metnos.synt import agreement, code, description, naming, probes, scaffold, signature, tests
from metnos.synt.agreement import Result
from metnos.synt.draft import VERSION, Check, Draft, Made
from metnos.synt.naming import Near
from metnos.synt.need import Need
from metnos.synt.rules import Stage, SyntRules
from metnos.synt.sketch import Case, Rejection, Sketch

Ask = Callable[[str, Prompt], Reply]  # what for, and what to say
Progress = Callable[[str, str], None]  # which stage, and why it is done again, if it is
Examine = Callable[[Draft], Iterator[Check]]
Results = Callable[[Sketch], Sequence[Result]]  # what the body gives for each case, in the sandbox

ORDER = (naming.STAGE, signature.STAGE, tests.STAGE, description.STAGE, code.STAGE)
# What has to be done again when a stage's work changes. The description follows from the need alone.
_AFTER = {
    naming.STAGE: (code.STAGE,),
    signature.STAGE: (tests.STAGE, code.STAGE),
    tests.STAGE: (code.STAGE,),
    description.STAGE: (),
    code.STAGE: (),
}
_UNUSABLE = ("rambling", "empty")  # kinds of answers that are one, and no good: another may be better
_FIRMLY = "it has to be short, and to end"
# How bodies are written that are to agree, until two are there and one is right: with the cases in sight or without
# them, and each time more freely, for a small model that is wrong repeats itself.
_WRITTEN = ((True, 0.0), (False, 0.3), (True, 0.6), (False, 0.7), (True, 0.9))


@dataclass(frozen=True, slots=True)
class Tools:
    """What a workshop works with."""

    ask: Ask
    near: Near
    taken: Collection[str]  # names that exist
    results: Results
    examine: Examine
    tidy: Callable[[str], str] = lambda source: source  # format the code
    version: str = VERSION
    rules: SyntRules = field(default_factory=SyntRules)


@dataclass(frozen=True, slots=True)
class Begun:
    """A sketch that is there already, which stages are to do their part anew, and what is wrong with it (`mending`)."""

    sketch: Sketch
    undone: tuple[str, ...]
    problems: Mapping[str, str]


@dataclass(slots=True)
class _Bench:
    """What lies on the workbench while one need is worked on."""

    sketch: Sketch
    undone: list[str] = field(default_factory=lambda: list(ORDER))
    problems: dict[str, str] = field(default_factory=dict)
    repairs: Counter[str] = field(default_factory=Counter)
    usage: Usage = field(default_factory=Usage)
    checks: tuple[Check, ...] = ()
    bodies: tuple[str, ...] = ()  # written for the name and the fields as they are now
    good: tuple[Case, ...] = ()  # cases that hold, and were too few for a gate

    def redo(self, stage: str, problem: str) -> None:
        if stage not in (tests.STAGE, description.STAGE, code.STAGE):
            self.bodies, self.good = (), ()  # of another name, or other fields
        again = {stage, *_AFTER[Stage(stage)], *self.undone}
        self.undone = [each for each in ORDER if each in again]
        self.problems[stage] = problem
        self.repairs[stage] += 1


class Workshop:
    """Makes drafts of needs with a language model."""

    def __init__(self, tools: Tools) -> None:
        self._tools = tools

    def make(self, need: Need, progress: Progress = lambda _stage, _what: None, begun: Begun | None = None) -> Made:
        """A draft that passed every gate, or the reason why there is none. Raises `ModelError`: then try again."""
        bench = _Bench(Sketch(need, version=self._tools.version))
        if begun is not None:
            bench = _Bench(begun.sketch, list(begun.undone), dict(begun.problems))
        draft: Draft | None = None
        while draft is None:
            stage = bench.undone[0] if bench.undone else "gates"
            try:
                progress(stage, bench.problems.get(stage, ""))
                if bench.undone:
                    self._do(stage, bench)
                    bench.undone.remove(stage)
                else:
                    draft = self._examined(bench)
            except Rejection as refused:
                if self._is_over(refused, bench):
                    return self._abandoned(refused, bench)
                bench.redo(refused.stage, refused.what)
        return Made(draft, bench.checks, stage="", rejections=bench.repairs.total(), usage=_used(bench.usage))

    def _is_over(self, refused: Rejection, bench: _Bench) -> bool:
        rules = self._tools.rules
        return bench.repairs.total() + 1 >= rules.rejections or bench.repairs[refused.stage] >= rules.repairs

    def _abandoned(self, refused: Rejection, bench: _Bench) -> Made:
        said = f"it could not be made: {refused.stage} was refused, because {refused.what}"
        count = bench.repairs.total() + 1
        return Made(None, bench.checks, said, refused.stage, count, _used(bench.usage))

    # -- the stages

    def _do(self, stage: str, bench: _Bench) -> None:
        sketch, problem = bench.sketch, bench.problems.pop(stage, "")
        if stage == naming.STAGE:
            named = naming.settled(sketch, self._tools.taken) if not problem else None
            bench.sketch = named or naming.take(
                self._said(stage, naming.prompt(sketch, self._tools.near, problem), bench).data,
                sketch,
                self._tools.taken,
                self._tools.near,
            )
        elif stage == signature.STAGE:
            bench.sketch = signature.take(self._said(stage, signature.prompt(sketch, problem), bench).data, sketch)
        elif stage == tests.STAGE:
            said = self._said(stage, tests.prompt(sketch, problem), bench).data
            bench.sketch, bench.good = tests.take(said, sketch, bench.good), ()
        elif stage == description.STAGE:
            bench.sketch = description.take(self._said(stage, description.prompt(sketch, problem), bench).data, sketch)
        else:
            self._write(problem, bench)

    def _write(self, problem: str, bench: _Bench) -> None:
        """Bodies, until one meets every case that can be relied on; the cases as they stand then."""
        sketch = replace(bench.sketch, cases=tuple(case for case in bench.sketch.cases if not case.edge))
        bodies = [replace(sketch, body=each) for each in bench.bodies]  # other cases need no other function yet
        given = [self._tools.results(each) for each in bodies]
        refusals: list[Rejection] = []
        last = sketch.body if problem else ""
        asked = 0
        enough = len(bodies) > 1 and agreement.judge(sketch.cases, given, bench.bodies).unmet is None
        for seen, temperature in () if enough else _WRITTEN:
            cases = sketch.cases if seen else tuple(case for case in sketch.cases if case.is_fixed)
            shown, asked = "" if asked else last, asked + 1  # who sees a wrong one more than once copies it
            prompt = code.prompt(sketch, cases=cases, last=shown, problem=problem, temperature=temperature)
            try:
                bodies.append(code.take(self._said(code.STAGE, prompt, bench).text, sketch, unlike=last))
            except Rejection as refused:
                refusals.append(refused)
                continue
            given.append(self._tools.results(bodies[-1]))
            texts = [each.body for each in bodies]
            if len(bodies) > 1 and agreement.judge(sketch.cases, given, texts).unmet is None:
                break
        if not bodies:
            raise Rejection(code.STAGE, f"{refusals[0].what}; before that: {problem}") if problem else refusals[0]
        bench.bodies = tuple(each.body for each in bodies)
        judged = agreement.judge(sketch.cases, given, bench.bodies)
        bench.sketch = replace(sketch, body=bodies[judged.body].body, cases=judged.cases)
        if judged.unmet:
            wrong = code.unmet(*judged.unmet, sketch)
            bench.good = judged.stood
            if judged.disputed and not bench.repairs[tests.STAGE]:
                raise Rejection(tests.STAGE, tests.disputed(wrong))
            raise Rejection(code.STAGE, wrong)
        bench.bodies = ()  # if what broke before breaks again, then in each of them
        bench.sketch = self._with_edges(bodies, bench.sketch, judged.body)
        bench.bodies = tuple(each.body for each in bodies)

    def _with_edges(self, bodies: Sequence[Sketch], sketch: Sketch, chosen: int) -> Sketch:
        """With more cases: what broke before and must not again, and what bodies agree on where nobody has looked yet.

        Of bodies that meet every case, the first that breaks nowhere is taken.
        """
        broke = tests.broken(sketch)
        tried = (*broke, *probes.of(sketch))
        if not tried:
            return sketch
        every = (*sketch.cases, *tried)  # tests of an executor are never without one that fails
        rows = [self._tools.results(replace(each, cases=every)) for each in bodies]
        given = [row[len(sketch.cases) :] for row in rows]
        fit = [place for place, row in enumerate(rows) if agreement.meets_all(sketch.cases, row)]
        whole = [place for place in fit if not any(each.fault for each in given[place][: len(broke)])]
        best = chosen if chosen in whole or not whole else whole[0]
        mended = [probes.mended(case, given[best][place]) for place, case in enumerate(broke)]
        edges = probes.agreed(tried[len(broke) :], [row[len(broke) :] for row in given], best)
        return replace(sketch, body=bodies[best].body, cases=(*sketch.cases, *mended, *edges))

    def _examined(self, bench: _Bench) -> Draft:
        made = scaffold.draft(bench.sketch)
        made = replace(made, code=self._tools.tidy(made.code))
        checks: list[Check] = []
        for check in self._tools.examine(made):
            checks.append(check)
            bench.checks = tuple(checks)
            if not check.passed:
                bench.good = tuple(case for case in bench.sketch.cases if not case.edge)
                bench.bodies = tuple(each for each in bench.bodies if each != bench.sketch.body)
                raise Rejection(check.stage if check.stage in ORDER else code.STAGE, f"{check.gate}: {check.problem}")
        return made

    def _said(self, purpose: str, prompt: Prompt, bench: _Bench) -> Reply:
        try:
            reply = self._tools.ask(purpose, prompt)
        except ModelError as error:
            if error.kind not in _UNUSABLE:
                raise
            raise Rejection(purpose, f"{_FIRMLY}: {error}") from error
        bench.usage += reply.usage
        return reply


def _used(usage: Usage) -> dict[str, float]:
    return {
        "calls": usage.calls,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "usd": usage.usd,
        "seconds": usage.wall_ms / 1000,
    }
