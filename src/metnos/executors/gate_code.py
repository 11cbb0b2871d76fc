"""One parsed file as the rules of the gate see it: its tree, its names, its constants, and who holds what."""

import ast
from collections.abc import Iterator
from functools import cached_property

from metnos.executors.gate_fold import UNKNOWN, Fold
from metnos.executors.gate_names import Names

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Code:
    """Raises ``SyntaxError``, ``ValueError`` or ``RecursionError`` for what is no Python."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tree = ast.parse(source)
        self.nodes = list(ast.walk(self.tree))
        self.parents: dict[int, ast.AST] = {}
        for node in self.nodes:
            for child in ast.iter_child_nodes(node):
                self.parents[id(child)] = node
        self.names = Names(self.tree)
        self.fold = Fold(self.names)

    def real(self, node: ast.AST | None) -> frozenset[str]:
        return self.names.real(node)

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self.parents.get(id(node))

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Whoever holds ``node``, the nearest first."""
        while (holder := self.parents.get(id(node))) is not None:
            yield holder
            node = holder

    def function_of(self, node: ast.AST) -> Function | None:
        return next((each for each in self.above(node) if isinstance(each, Function)), None)

    @cached_property
    def calls(self) -> list[ast.Call]:
        return [node for node in self.nodes if isinstance(node, ast.Call)]

    @cached_property
    def functions(self) -> list[Function]:
        return [node for node in self.nodes if isinstance(node, Function)]

    @cached_property
    def docstrings(self) -> set[int]:
        """Texts that stand alone: nothing can be done with them."""
        return {
            id(node.value) for node in self.nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }

    @cached_property
    def texts(self) -> list[tuple[ast.expr, str]]:
        """Every text the code can use, written out or folded together, with the largest expression that makes it."""
        found: list[tuple[ast.expr, str]] = []
        for node in self.nodes:
            if not isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp | ast.Call | ast.Subscript):
                continue
            if id(node) in self.docstrings or self._annotation(node):
                continue
            text = self.fold.text(node)
            if text and not self._is_piece(node):
                found.append((node, text))
        return found

    def _is_piece(self, node: ast.AST) -> bool:
        """Whether the text is only a part of a larger one that is known to its end."""
        holder = self.parent(node)
        if isinstance(holder, ast.List | ast.Tuple):
            holder = self.parent(holder)
        whole = self.fold.text(holder) if isinstance(holder, ast.BinOp | ast.JoinedStr | ast.Call) else None
        return bool(whole) and UNKNOWN not in str(whole)

    def _annotation(self, node: ast.AST) -> bool:
        holder = self.parent(node)
        return (isinstance(holder, ast.arg | ast.AnnAssign) and holder.annotation is node) or (
            isinstance(holder, ast.FunctionDef | ast.AsyncFunctionDef) and holder.returns is node
        )


def line_of(node: ast.AST) -> int:
    return getattr(node, "lineno", 0)


def program(code: Code, call: ast.Call) -> str:
    """The program that a call starts, as far as it is known."""
    line = argument(call, 0, "args")
    single = code.names.single(line.id) if isinstance(line, ast.Name) else None
    line = single or line
    first = code.fold.value(line.elts[0] if isinstance(line, ast.List | ast.Tuple) and line.elts else line)
    words = str(first[0] if isinstance(first, list) and first else first or "").split()
    return "" if not words or UNKNOWN in words[0] else words[0]


def argument(call: ast.Call, position: int, name: str = "") -> ast.expr | None:
    """The argument of a call that stands at ``position`` or is called ``name``."""
    if position < len(call.args) and not any(isinstance(each, ast.Starred) for each in call.args[: position + 1]):
        return call.args[position]
    return next((word.value for word in call.keywords if word.arg == name and name), None)
