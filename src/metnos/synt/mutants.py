"""Mutants: a body with one mistake in it, which the birth tests of a draft have to notice.

A test that passes whatever the code does is no test. So the code is broken in small ways, each tried on the tests until
the first one fails: that mutant is dead. The emptied body, which gives nothing and does nothing, must always die, and a
test that expects entries and passes on it is named. Of the others a share must die; the rest may be mistakes that
change nothing which could be seen. A mutant that breaks down by itself proves nothing about the tests, for or against,
and another is tried in its place.

Rules: the same code has the same mutants in the same order; how many are tried follows from how long the tests took on
the draft itself, and never exceeds the rules. Not mutated are words for people (messages of failures, whole sentences),
limits far from what a small test reaches, members of larger tables, what only a broken disk or a late clock leads to,
and what `scaffold` puts around a function, to the letter. A mutant runs where the draft runs, in a cold sandbox, with
less time. Does not guarantee that tests which kill all of them are good.
"""

import ast
import copy
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from metnos.core.sections import ExecutorSettings
from metnos.executors import birth
from metnos.executors.birth import BirthTest, Tried
from metnos.executors.gate_code import Code, line_of
from metnos.executors.verdict import Executor
from metnos.sandbox.pool import Pool
from metnos.synt import scaffold
from metnos.synt.gates_tests import expects_entries
from metnos.synt.rules import MutationRules

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_RECKONED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip
_FAR = 256  # a number beyond this is a limit or a size: one more of it changes nothing in a small test
_TABLE = 4  # members that make a collection a table, of which a test tries a few
_SENTENCE = 4  # words that make a text one for people, or a table of words
_SPELLING = frozenset({"encoding", "errors", "newline", "strict", "key", "default", "maxsize", "buffering"})
_DISK = frozenset({"OSError", "MemoryError", "RecursionError", "Exception", "UnicodeError", "PermissionError"})
_SHOWN = 5
_PATIENCE = 3.0  # how many times the time of the draft's own slowest test a mutant gets
_WALL = 2.0  # and how much longer by the clock on the wall, which others use too

Change = Callable[[], ast.AST]
Site = tuple[ast.AST, str, str, Change]  # where, what kind of mistake, in words, and what takes its place
_NOWHERE: Site = (ast.Pass(), "", "", ast.Pass)


class _End(Enum):
    """What becomes of a mutant."""

    NOTICED = "noticed"
    BROKEN = "broken"
    ALIVE = "alive"


@dataclass(frozen=True, slots=True)
class Mutant:
    """A body with one mistake."""

    kind: str
    line: int
    what: str
    source: str


@dataclass(frozen=True, slots=True)
class Proof:
    """What the tests made of the mutants."""

    noticed: int  # of the mutants, by a test that had a reply to look at
    survivors: tuple[Mutant, ...]
    broken: int  # of the mutants, which broke down by themselves
    hollow: tuple[str, ...]  # tests that expect entries, and get none, and pass
    empty_lives: bool

    def problem(self, rules: MutationRules) -> str:
        """What is wrong with the tests, in words; empty if nothing is."""
        if self.empty_lives:
            return "every test passes on a body that gives nothing and does nothing: expect what only the code can give"
        if self.hollow:
            names = ", ".join(map(repr, self.hollow[:_SHOWN]))
            return f"these tests expect entries, but pass on a body that gives none: {names}: say what is in them"
        whole = self.noticed + len(self.survivors)
        if self.noticed >= rules.share * whole:
            return ""
        shown = "; ".join(f"line {each.line}: {each.what}" for each in self.survivors[:_SHOWN])
        return (
            f"the tests noticed {self.noticed} of {whole} mistakes that were put into the code, and must notice "
            f"{rules.share:.0%}: add tests whose result is another with these: {shown}"
        )


def emptied(key: str) -> str:
    """The body that gives nothing and does nothing; ``key`` is where the reply's list stands."""
    return f'def run(args, ctx):\n    return {{"{key}": []}}\n'


def mutants(source: str, most: int) -> list[Mutant]:
    """Up to ``most`` mutants of some code, of all kinds by turns, always the same ones."""
    code = Code(source)
    kinds: dict[str, list[Site]] = {}
    for site in _shuffled(_sites(code), source):
        kinds.setdefault(site[1], []).append(site)
    waiting = [kinds[kind] for kind in sorted(kinds)]
    chosen: list[Mutant] = []
    while any(waiting) and len(chosen) < most:
        for sites in waiting:
            node, kind, what, change = sites.pop(0) if sites else _NOWHERE
            made = _changed(code.tree, node, change) if kind and len(chosen) < most else ""
            if made:
                chosen.append(Mutant(kind, line_of(node), what, made))
    return chosen


def _shuffled(sites: Iterator[Site], source: str) -> list[Site]:
    """In an order that depends on the code alone, so that no part of it is preferred."""
    own = hashlib.sha256(source.encode()).digest()
    numbered = [(hashlib.sha256(own + str(number).encode()).digest(), site) for number, site in enumerate(sites)]
    return [site for _, site in sorted(numbered, key=lambda each: each[0])]


def prove(
    executor: Executor,
    tests: Sequence[BirthTest],
    passed: Sequence[Tried],
    pool: Pool,
    settings: ExecutorSettings,
    rules: MutationRules,
) -> Proof:
    """Try the tests on what they must not accept. ``passed`` is how they went on the draft itself."""
    times = [each.outcome.wall_ms / 1000 for each in passed if each.outcome]
    cpu = max((each.outcome.cpu_ms / 1000 for each in passed if each.outcome), default=0.0)
    hurried = _hurried(settings, max(times, default=0.0), cpu, rules)
    nothing = replace(executor, source=emptied(executor.manifest.result_key))
    lived = [test for test in tests if not birth.attempt(nothing, test, pool, hurried).problem]
    hollow = tuple(test.name for test in lived if not test.expect_error and expects_entries(test))
    if hollow or len(lived) == len(tests):
        return Proof(0, (), 0, hollow, len(lived) == len(tests))
    # Those that the emptied body fails are the ones that look at what the code does.
    order = [*(test for test in tests if test not in lived), *lived]
    wanted = max(rules.least, min(rules.most, int(rules.budget_s / max(sum(times), 0.001))))
    ends: list[_End] = []
    survivors: list[Mutant] = []
    for each in mutants(executor.source, rules.most):
        ends.append(_end(replace(executor, source=each.source), order, pool, hurried))
        survivors += [each] if ends[-1] is _End.ALIVE else []
        if len(ends) - ends.count(_End.BROKEN) >= wanted:
            break
    return Proof(ends.count(_End.NOTICED), tuple(survivors), ends.count(_End.BROKEN), (), False)


def _hurried(settings: ExecutorSettings, wall_s: float, cpu_s: float, rules: MutationRules) -> ExecutorSettings:
    cpu = min(settings.cpu_s, max(rules.cpu_s, _PATIENCE * cpu_s))
    return settings.model_copy(
        update={"cpu_s": cpu, "wall_s": min(settings.wall_s, max(_WALL * cpu, _PATIENCE * wall_s))}
    )


def _end(mutant: Executor, tests: Sequence[BirthTest], pool: Pool, settings: ExecutorSettings) -> _End:
    """How a mutant ends, by the first test that it does not pass."""
    for test in tests:
        tried = birth.attempt(mutant, test, pool, settings)
        if tried.problem:
            return _End.BROKEN if tried.outcome is None or tried.outcome.fault else _End.NOTICED
    return _End.ALIVE


# -- where a mistake can be made


def _sites(code: Code) -> Iterator[Site]:
    """Every place where a mistake can be made, in the order of the text."""
    run = next((each for each in code.functions if each.name == "run"), None)
    ours = isinstance(run, ast.FunctionDef) and scaffold.is_ours(run)
    for node in sorted((each for each in code.nodes if hasattr(each, "lineno")), key=_position):
        if not _is_left_out(code, node) and not (ours and code.function_of(node) is run):
            for maker in (_condition, _operator, _constant, _statement):
                yield from maker(code, node)
            if isinstance(node, ast.Return) and node.value is not None and code.function_of(node) is not run:
                yield node, "return", "a function returns nothing", lambda: ast.Return(ast.Constant(None))


def _position(node: ast.AST) -> tuple[int, int, str]:
    return line_of(node), getattr(node, "col_offset", 0), type(node).__name__


def _condition(code: Code, node: ast.AST) -> Iterator[Site]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARED:
        other = _COMPARED[type(node.ops[0])]()
        what = f"{ast.unparse(node)[:60]} is turned round"
        yield node, "comparison", what, lambda: ast.Compare(node.left, [other], node.comparators)
    elif isinstance(node, ast.BoolOp):
        operator = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield node, "condition", "`and` and `or` are exchanged", lambda: ast.BoolOp(operator, node.values)
    holder = code.parent(node)
    decides = isinstance(holder, ast.If | ast.IfExp) and holder.test is node
    filters = isinstance(holder, ast.comprehension) and node in holder.ifs
    if (decides or filters) and isinstance(node, ast.expr) and not isinstance(node, ast.Compare):
        yield node, "condition", f"{ast.unparse(node)[:60]} is denied", lambda: ast.UnaryOp(ast.Not(), node)


def _operator(_: Code, node: ast.AST) -> Iterator[Site]:
    if isinstance(node, ast.BinOp) and type(node.op) in _RECKONED:
        other = _RECKONED[type(node.op)]()
        what = f"another operator in {ast.unparse(node)[:60]}"
        yield node, "operator", what, lambda: ast.BinOp(node.left, other, node.right)


def _constant(code: Code, node: ast.AST) -> Iterator[Site]:
    if not isinstance(node, ast.Constant) or id(node) in code.docstrings or _in_table(code, node):
        return
    value = node.value
    if isinstance(value, bool):
        yield node, "constant", f"{value} is {not value}", lambda: ast.Constant(not value)
    elif isinstance(value, int | float) and abs(value) < _FAR and not _is_setting(code, node):
        yield node, "constant", f"{value} is {value + 1}", lambda: ast.Constant(value + 1)
    elif isinstance(value, str) and value and not _is_prose(code, node, value):
        yield node, "constant", f"the text {value[:30]!r} is another", lambda: ast.Constant(f"{value}~")


def _statement(_: Code, node: ast.AST) -> Iterator[Site]:
    called = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    if called or isinstance(node, ast.AugAssign | ast.Continue | ast.Break | ast.Raise):
        yield node, "dropped", f"{ast.unparse(node)[:60]} is left out", ast.Pass


def _is_prose(code: Code, node: ast.AST, text: str) -> bool:
    return len(text.split()) >= _SENTENCE or isinstance(code.parent(node), ast.JoinedStr | ast.FormattedValue)


def _is_setting(code: Code, node: ast.AST) -> bool:
    """A number with a name at the top of the file is a limit."""
    return code.function_of(node) is None


def _in_table(code: Code, node: ast.AST) -> bool:
    return any(
        len(each.keys if isinstance(each, ast.Dict) else each.elts) >= _TABLE
        for each in code.above(node)
        if isinstance(each, ast.Dict | ast.List | ast.Tuple | ast.Set)
    )


def _is_left_out(code: Code, node: ast.AST) -> bool:
    """Words for people, ways of spelling, clocks, and what only a broken disk leads to."""
    below: ast.AST = node
    for each in (node, *code.above(node)):
        if isinstance(each, ast.Raise) and each is not node:
            return True
        if isinstance(each, ast.keyword) and each.arg in _SPELLING:
            return True
        if isinstance(each, ast.Call) and _is_message(each, below):
            return True
        if isinstance(each, ast.ExceptHandler) and each is not node and _names(each.type) & _DISK:
            return True
        if isinstance(each, ast.Compare | ast.BoolOp) and _asks_clock(code, each):
            return True
        if isinstance(each, ast.If) and below in each.body and _asks_clock(code, each.test):
            return True
        below = each
    return isinstance(node, ast.If) and _asks_clock(code, node.test)


def _is_message(call: ast.Call, part: ast.AST) -> bool:
    """Whether ``part`` is the message of ``ctx.fail(kind, message)`` or ``ctx.failure(item, kind, message)``."""
    position = {"fail": 1, "failure": 2}.get(getattr(call.func, "attr", ""))
    return position is not None and len(call.args) > position and call.args[position] is part


def _names(caught: ast.expr | None) -> set[str]:
    if caught is None:
        return {"Exception"}
    return {each.id for each in ast.walk(caught) if isinstance(each, ast.Name)}


def _asks_clock(code: Code, node: ast.AST) -> bool:
    calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
    return any(name.startswith("time.") for each in calls for name in code.real(each.func))


# -- making it


def _changed(tree: ast.Module, node: ast.AST, change: Change) -> str:
    """The code with another node in the place of ``node``; nothing if that makes no Python, or no difference."""
    # A copy that believes to have copied this node already, and takes what it is given for it.
    made = ast.unparse(ast.fix_missing_locations(copy.deepcopy(tree, {id(node): change()})))
    try:
        ast.parse(made)
    except (SyntaxError, ValueError):
        return ""
    return "" if made == ast.unparse(tree) else made
