"""What a body gives for each case of its sketch: run in the cold sandbox, as birth tests are, and with their limits."""

from collections.abc import Sequence

from metnos.core.errors import ManifestError
from metnos.core.sections import ExecutorSettings
from metnos.executors import birth
from metnos.executors.birth import Tried
from metnos.sandbox.pool import Pool
from metnos.synt import gates, scaffold
from metnos.synt.agreement import Result
from metnos.synt.rules import SyntRules
from metnos.synt.sketch import Case, Sketch


def results(sketch: Sketch, pool: Pool, settings: ExecutorSettings, rules: SyntRules | None = None) -> list[Result]:
    """One for each case. What the static gate refuses is not run at all: it is a fault everywhere."""
    limits = (rules or SyntRules()).bounded(settings)
    try:
        made = scaffold.draft(sketch)
        executor = gates.executor(made)
    except (ManifestError, SyntaxError) as error:
        return [Result(fault=str(error))] * len(sketch.cases)
    refused = gates.hostile(executor)
    if refused:
        return [Result(fault=refused)] * len(sketch.cases)
    return _read(sketch.cases, list(birth.attend(executor, pool, limits)))


def _read(cases: Sequence[Case], tried: Sequence[Tried]) -> list[Result]:
    return [_result(case, each) for case, each in zip(cases, tried, strict=True)]


def _result(case: Case, tried: Tried) -> Result:
    outcome = tried.outcome
    if outcome is None:  # the arguments were refused before anything ran
        return Result(error=case.error) if not tried.problem else Result(error="invalid")
    if outcome.fault:
        return Result(fault=outcome.message)
    if not outcome.ok:
        return Result(error=outcome.kind)
    return Result(entries=tuple(outcome.reply.get("entries", ())))
