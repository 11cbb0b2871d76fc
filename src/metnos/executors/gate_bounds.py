"""Code that would never end or never have enough: endless loops and recursion, growth, bombs, locks.

Rules: only what is certain from the text is a finding; a loop with any way out is none. Does not decide whether a loop
ends, which nobody can: the sandbox's limits on time and memory hold for what is not seen here.
"""

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise

from metnos.executors.gate_code import Code, Function, line_of
from metnos.executors.gate_record import Finding

_MOST_BYTES = 64 * 1024 * 1024  # a quarter of an executor's memory: no honest constant comes near
_MOST_TURNS = 100_000_000  # a loop that does nothing this often takes seconds
_LONGEST_SLEEP_S = 30.0  # the default of a call's wall clock
_ENDLESS = frozenset({"itertools.count", "itertools.cycle"})
_EXITS = (ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Await)
_QUITS = frozenset({"sys.exit", "builtins.exit", "builtins.quit", "os._exit"})
_GROWING = frozenset({"append", "extend", "insert", "add", "appendleft", "push"})
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def findings(code: Code) -> Iterator[Finding]:
    for rule in (endless_loops, endless_recursion, growth, bombs, sleeps, locks):
        yield from rule(code)


def endless_loops(code: Code) -> Iterator[Finding]:
    for node in code.nodes:
        if isinstance(node, ast.While) and not _leaves(code, node):
            value = code.fold.value(node.test)
            if value and not isinstance(value, list):  # a list may be emptied
                yield Finding("endless", line_of(node), "a loop without a way out")
            elif _never_changes(code, node):
                yield Finding("endless", line_of(node), "a loop whose condition nothing in it changes")
        elif isinstance(node, ast.For) and _is_endless(code, node.iter) and not _leaves(code, node):
            yield Finding("endless", line_of(node), "a loop over something that never ends, without a way out")


def _is_endless(code: Code, items: ast.expr) -> bool:
    return isinstance(items, ast.Call) and bool(code.real(items.func) & _ENDLESS)


def _leaves(code: Code, loop: ast.While | ast.For) -> bool:
    if any(_exits(code, statement, False) for statement in loop.body):
        return True
    # An exception may end it where someone outside the loop waits for one.
    return any(isinstance(each, ast.Try | ast.With) for each in _within_function(code, loop)) and _calls(loop)


def _exits(code: Code, node: ast.AST, inner: bool) -> bool:
    if isinstance(node, _EXITS) or (isinstance(node, ast.Break) and not inner):
        return True
    if isinstance(node, _NESTED):
        return False
    if isinstance(node, ast.Call) and code.real(node.func) & _QUITS:
        return True
    inner = inner or isinstance(node, ast.While | ast.For | ast.AsyncFor)
    return any(_exits(code, child, inner) for child in ast.iter_child_nodes(node))


def _within_function(code: Code, node: ast.AST) -> Iterator[ast.AST]:
    for each in code.above(node):
        if isinstance(each, Function):
            return
        yield each


def _calls(loop: ast.AST) -> bool:
    return any(isinstance(each, ast.Call | ast.Subscript | ast.Attribute) for each in ast.walk(loop))


def _never_changes(code: Code, loop: ast.While) -> bool:
    """Whether the condition is made of plain names that the body neither binds nor hands to anyone."""
    parts = [each for each in ast.walk(loop.test) if isinstance(each, ast.expr)]
    if not all(
        isinstance(each, ast.Name | ast.Constant | ast.Compare | ast.BoolOp | ast.UnaryOp | ast.BinOp) for each in parts
    ):
        return False
    names = {each.id for each in parts if isinstance(each, ast.Name)}
    function = code.function_of(loop)
    shared = any(isinstance(each, ast.Global | ast.Nonlocal) and set(each.names) & names for each in code.nodes)
    if not names or shared or (function is None and _calls_own(code, loop)):
        return False
    used = (each for statement in loop.body for each in ast.walk(statement) if isinstance(each, ast.Name))
    return all(_only_read(code, each) for each in used if each.id in names)


def _only_read(code: Code, name: ast.Name) -> bool:
    holder = code.parent(name)
    if isinstance(holder, ast.Call) and name in holder.args:
        return bool(code.real(holder.func) & {"builtins.print", "builtins.str", "builtins.len", "builtins.int"})
    return isinstance(name.ctx, ast.Load) and not isinstance(holder, ast.Attribute | ast.Subscript | ast.Starred)


def _calls_own(code: Code, loop: ast.While) -> bool:
    own = {function.name for function in code.functions}
    return any(isinstance(each, ast.Name) and each.id in own for each in ast.walk(loop))


def endless_recursion(code: Code) -> Iterator[Finding]:
    for function in code.functions:
        if _calls_itself_first(code, function, function.body) and not function.decorator_list:
            yield Finding("endless", line_of(function), f"{function.name} calls itself before it could end")


def _calls_itself_first(code: Code, function: Function, body: Sequence[ast.stmt]) -> bool:
    for statement in body:
        if isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return):
            if any(_is_self_call(code, function, each) for each in _certain(statement)):
                return True
            if isinstance(statement, ast.Return):
                return False
        elif not isinstance(statement, ast.Global | ast.Nonlocal | ast.Pass | ast.Import | ast.ImportFrom):
            return False
    return False


def _certain(node: ast.AST) -> Iterator[ast.AST]:
    """What is evaluated whatever happens."""
    yield node
    if isinstance(node, ast.BoolOp):
        yield from _certain(node.values[0])
    elif isinstance(node, ast.IfExp):
        yield from _certain(node.test)
    elif not isinstance(node, (*_NESTED, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.YieldFrom)):
        for child in ast.iter_child_nodes(node):
            yield from _certain(child)


def _is_self_call(code: Code, function: Function, node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    generator = any(isinstance(each, ast.Yield | ast.YieldFrom) for each in ast.walk(function))
    in_class = isinstance(code.parent(function), ast.ClassDef)
    other = code.names.bindings[function.name] > 1  # the name may stand for something else by then
    called = node.func
    return not (generator or in_class or other) and isinstance(called, ast.Name) and called.id == function.name


def growth(code: Code) -> Iterator[Finding]:
    """A list that grows while someone walks along it."""
    for node in code.nodes:
        if not isinstance(node, ast.For) or not isinstance(node.iter, ast.Name) or _leaves(code, node):
            continue
        growing = (_grows(each) for statement in node.body for each in _always(statement))
        if node.iter.id in growing:
            yield Finding("endless", line_of(node), f"{node.iter.id} grows while the loop walks along it")


def _grows(node: ast.AST) -> str:
    """The name of what a call makes longer."""
    function = node.func if isinstance(node, ast.Call) else None
    if isinstance(function, ast.Attribute) and function.attr in _GROWING and isinstance(function.value, ast.Name):
        return function.value.id
    return ""


def _always(statement: ast.stmt) -> Iterator[ast.AST]:
    if isinstance(statement, ast.Expr | ast.Assign):
        yield from ast.walk(statement)


def bombs(code: Code) -> Iterator[Finding]:
    for node in code.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Pow | ast.LShift):
            if _size(code, node) > _MOST_BYTES or _digits(code, node) > _MOST_BYTES:
                yield Finding("bomb", line_of(node), "a constant larger than an executor's memory")
        elif isinstance(node, ast.Call):
            yield from _large_call(code, node)


def _large_call(code: Code, call: ast.Call) -> Iterator[Finding]:
    real = code.real(call.func)
    if real & {"builtins.bytearray", "builtins.bytes", "os.urandom", "secrets.token_bytes"} and len(call.args) == 1:
        size = code.fold.value(call.args[0])
        if isinstance(size, int) and size > _MOST_BYTES:
            yield Finding("bomb", line_of(call), "a buffer larger than an executor's memory")
    if "builtins.range" in real and call.args:
        ends = [code.fold.value(each) for each in call.args]
        if all(isinstance(each, int) for each in ends) and all(ends[2:]) and _turns(ends) > _MOST_TURNS:
            yield Finding("bomb", line_of(call), "a loop of more turns than an executor has time for")


def _turns(ends: list[int]) -> int:
    start, stop, step = (0, ends[0], 1) if len(ends) == 1 else (*ends, 1)[:3]
    return max(0, (stop - start) // step)


def _size(code: Code, node: ast.expr) -> float:
    """Bytes of a repeated text or list; 0 if it is not certain."""
    value = code.fold.value(node)
    if isinstance(value, str | bytes | list):
        return float(len(value))
    if isinstance(node, ast.List):
        return float(len(node.elts)) * 8
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for text, times in ((node.left, node.right), (node.right, node.left)):
            count = code.fold.value(times)
            if isinstance(count, int) and not isinstance(count, bool):
                return _size(code, text) * min(float(count), 1e18)
    if isinstance(node, ast.Name) and (single := code.names.single(node.id)) is not None and single is not node:
        return _size(code, single) if isinstance(single, ast.BinOp | ast.List) else 0.0
    return 0.0


def _digits(code: Code, node: ast.BinOp) -> float:
    """Bytes of a power or a shift of constants, which folding does not carry out when it is large."""
    left, right = code.fold.value(node.left), code.fold.value(node.right)
    if right is None and isinstance(node.op, ast.Pow) and isinstance(node.right, ast.BinOp):
        tower = left, code.fold.value(node.right.left), code.fold.value(node.right.right)
        return (
            float("inf") if isinstance(node.right.op, ast.Pow) and all(isinstance(each, int) for each in tower) else 0.0
        )
    if not isinstance(left, int) or not isinstance(right, int) or right < 0:
        return 0.0
    if isinstance(node.op, ast.Pow):
        return left.bit_length() * min(float(right), 1e18) / 8
    return min(float(right), 1e18) / 8 if isinstance(node.op, ast.LShift) else 0.0


def sleeps(code: Code) -> Iterator[Finding]:
    for call in code.calls:
        if "time.sleep" in code.real(call.func) and call.args:
            seconds = code.fold.value(call.args[0])
            if isinstance(seconds, int | float) and seconds > _LONGEST_SLEEP_S:
                yield Finding("endless", line_of(call), f"sleeps {seconds:g} s, longer than a call may take")


def locks(code: Code) -> Iterator[Finding]:
    """Locks that are taken in both orders, or taken and never given back."""
    pairs = {}
    for node in code.nodes:
        for outer, inner in _nested_locks(code, node):
            pairs[(outer, inner)] = node
    for (outer, inner), node in pairs.items():
        if outer == inner or (inner, outer) in pairs:
            yield Finding("deadlock", line_of(node), f"{outer} and {inner} are taken in both orders")
    taken, given = _methods(code, "acquire"), _methods(code, "release")
    for name, call in taken.items():
        if name not in given:
            yield Finding("deadlock", line_of(call), f"{name} is taken and never given back")


def _nested_locks(code: Code, node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.With):
        held = [name for item in node.items if (name := _lock(code, item.context_expr))]
        yield from pairwise(held)
        for inner in (each for statement in node.body for each in ast.walk(statement) if isinstance(each, ast.With)):
            for item in inner.items:
                if held and (name := _lock(code, item.context_expr)):
                    yield held[-1], name


def _lock(code: Code, node: ast.expr) -> str:
    """The name of a plain lock; one that its holder may take again cannot lock itself out."""
    made = code.names.values(node.id) if isinstance(node, ast.Name) else []
    plain = any(code.real(getattr(value, "func", None)) & {"threading.Lock"} for value in made)
    return node.id if plain and isinstance(node, ast.Name) else ""


def _methods(code: Code, method: str) -> dict[str, ast.Call]:
    return {
        call.func.value.id: call
        for call in code.calls
        if isinstance(call.func, ast.Attribute) and call.func.attr == method and isinstance(call.func.value, ast.Name)
    }  # fmt: skip
