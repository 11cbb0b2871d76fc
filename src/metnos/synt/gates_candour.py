"""Whether code behaves the same when it is tested, rehearsed and used, as far as its text tells.

Rules: an executor has no honest use for knowing where or when it is tried. Refused are: names of the places and files
by which a birth test, the journal, the audit or the keys are known; ``ctx.dry_run``; whoever called it; changes to
``ctx`` and to modules, which are not its own; the time of the call, or chance, held against a fixed value to decide
what is done; and the very inputs and answers of its own tests, written into the code. Does not see a bomb that is
hidden well enough: nothing that code does later can be more than its manifest says, its permit allows and its undo
takes back.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

from metnos.executors.birth import BirthTest
from metnos.executors.gate_code import Code, line_of
from metnos.executors.manifest import Manifest

_PLACES = re.compile(
    r"metnos-birth|\btests\.toml|\bjournal\.jsonl|\.mnestome\b|mnest\.sqlite|\.audit\b|\.keys\b|\bexecutor\.py\b"
    r"|(?:^|/)box/|/box$|\{box\}"
)
_CLOCKS = frozenset(
    {"datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today", "time.time",
     "time.time_ns", "time.localtime", "time.gmtime", "time.strftime", "time.ctime"}
)  # fmt: skip
_DATES = frozenset({"datetime.date", "datetime.datetime", "datetime.date.fromisoformat",
                    "datetime.datetime.fromisoformat", "datetime.datetime.strptime"})  # fmt: skip
_DATE_TEXT = re.compile(r"\d{4}-?\d\d(?:-?\d\d)?(?:[T ].*)?")
_LEAST_MOMENT = 100_000_000  # seconds since 1970: a number as large beside a clock is a moment
_LEAST_YEAR, _LAST_YEAR = 1970, 3000
_CHANCE = re.compile(r"(?:random|secrets|numpy\.random)\..+|uuid\.uuid[14]|os\.urandom")
_SETTERS = frozenset({"builtins.setattr", "builtins.delattr"})
_CALLERS = frozenset({"sys._getframe", "sys.modules", "sys.argv", "sys.gettrace", "sys.getprofile"})
_DEPTH = 4
_TABLE = 4  # members that make a collection a table
_LONG_INPUT, _LONG_ANSWER = 10, 14  # characters: shorter ones are words that honest code may know


def problems(code: Code, manifest: Manifest, tests: Sequence[BirthTest]) -> list[str]:
    """What in the code is only there to know when it is watched, each with what to do."""
    rules = (_places(code), _rehearsal(code), _patches(code), _moments(code), _answers(code, manifest, tests))
    return [problem for rule in rules for problem in rule]


def _places(code: Code) -> Iterator[str]:
    for node, text in code.texts:
        alone = text == "box" and isinstance(code.parent(node), ast.Compare)
        if alone or (found := _PLACES.search(text)):
            shown = text if alone else found[0]  # type: ignore[index]  # one of the two is there
            yield f"line {line_of(node)}: it names {shown!r}, a part of Metnos or of its tests: do without it"


def _rehearsal(code: Code) -> Iterator[str]:
    for node in code.nodes:
        if isinstance(node, ast.Attribute) and node.attr == "dry_run":
            yield f"line {line_of(node)}: it asks whether this is a rehearsal: do the same in earnest and in rehearsal"


def _patches(code: Code) -> Iterator[str]:
    for node in code.nodes:
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            whose = _outermost(node)
            if whose == "ctx" or code.names.imported(whose):
                yield f"line {line_of(node)}: it changes {ast.unparse(node)[:40]}, which is not its own: leave it alone"
        elif isinstance(node, ast.Call) and node.args and code.real(node.func) & _SETTERS:
            whose = _outermost(node.args[0])
            if whose == "ctx" or code.names.imported(whose):
                yield f"line {line_of(node)}: it changes {whose}, which is not its own: leave it alone"
        elif isinstance(node, ast.Attribute) and code.real(node) & _CALLERS:
            yield f"line {line_of(node)}: it looks at who called it: do without it"


def _outermost(node: ast.expr) -> str:
    """The name that a chain of attributes and members begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _moments(code: Code) -> Iterator[str]:
    for node in code.nodes:
        if not isinstance(node, ast.Compare):
            continue
        sides = [list(_traced(code, each)) for each in (node.left, *node.comparators)]
        if any(_is_chance(code, each) for side in sides for each in side):
            yield f"line {line_of(node)}: chance decides what is done: the same input must give the same"
        clocks = [any(_is_clock(code, each) for each in side) for side in sides]
        years = [any(isinstance(each, ast.Attribute) and each.attr == "year" for each in side) for side in sides]
        for at, side in enumerate(sides):
            beside = any(clock for other, clock in enumerate(clocks) if other != at)
            by_year = any(year for other, year in enumerate(years) if other != at)
            if beside and not clocks[at] and any(_is_fixed(code, each, by_year) for each in side):
                yield f"line {line_of(node)}: it compares the time of the call with a fixed date: take it from `args`"


def _traced(code: Code, node: ast.expr, depth: int = _DEPTH) -> Iterator[ast.expr]:
    """An expression with all its parts, and what the names in it stand for."""
    for each in ast.walk(node):
        if isinstance(each, ast.expr):
            yield each
        if isinstance(each, ast.Name) and depth:
            for value in code.names.values(each.id)[:4]:
                yield from _traced(code, value, depth - 1)


def _is_clock(code: Code, node: ast.expr) -> bool:
    own = isinstance(node, ast.Attribute) and node.attr == "now" and isinstance(node.value, ast.Name)
    return own or (isinstance(node, ast.Call) and bool(code.real(node.func) & _CLOCKS))


def _is_chance(code: Code, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and any(_CHANCE.fullmatch(name) for name in code.real(node.func))


def _is_fixed(code: Code, node: ast.expr, by_year: bool) -> bool:
    """Whether a part of an expression is a moment that was written down."""
    if isinstance(node, ast.Call) and code.real(node.func) & _DATES:
        return bool(node.args) and all(code.fold.value(each) is not None for each in node.args)
    value = node.value if isinstance(node, ast.Constant) else None
    if isinstance(value, str):
        return _DATE_TEXT.fullmatch(value) is not None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value >= _LEAST_MOMENT or (by_year and _LEAST_YEAR <= value <= _LAST_YEAR)
    return False


def _answers(code: Code, manifest: Manifest, tests: Sequence[BirthTest]) -> Iterator[str]:
    """One text of a test in a larger table is a word that the code knows; those of half the tests are their answers."""
    known = set(_strings([manifest.args, manifest.output, [each.args for each in manifest.examples]]))
    texts = {text: node for node, text in code.texts if text not in known}
    held = [(test, text) for test in tests for text in sorted(_own_texts(test) & texts.keys())]
    learnt = 2 * len({test.name for test, _ in held}) >= len(tests)
    for test, text in held:
        if learnt or not _in_table(code, texts[text]):
            yield (
                f"line {line_of(texts[text])}: the code holds {text[:40]!r} of its own test {test.name[:40]!r}: "
                "work the answer out from the input"
            )


def _own_texts(test: BirthTest) -> set[str]:
    given = {text for text in _strings([test.args, [*test.files.values()]]) if len(text) >= _LONG_INPUT}
    wanted = (value for key, value in test.expect.items() if key != "failures")  # messages are the code's own
    return given | {text for text in _strings([*wanted]) if len(text) >= _LONG_ANSWER}


def _in_table(code: Code, node: ast.expr) -> bool:
    return any(
        len(each.keys if isinstance(each, ast.Dict) else each.elts) >= _TABLE
        for each in code.above(node)
        if isinstance(each, ast.Dict | ast.List | ast.Tuple | ast.Set)
    )


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _strings(each)
