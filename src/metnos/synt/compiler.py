"""The compiler: a sequence that is used again and again becomes one executor, without a language model.

Rules: the result is readable code that calls its parts by their names and can do nothing itself; it is made from
recorded runs (`compiler_runs`), by rules that say where each argument comes from (`compiler_form`), and its birth
tests are those runs (`recorded`). It must do what the sequence did on every run that was recorded: the same calls with
the same arguments in the same order, and the same end. What is not equal is not made, and the owner is told why.
Deterministic.

Does not guarantee that the parts will answer as they did. A draft from here goes through the same gates as any other;
nothing is approved, signed or run for real here.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metnos.core.canon import canonical_json
from metnos.core.errors import ExecutorFailed, ManifestError
from metnos.core.sections import ExecutorSettings
from metnos.executors import birth
from metnos.executors.birth import BirthTest
from metnos.executors.manifest import Manifest
from metnos.executors.verdict import Executor
from metnos.grimoire.trace import Trace
from metnos.sandbox.pool import Pool
from metnos.synt import compiler_form, compiler_runs, compiler_words, gates, recorded
from metnos.synt.compiler_code import code_of
from metnos.synt.compiler_follow import Followed, follow
from metnos.synt.compiler_form import Form, Unfit
from metnos.synt.compiler_runs import Load, Run
from metnos.synt.draft import Check, Draft, Made, tests_toml, toml

STAGE = "compiler"
LEAST = 1  # runs: with fewer there is nothing to be equal to


@dataclass(frozen=True, slots=True)
class Bench:
    """Where a draft is tried."""

    pool: Pool
    settings: ExecutorSettings


@dataclass(frozen=True, slots=True)
class Compiled:
    """A draft with what it was made from."""

    draft: Draft
    form: Form
    runs: tuple[Run, ...]
    skipped: tuple[str, ...] = ()  # recorded turns that could not be used, and why


def unify(
    parts: Sequence[Manifest],
    traces: Iterable[Trace],
    taken: Collection[str],
    bench: Bench,
    *,
    home: str,
    load: Load | None = None,
) -> Made:
    """One executor for a sequence, equal to it on every recorded run; or the reason why there is none.

    ``taken`` are the names that are in use. ``load`` finds the turn that another went on with.
    """
    try:
        compiled = compile_runs(parts, *compiler_runs.read(traces, parts, load), taken, home=home)
    except Unfit as unfit:
        return Made(None, abandoned=str(unfit), stage=STAGE)
    problem = equal(compiled, bench)
    checks = (Check("equality", problem, STAGE),)
    return Made(None if problem else compiled.draft, checks, abandoned=problem, stage=STAGE)


def compile_runs(
    parts: Sequence[Manifest], runs: Sequence[Run], skipped: Sequence[str], taken: Collection[str], *, home: str
) -> Compiled:
    """The draft for these runs, not tried yet. Raises `Unfit`."""
    if len(runs) < LEAST:
        why = f": {skipped[-1].partition(': ')[2]}" if skipped else ""
        raise Unfit(f"no recorded run of it can be used{why}")
    form = compiler_form.form_of(parts, runs)
    name = compiler_words.name_of(form, runs, taken)
    if not name:
        raise Unfit("there is no name in the vocabulary that is free for it")
    table = compiler_words.manifest_of(form, runs, name)
    code = code_of(form, table["purpose"])
    draft = Draft(name, toml(table), code, "")
    try:
        manifest = draft.read()
        tests = recorded.tests_of(form, manifest, runs, home)
        draft = Draft(name, draft.manifest, code, tests_toml(tests))
        birth.parse(draft.tests, f"{name}/tests.toml")
    except ManifestError as error:
        raise Unfit(f"it does not follow the contract: {error.what}") from error
    return Compiled(draft, form, tuple(runs), tuple(skipped))


# -- equality


def equal(compiled: Compiled, bench: Bench) -> str:
    """In what the executor differs from the sequence on some recorded run; nothing if it is equal on all."""
    manifest = compiled.draft.read()
    executor = gates.executor(compiled.draft)
    for run in compiled.runs:
        args = compiled.form.arguments_of(run)
        try:
            followed = follow(compiled.form, manifest.validate_args(args), run.answers)
        except ExecutorFailed as error:
            return f"it does not take what turn {run.turn} was asked with: {error.what}"
        problem = _differs(compiled.form, run, followed) or _plays(executor, compiled.form, run, bench)
        if problem:
            return f"it does not do what turn {run.turn} did: {problem}"
    return ""


def _differs(form: Form, run: Run, followed: Followed) -> str:
    """Whether the rules by which it was compiled give what was recorded."""
    made = [args for _, args in followed.calls]
    # A step that met a reference to nothing was recorded, and called nobody.
    called = run.called[: len(made)] if followed.error and len(run.called) == len(made) + 1 else run.called
    if len(made) != len(called):
        return f"{len(made)} calls instead of {len(called)}"
    for part, mine, theirs in zip(form.parts, made, called, strict=False):
        if canonical_json(_filled(part.manifest, mine)) != canonical_json(_filled(part.manifest, theirs)):
            return f"it would call {part.manifest.name} with other arguments"
    last = run.answers[-1] if run.answers else None
    if last is not None and (last.error, last.message) != (followed.error, followed.message):
        return f"it would end with {followed.error or 'success'!r} instead of {last.error or 'success'!r}"
    if last is not None and not last.error and len(run.answers) == len(form.parts):
        given = last.reply[form.parts[-1].manifest.result_key]
        if canonical_json(given) != canonical_json(followed.reply[form.key]):
            return "it would give something else"
    return ""


def _plays(executor: Executor, form: Form, run: Run, bench: Bench) -> str:
    """Whether the code does what the rules say, in the sandbox, with the parts answering as they did."""
    args = recorded.placed(form, form.arguments_of(run))
    followed = follow(form, executor.manifest.validate_args(args), run.answers)
    expected: dict[str, Any] = {"expect_error": followed.error} if followed.error else {"expect": followed.reply}
    calls = list(recorded.calls_of(followed, run.answers))
    test = BirthTest.model_validate({"name": run.turn, "args": args, "calls": calls, **expected})
    tried = birth.attempt(executor, test, bench.pool, bench.settings)
    if tried.problem or tried.outcome is None:
        return tried.problem or "it could not be called"
    if followed.error:
        same = tried.outcome.message == followed.message
    else:
        same = canonical_json(dict(tried.outcome.reply)) == canonical_json(followed.reply)
    return "" if same else "its reply is not the same to the letter"


def _filled(part: Manifest, args: Mapping[str, Any]) -> dict[str, Any]:
    defaults = {name: inner["default"] for name, inner in part.args["properties"].items() if "default" in inner}
    return {**defaults, **args}
