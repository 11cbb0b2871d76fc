"""What a body gives for each case of its sketch: run in the cold sandbox, as birth tests are, and with their limits."""

from metnos.core.errors import ManifestError
from metnos.core.sections import ExecutorSettings
from metnos.executors import birth
from metnos.executors.birth import Tried
from metnos.sandbox.pool import Pool
from metnos.synt import gates, scaffold
from metnos.synt.agreement import Result
from metnos.synt.rules import SyntRules
from metnos.synt.sketch import Case, Sketch

_SPENT = 0.9  # of its time: what ends after that ran out of it
_MOST_SLOW = 2  # cases: a body that runs out of time in two would in all, and each costs seconds


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
    found: list[Result] = []
    slow = 0
    for case, each in zip(sketch.cases, birth.attend(executor, pool, limits), strict=True):
        found.append(_result(case, each))
        slow += each.outcome is not None and each.outcome.fault and each.outcome.cpu_ms >= _SPENT * limits.cpu_s * 1000
        if slow == _MOST_SLOW:
            break
    return found + [Result(fault="it is too slow to be tried any further")] * (len(sketch.cases) - len(found))


def _result(case: Case, tried: Tried) -> Result:
    outcome = tried.outcome
    if outcome is None:  # the arguments were refused before anything ran
        return Result(error=case.error) if not tried.problem else Result(error="invalid")
    if outcome.fault:
        return Result(fault=outcome.message)
    if not outcome.ok:
        return Result(error=outcome.kind)
    return Result(entries=tuple(outcome.reply.get("entries", ())))
