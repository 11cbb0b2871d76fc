"""Which real name an expression stands for, however it was imported, renamed, fetched or carried.

``import os as o; f = getattr(o, "sys" + "tem")`` makes ``f`` stand for ``os.system``. Rules: an expression may stand
for several names, and then it is all of them; names are followed over the whole file without regard to the order in
which things happen, so that no order hides one. Does not follow values through calls, containers and attributes of
objects: a module that is carried there is a finding of its own.
"""

import ast
import builtins
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice

_BUILTINS = frozenset(dir(builtins))
_UNSHADOWED = frozenset({"eval", "exec", "__import__", "__builtins__", "getattr", "globals", "vars"})
_SAME = {
    "posix": "os",
    "posixpath": "os.path",
    "ntpath": "os.path",
    "_io": "io",
    "_pickle": "pickle",
    "__builtin__": "builtins",
}
_IMPORTERS = frozenset({"builtins.__import__", "importlib.import_module", "importlib.__import__"})
_DEPTH = 40  # of an expression
_ROUNDS = 8  # renamings in a row that are followed
_MOST_VALUES = 16  # that one name may get
_DOTS = 6
_MOST_NAMES = 32  # that one expression may stand for

Text = Callable[[ast.expr], object]


class Names:
    """The names of one file. ``text`` folds an expression into a constant, where it can."""

    def __init__(self, tree: ast.Module) -> None:
        self.bindings = Counter(_bound(tree))
        self._shadows = set(_shadowing(tree)) - _UNSHADOWED
        self._imports: dict[str, set[str]] = {}
        self._values: dict[str, list[ast.expr]] = {}
        self._known: dict[str, set[str]] = {}
        self._cache: dict[int, frozenset[str]] = {}
        self._text: Text = lambda _: None
        for node in ast.walk(tree):
            self._note(node)

    def settle(self, text: Text, forget: Callable[[], None]) -> None:
        """Find out what every name stands for, with the help of a folder that remembers what it was told before."""
        self._text = text
        for _ in range(_ROUNDS):
            before = {name: len(known) for name, known in self._known.items()}
            for name, values in self._values.items():
                for value in values[:_MOST_VALUES]:
                    self._known.setdefault(name, set()).update(self._inner(value, 0))
            self._cache.clear()
            forget()
            if before == {name: len(known) for name, known in self._known.items()}:
                break

    def single(self, name: str) -> ast.expr | None:
        """The one expression that ``name`` is ever bound to, if there is just one in the whole file."""
        values = self._values.get(name, [])
        return values[0] if len(values) == 1 and self.bindings[name] == 1 else None

    def values(self, name: str) -> list[ast.expr]:
        return self._values.get(name, [])

    def real(self, node: ast.AST | None) -> frozenset[str]:
        """Every real name that this expression may stand for; none if it is a plain value."""
        if not isinstance(node, ast.expr):
            return frozenset()
        known = self._cache.get(id(node))
        if known is None:
            known = frozenset(_plain(name) for name in self._resolve(node, 0))
            self._cache[id(node)] = known
        return known

    def imported(self, name: str) -> bool:
        return name in self._imports

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                real = alias.name if alias.asname else alias.name.partition(".")[0]
                self._imports.setdefault(alias.asname or real, set()).add(real)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                self._imports.setdefault(alias.asname or alias.name, set()).add(f"{node.module}.{alias.name}")
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                self._assign(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            self._assign(node.target, node.value)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self._assign(node.optional_vars, node.context_expr)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self._values.setdefault(target.id, []).append(value)
        elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
            for left, right in zip(target.elts, value.elts, strict=False):
                self._assign(left, right)

    def _resolve(self, node: ast.expr, depth: int) -> Iterator[str]:
        if depth > _DEPTH:
            return
        if isinstance(node, ast.Name):
            yield from self._name(node.id)
        elif isinstance(node, ast.Attribute):
            yield from (f"{each}.{node.attr}" for each in self._inner(node.value, depth))
        elif isinstance(node, ast.Call):
            yield from self._call(node, depth)
        elif isinstance(node, ast.Subscript):
            yield from self._subscript(node, depth)
        elif isinstance(node, ast.NamedExpr):
            yield from self._inner(node.value, depth)
        elif isinstance(node, ast.IfExp):
            yield from (*self._inner(node.body, depth), *self._inner(node.orelse, depth))
        elif isinstance(node, ast.BoolOp):
            for value in node.values:
                yield from self._inner(value, depth)

    def _inner(self, node: ast.expr, depth: int) -> set[str]:
        # A value that is built upon itself (`x = x.next`) would get longer names in every round.
        return {_plain(name) for name in islice(self._resolve(node, depth + 1), _MOST_NAMES) if name.count(".") < _DOTS}

    def _name(self, name: str) -> Iterator[str]:
        yield from self._imports.get(name, ())
        if name == "__builtins__":
            yield "builtins"
        elif name in _BUILTINS and name not in self._shadows:
            yield f"builtins.{name}"
        yield from self._known.get(name, ())

    def _call(self, node: ast.Call, depth: int) -> Iterator[str]:
        function = self._inner(node.func, depth)
        if "builtins.getattr" in function and len(node.args) >= 2:
            name = self._text(node.args[1])
            if isinstance(name, str):
                yield from (f"{each}.{name}" for each in self._inner(node.args[0], depth))
        elif function & _IMPORTERS and node.args:
            name = self._text(node.args[0])
            if isinstance(name, str):
                yield name
        elif "builtins.vars" in function and node.args:
            yield from (f"{each}.__dict__" for each in self._inner(node.args[0], depth))
        elif "builtins.globals" in function:
            yield "builtins.globals()"

    def _subscript(self, node: ast.Subscript, depth: int) -> Iterator[str]:
        if isinstance(node.value, ast.List | ast.Tuple):
            for item in node.value.elts[:8]:
                yield from self._inner(item, depth)
            return
        key = self._text(node.slice)
        if not isinstance(key, str):
            return
        for base in self._inner(node.value, depth):
            if base == "sys.modules":
                yield key
            elif base == "builtins":
                yield f"builtins.{key}"
            elif base.endswith(".__dict__"):
                yield f"{base.removesuffix('.__dict__')}.{key}"
            elif base == "builtins.globals()":
                yield from self._name(key)


def _plain(name: str) -> str:
    head, dot, rest = name.partition(".")
    return _SAME.get(head, head) + dot + rest


def _bound(tree: ast.Module) -> Iterator[str]:
    """Every binding of a name, once for each place that binds it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name


def _shadowing(tree: ast.Module) -> Iterator[str]:
    """Names that the file certainly makes its own: defined at the top, without a condition, or a parameter."""
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement.name
        elif isinstance(statement, ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in statement.names)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
