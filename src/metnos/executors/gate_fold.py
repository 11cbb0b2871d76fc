"""What a constant expression amounts to, without running any of it.

Follows what is used to spell a text in pieces: concatenation, f-strings, ``%``, ``format``, ``join``, ``chr``, slices,
``os.path.join``, ``Path / "x"``, ``bytes.fromhex``, base64 and the like. Rules: what is not known in an f-string or a
format becomes `UNKNOWN`, so that the known beginning of a path can still be judged; sizes are bounded, so that folding
can never itself be the bomb. Does not follow loops, functions or names that are bound more than once.
"""

import ast
import base64
import binascii
import codecs
import os
import posixpath
import zlib
from collections.abc import Callable
from typing import Any

from metnos.executors.gate_names import Names

UNKNOWN = "\0"  # stands for a part that is known only when the code runs

_MOST = 100_000  # characters or items of a folded value
_MOST_BITS = 4096  # of a folded number
_DEPTH = 40

_PATHS = frozenset(f"pathlib.{name}" for name in ("Path", "PurePath", "PosixPath", "PurePosixPath"))
_TEXT_METHODS = (
    "lower", "upper", "strip", "lstrip", "rstrip", "replace", "title", "swapcase", "casefold", "removeprefix",
    "removesuffix", "zfill", "encode", "decode", "hex",
)  # fmt: skip


def _b64(data: str | bytes) -> bytes:
    return base64.b64decode(data, validate=False)


# What turns unreadable constants into readable ones.
DECODERS: dict[str, Callable[..., Any]] = {
    "base64.b64decode": _b64, "base64.standard_b64decode": _b64, "base64.decodebytes": _b64,
    "base64.urlsafe_b64decode": base64.urlsafe_b64decode, "base64.b32decode": base64.b32decode,
    "base64.b16decode": base64.b16decode, "base64.b85decode": base64.b85decode, "base64.a85decode": base64.a85decode,
    "binascii.a2b_base64": binascii.a2b_base64, "binascii.unhexlify": binascii.unhexlify,
    "binascii.a2b_hex": binascii.a2b_hex, "builtins.bytes.fromhex": bytes.fromhex,
    "builtins.bytearray.fromhex": bytes.fromhex, "codecs.decode": lambda data, how="utf-8": codecs.decode(data, how),
    "zlib.decompress": lambda data: zlib.decompressobj().decompress(data, _MOST),
}  # fmt: skip


class Fold:
    """Folds the expressions of one file."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._cache: dict[int, Any] = {}
        names.settle(self.value, self._cache.clear)

    def value(self, node: ast.AST | None, depth: int = 0) -> Any:
        """The constant that ``node`` amounts to, or None."""
        if not isinstance(node, ast.expr) or depth > _DEPTH:
            return None
        if id(node) not in self._cache:
            self._cache[id(node)] = None  # a name that is defined by itself ends here
            try:
                found = self._fold(node, depth + 1)
            except Exception:  # noqa: BLE001 -- a named border: whatever cannot be folded is simply not known
                found = None
            if isinstance(found, str | bytes | list) and len(found) > _MOST:
                found = None
            self._cache[id(node)] = found
        return self._cache[id(node)]

    def text(self, node: ast.AST | None) -> str | None:
        """The text that ``node`` amounts to; bytes that are text count as it."""
        found = self.value(node)
        if isinstance(found, bytes):
            found = found.decode("utf-8", "replace")
        return found if isinstance(found, str) else None

    def _fold(self, node: ast.expr, depth: int) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.value(self._names.single(node.id), depth)
        if isinstance(node, ast.Attribute):
            return "/" if self._names.real(node) & {"os.sep", "os.path.sep"} else None
        if isinstance(node, ast.List | ast.Tuple):
            items = [self.value(item, depth) for item in node.elts]
            return None if any(item is None for item in items) else items
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.value(node.operand, depth)
        return self._fold_compound(node, depth)

    def _fold_compound(self, node: ast.expr, depth: int) -> Any:
        if isinstance(node, ast.JoinedStr):
            return "".join(self._part(part, depth) for part in node.values)
        if isinstance(node, ast.BinOp):
            return self._binary(node, depth)
        if isinstance(node, ast.Subscript):
            return self._subscript(node, depth)
        if isinstance(node, ast.NamedExpr):
            return self.value(node.value, depth)
        if isinstance(node, ast.GeneratorExp | ast.ListComp):
            return self._comprehension(node, depth)
        return self._call(node, depth) if isinstance(node, ast.Call) else None

    def _part(self, part: ast.expr, depth: int) -> str:
        if isinstance(part, ast.FormattedValue):
            found = self.value(part.value, depth)
            return UNKNOWN if found is None or part.format_spec is not None else str(found)
        return str(self.value(part, depth))

    def _binary(self, node: ast.BinOp, depth: int) -> Any:
        left, right = self.value(node.left, depth), self.value(node.right, depth)
        if isinstance(node.op, ast.Add):
            return self._add(left, right)
        if left is None or right is None:
            if isinstance(node.op, ast.Mod) and isinstance(left, str):
                return _percent(left)
            return posixpath.join(left, UNKNOWN) if isinstance(node.op, ast.Div) and isinstance(left, str) else None
        if isinstance(node.op, ast.Div):
            return posixpath.join(left, right) if isinstance(left, str) else left / right
        if isinstance(node.op, ast.Mod):
            return left % (tuple(right) if isinstance(right, list) else right)
        return _arithmetic(node.op, left, right)

    def _add(self, left: Any, right: Any) -> Any:
        if left is None or right is None:
            known = right if left is None else left
            if not isinstance(known, str):
                return None
            return (UNKNOWN if left is None else left) + (UNKNOWN if right is None else right)
        return left + right

    def _subscript(self, node: ast.Subscript, depth: int) -> Any:
        whole = self.value(node.value, depth)
        if whole is None:
            return None
        if isinstance(node.slice, ast.Slice):
            ends = [self.value(end, depth) for end in (node.slice.lower, node.slice.upper, node.slice.step)]
            return whole[slice(*ends)]
        return whole[self.value(node.slice, depth)]

    def _comprehension(self, node: ast.GeneratorExp | ast.ListComp, depth: int) -> Any:
        """``chr(x) for x in [...]``, the usual way to spell a text in numbers."""
        if len(node.generators) != 1 or node.generators[0].ifs or not isinstance(node.elt, ast.Call):
            return None
        items = self.value(node.generators[0].iter, depth)
        if "builtins.chr" not in self._names.real(node.elt.func) or items is None or len(node.elt.args) != 1:
            return None
        argument = node.elt.args[0]
        if isinstance(argument, ast.Name):
            return [chr(item) for item in items]
        if isinstance(argument, ast.BinOp) and isinstance(other := self.value(argument.right, depth), int):
            return [chr(_arithmetic(argument.op, item, other)) for item in items]
        return None

    def _call(self, node: ast.Call, depth: int) -> Any:
        real = self._names.real(node.func)
        arguments = [self.value(argument, depth) for argument in node.args]
        for name in real:
            if name in DECODERS and None not in arguments:
                return DECODERS[name](*arguments)
        if real & {"os.path.join"} or real & _PATHS:
            return posixpath.join(*(UNKNOWN if each is None else os.fspath(each) for each in arguments))
        if real & {"builtins.chr"}:
            return chr(arguments[0])
        if real & {"builtins.str", "os.fspath", "os.fsencode", "os.fsdecode", "os.path.normpath", "os.path.abspath",
                   "os.path.realpath", "os.path.expanduser", "builtins.list", "builtins.tuple"}:  # fmt: skip
            return arguments[0] if len(arguments) == 1 else self._decoded(arguments)
        if real & {"builtins.bytes", "builtins.bytearray"}:
            return bytes(*arguments)
        if real & {"builtins.reversed"}:
            return list(reversed(arguments[0]))
        if real & {"builtins.map"} and "builtins.chr" in self._names.real(node.args[0]):
            return [chr(item) for item in arguments[1]]
        return self._method(node, arguments, depth) if isinstance(node.func, ast.Attribute) else None

    def _decoded(self, arguments: list[Any]) -> Any:
        return arguments[0].decode(arguments[1]) if isinstance(arguments[0], bytes) else None

    def _method(self, node: ast.Call, arguments: list[Any], depth: int) -> Any:
        assert isinstance(node.func, ast.Attribute)  # noqa: S101 -- told to mypy; the only caller has checked
        name, base = node.func.attr, self.value(node.func.value, depth)
        if name == "joinpath" and isinstance(base, str):
            return posixpath.join(base, *(UNKNOWN if each is None else each for each in arguments))
        if name == "format" and isinstance(base, str):
            return self._format(base, node, arguments, depth)
        if base is None or None in arguments:
            return None
        if name == "join" and isinstance(base, str | bytes):
            return base.join(arguments[0])
        if name in _TEXT_METHODS and isinstance(base, str | bytes):
            return getattr(base, name)(*arguments)
        return None

    def _format(self, base: str, node: ast.Call, arguments: list[Any], depth: int) -> str:
        known = {word.arg: self.value(word.value, depth) for word in node.keywords if word.arg}
        fields = [UNKNOWN if each is None else each for each in arguments]
        if "." in base.replace("{}", "") and "{" in base and ("__" in base or "[" in base):
            return base  # reaches into its arguments: judged as it stands, never carried out
        return base.format(*fields, **{name: UNKNOWN if each is None else each for name, each in known.items()})


def _percent(pattern: str) -> str:
    """The text before the first value that is not known."""
    return pattern.partition("%")[0] + UNKNOWN


def _arithmetic(operator: ast.operator, left: Any, right: Any) -> Any:
    if isinstance(operator, ast.Mult):
        if isinstance(left, int) and not isinstance(right, int | float):
            left, right = right, left
        if isinstance(left, str | bytes | list) and isinstance(right, int):
            return left * right if len(left) * right <= _MOST else None
        return left * right if _bits(left) + _bits(right) <= _MOST_BITS else None
    if isinstance(operator, ast.Pow):
        return left**right if right >= 0 and _bits(left) * max(right, 1) <= _MOST_BITS else None
    if isinstance(operator, ast.LShift):
        return left << right if _bits(left) + right <= _MOST_BITS else None
    if isinstance(operator, ast.Sub):
        return left - right
    if isinstance(operator, ast.BitXor):
        return left ^ right
    return left // right if isinstance(operator, ast.FloorDiv) else None


def _bits(number: Any) -> int:
    return number.bit_length() if isinstance(number, int) else 64
