"""The gates: everything that a draft must pass before its owner is asked about it, from cheap to dear.

    contract      it can be read: names of the vocabulary, schemas, tests, a function run(args, ctx)
    form, lint    it is written as `formatted` writes it, and has none of the usual slips
    static gate   nothing that no manifest can allow (`executors.gate`)
    capabilities  it declares what it uses: no less, and no more (`gates_capabilities`)
    description   its words and its schemas are those of its code (`gates_words`, `gates_keys`)
    candour       it does not look whether it is being tried (`gates_candour`)
    tests         its birth tests are tests (`gates_tests`)
    likeness      it is not what exists already (`likeness`)
    test: ...     every birth test, in a cold sandbox, with a birth's limits whatever the settings allow
    exercise      the tests show what it declares: a mutator changes something, somewhere an entry comes
    mutation      the tests notice mistakes that are put into the code (`mutants`)

Rules: a gate decides and changes nothing; nothing of a draft runs before the gates that only read it were passed;
whatever a gate raises is a refusal by that gate. Every refusal says what to do and which stage has to. A draft is
tried as one that nobody trusts: cold by construction, because a draft is never given a sandbox that others use. What
passes is the draft as it stands, to the bit; whoever changes it, formatting included, examines it again.
"""

import json
import subprocess
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

from metnos.core.canon import sha256_hex
from metnos.core.embedding import Embedder
from metnos.core.errors import ManifestError, MetnosError
from metnos.core.sections import ExecutorSettings
from metnos.executors import birth, folder, gate, manifest, registrar
from metnos.executors.birth import BirthTest, Tried
from metnos.executors.gate_code import Code
from metnos.executors.signature import Origin
from metnos.executors.state import State
from metnos.executors.verdict import Executor
from metnos.sandbox.pool import Pool
from metnos.synt import gates_candour, gates_capabilities, gates_keys, gates_tests, gates_words, likeness, mutants
from metnos.synt.draft import Check, Draft
from metnos.synt.likeness import Kinship
from metnos.synt.rules import Stage, SyntRules

_PATIENCE_S = 30.0
_WIDTH = "120"
# Slips that change what code does, or show that its author lost the thread; nothing about taste.
_LINT = "F,E4,E7,E9,W6,PLE,B006,B015,B018,B020,B023"
_TASTE = "E741,E731,E701,E702"
# Unused imports, their order, f-strings without a field, variables that nobody reads: none changes what code does.
_FIXES = "F401,I001,F541,F841"
_SHOWN = 8  # problems that one check names: more than anybody mends at once


@dataclass(frozen=True, slots=True)
class Tools:
    """What the gates need: where a draft is tried, under which settings, and what exists already."""

    pool: Pool
    settings: ExecutorSettings = field(default_factory=ExecutorSettings)
    known: Sequence[Executor] = ()
    embedder: Embedder | None = None
    rules: SyntRules = field(default_factory=SyntRules)
    replaces: Collection[str] = ()  # what the draft is a new version of, or does the work of: it may be like these


def examine(draft: Draft, tools: Tools, *, stop: bool = True) -> Iterator[Check]:
    """Every gate in its order; with ``stop`` up to the first that refuses, else all that can still be judged.

    Nothing runs in the sandbox unless every gate that reads has passed; likeness alone does not hinder that.
    """
    case = _Case(draft, tools)
    sound = True
    for name, stage, judge in _READING:
        check = _judged(name, stage, lambda judge=judge: judge(case))  # type: ignore[misc]
        yield check
        sound = sound and (check.passed or name == "likeness")
        if not check.passed and (stop or name == "contract"):
            return
    if sound:
        yield from _trying(case, stop)


def executor(draft: Draft) -> Executor:
    """The draft as an executor that can be tried and not used. Raises `ManifestError`."""
    read = registrar.check_contents(draft.name, draft.contents(), None)
    return Executor(
        draft.name, read.version, read, draft.code, draft.tests, draft.digest, sha256_hex(draft.code.encode()),
        State.DRAFT, Origin.SYNTHESISED, "", None, 0,
    )  # fmt: skip


def hostile(one: Executor) -> str:
    """What the static gate has against an executor, needs that are not declared included; empty if nothing."""
    declared = gate.declared(one.manifest.model_dump(mode="json", exclude_none=True))
    return _listed([f"line {each.line}: {each.what} ({each.rule})" for each in gate.inspect(one.source, declared)])


def formatted(code: str) -> str:
    """The code as `form` wants it, without imports and variables that it does not use; what is no Python stays.

    Ruff calls it unsafe to take a variable away, for the comments beside it; what is called for its value stays.
    """
    fixed = _ruff(["check", "--select", _FIXES, "--ignore-noqa", "--fix", "--unsafe-fixes", "--exit-zero"], code)
    return _ruff(["format"], code if fixed is None else fixed) or code


# -- gates that read


class _Case:
    """A draft with what is made of it on the way, each once."""

    def __init__(self, draft: Draft, tools: Tools) -> None:
        self.draft = draft
        self.tools = tools

    @cached_property
    def executor(self) -> Executor:
        return executor(self.draft)

    @cached_property
    def code(self) -> Code:
        return Code(self.draft.code)

    @cached_property
    def tests(self) -> tuple[BirthTest, ...]:
        return birth.parse(self.draft.tests, f"{self.draft.name}/{folder.TESTS}")

    @cached_property
    def findings(self) -> list[gate.Finding]:
        return gate.inspect(
            self.draft.code, gate.declared(self.executor.manifest.model_dump(mode="json", exclude_none=True))
        )


def _judged(name: str, stage: Stage, judge: Callable[[], str]) -> Check:
    """The check that comes of a judgement; whatever it raises is a refusal."""
    try:
        problem = judge()
    except MetnosError as error:
        problem = f"{error.what} {error.fix}".strip() or type(error).__name__
    except Exception as error:  # noqa: BLE001 -- a named border: what a gate cannot judge, it refuses
        problem = f"it cannot be judged: {type(error).__name__}: {error}"[:500]
    return Check(name, problem, stage if problem else "")


def _contract(case: _Case) -> str:
    draft, rules = case.draft, case.tools.rules
    for file, text in ((folder.MANIFEST, draft.manifest), (folder.SOURCE, draft.code), (folder.TESTS, draft.tests)):
        text.encode()  # what cannot be written cannot be signed
        if "\r" in text or "\0" in text:
            return f"{file} holds a character that no line of it should have"
    if len(draft.tests.encode()) > rules.tests_kb << 10:
        return f"the tests have more than {rules.tests_kb} KB: use smaller files"
    manifest.parse(draft.manifest, where=f"{draft.name}/{folder.MANIFEST}", defaults=case.tools.settings)
    for part in ("executor", "tests", "code"):
        getattr(case, part)  # each raises what is wrong with it
    return ""


def _form(case: _Case) -> str:
    code = case.draft.code
    made = formatted(code)
    if made == code:
        return ""
    unused = "or has imports or variables that it does not use: take those away and format it"
    return f"the code is not written as `ruff format` writes it, {unused}"


def _lint(case: _Case) -> str:
    said = _ruff(
        ["check", "--select", _LINT, "--ignore", _TASTE, "--ignore-noqa", "--no-fix", "--exit-zero",
         "--output-format", "json"],
        case.draft.code,
    )  # fmt: skip
    if said is None:
        return "ruff could not read the code: it is no Python"
    found = json.loads(said)
    return _listed([f"line {each['location']['row']}: {each['message']} ({each['code']})" for each in found])


def _static(case: _Case) -> str:
    found = [each for each in case.findings if not gates_capabilities.is_need(each)]
    return _listed([f"line {each.line}: {each.what} ({each.rule})" for each in found])


def _lacking(case: _Case) -> str:
    return _listed(gates_capabilities.lacking(case.findings))


def _surplus(case: _Case) -> str:
    return _listed(gates_capabilities.surplus(case.code, case.executor.manifest))


def _words(case: _Case) -> str:
    return _listed(gates_words.problems(case.executor.manifest, case.draft.code))


def _keys(case: _Case) -> str:
    return _listed(gates_keys.problems(case.code, case.executor.manifest))


def _candour(case: _Case) -> str:
    return _listed(gates_candour.problems(case.code, case.executor.manifest, case.tests))


def _tests(case: _Case) -> str:
    return _listed(gates_tests.problems(case.tests, case.executor.manifest, case.tools.rules))


def _likeness(case: _Case) -> str:
    tools = case.tools
    known = [likeness.of_executor(each) for each in tools.known if each.name not in tools.replaces]
    found = likeness.judge(likeness.of_draft(case.draft), known, tools.rules.likeness, tools.embedder)
    return f"it exists: {found.reason}" if found.kinship is Kinship.EXISTS else ""


_READING: tuple[tuple[str, Stage, Callable[[_Case], str]], ...] = (
    ("contract", Stage.SIGNATURE, _contract),
    ("form", Stage.CODE, _form),
    ("lint", Stage.CODE, _lint),
    ("static gate", Stage.CODE, _static),
    ("capabilities used", Stage.CODE, _lacking),  # the signature came first: the code has to keep to it
    ("capabilities declared", Stage.SIGNATURE, _surplus),
    ("description: schemas", Stage.CODE, _keys),
    ("description: words", Stage.DESCRIPTION, _words),
    ("candour", Stage.CODE, _candour),
    ("tests", Stage.TESTS, _tests),
    ("likeness", Stage.NAMING, _likeness),
)


# -- gates that try


def _trying(case: _Case, stop: bool) -> Iterator[Check]:
    tools, one = case.tools, case.executor
    limits = tools.rules.bounded(tools.settings)
    tried: list[Tried] = []
    well = True
    attended = birth.attend(one, tools.pool, limits)
    for test in case.tests:
        check = _judged(f"test: {test.name}", Stage.CODE, lambda: _attended(attended, tried))
        yield check
        well = well and check.passed
        if not well and stop:
            return
    if not well or len(tried) != len(case.tests):
        return
    exercise = _judged("exercise", Stage.TESTS, lambda: _exercise(one, tried))
    yield exercise
    if exercise.passed or not stop:
        rules = tools.rules.mutation
        yield _judged(
            "mutation",
            Stage.TESTS,
            lambda: mutants.prove(one, case.tests, tried, tools.pool, limits, rules).problem(rules),
        )


def _attended(attended: Iterator[Tried], tried: list[Tried]) -> str:
    """The next test: an iterator that ended too early is a refusal like any other."""
    each = next(attended, None)
    if each is None:
        raise ManifestError("the tests ended before the last of them")
    tried.append(each)
    where = each.outcome.where if each.outcome else ()
    return "\n".join((each.problem, *where)) if each.problem else ""


def _exercise(one: Executor, tried: Sequence[Tried]) -> str:
    """A power that no test shows is one that nobody has seen at work."""
    outcomes = [each.outcome for each in tried if each.outcome]
    if not any(outcome.reply.get(one.manifest.result_key) for outcome in outcomes):
        return f"no test gives a single one of {one.manifest.result_key}: add one that succeeds"
    if one.manifest.capabilities.fs.write and not any(outcome.writes for outcome in outcomes):
        return "it declares fs.write, but no test changes a file: add one, with `after`"
    return ""


def _listed(problems: list[str]) -> str:
    return "\n".join(problems[:_SHOWN])


# -- ruff


def _ruff(words: list[str], code: str) -> str | None:
    """What ruff makes of the code, or says about it; nothing if it cannot."""
    line = [
        _ruff_program(), *words, "--isolated", "--no-cache", "--quiet", "--line-length", _WIDTH,
        "--target-version", "py311", "--stdin-filename", folder.SOURCE, "-",
    ]  # fmt: skip
    done = subprocess.run(line, input=code.encode(), capture_output=True, timeout=_PATIENCE_S, check=False, env={})
    return done.stdout.decode() if done.returncode == 0 else None


@cache
def _ruff_program() -> str:
    from ruff import find_ruff_bin  # type: ignore[import-untyped]  # here: only the gates need it

    return str(find_ruff_bin())
