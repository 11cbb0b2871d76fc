"""Whether the arguments and the output of a manifest are those of the code, as far as its text tells.

Rules: what is certain from the text is held against the manifest, and nothing else. Every argument that the schema has
is read by the code, and every one that the code reads is in the schema; one that may be missing is not read as if it
were there. Where the entries of the reply are made from literals, their keys are those of the output. What is handed to
our own kit counts as read if the kit names it; what is made elsewhere is left to the birth tests, where every entry is
checked against the schema.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from metnos.executors.gate_code import Code, Function
from metnos.executors.manifest import Manifest
from metnos.synt.gates_capabilities import kit_texts

_DEEPEST = 12  # expressions within expressions: a reply that is deeper is made elsewhere for us
_BESIDE = frozenset({"total", "failures", "left_out"})
_PLAIN_CALLS = frozenset({"builtins.sorted", "builtins.list", "builtins.reversed", "builtins.tuple"})
_LOOKING = _PLAIN_CALLS | {"builtins.len", "builtins.sum"}


@dataclass(slots=True)
class _Read:
    """Which arguments the code reads: surely there, perhaps there, and whether all of them went elsewhere."""

    needed: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    elsewhere: bool = False  # handed to somebody whom we cannot follow
    whole: bool = False  # gone through one by one


@dataclass(frozen=True, slots=True)
class _Shape:
    """The keys of the entries that an expression makes; ``open`` when there may be others."""

    keys: frozenset[str] = frozenset()
    open: bool = False

    def __or__(self, other: "_Shape") -> "_Shape":
        return _Shape(self.keys | other.keys, self.open or other.open)


_OPEN = _Shape(open=True)


def problems(code: Code, manifest: Manifest) -> list[str]:
    """Where the code and the schemas part, each with what to do."""
    run = next(each for each in code.functions if each.name == "run")
    return [*_arguments(code, manifest, run), *_output(code, manifest, run)]


# -- arguments


def _arguments(code: Code, manifest: Manifest, run: Function) -> Iterator[str]:
    properties = manifest.args["properties"]
    found = _Read()
    _follow(code, run, run.args.args[0].arg, found, set())
    for name in sorted((found.needed | found.asked) - set(properties)):
        yield f'the code reads args["{name}"], which `args` does not have: add it there, or do without it'
    constants = {text for _, text in code.texts} | set(kit_texts(code)) if found.elsewhere else set()
    for name in properties:
        known = name in found.needed | found.asked | constants or found.whole
        if not known and not (name == "limit" and "ctx.limit" in code.source):
            yield f"`args` has {name!r}, but the code never reads it: read it, or remove it"
    if {"anyOf", "oneOf", "allOf", "dependentRequired", "if"} & manifest.args.keys():
        return  # which of them are there together is more than we follow
    sure = {*manifest.args.get("required", ()), *(name for name, each in properties.items() if "default" in each)}
    for name in sorted((found.needed & set(properties)) - found.asked - sure):
        yield (
            f'the code reads args["{name}"] as if it were always there, but it is neither required nor has a default: '
            "use args.get, or change `args`"
        )


def _follow(code: Code, function: Function, parameter: str, found: _Read, seen: set[tuple[str, str]]) -> None:
    """Note every use of ``parameter`` in a function, and in those of this file that it is handed to."""
    if (function.name, parameter) in seen:
        return
    seen.add((function.name, parameter))
    for node in ast.walk(function):
        if not isinstance(node, ast.Name) or node.id != parameter or not isinstance(node.ctx, ast.Load):
            continue
        holder = code.parent(node)
        if isinstance(holder, ast.Subscript) and holder.value is node:
            _note(code.fold.text(holder.slice), found.needed, found)
        elif isinstance(holder, ast.Attribute):
            _method(code, holder, found)
        elif isinstance(holder, ast.Compare):
            _note(code.fold.text(holder.left), found.asked, found)
        elif isinstance(holder, ast.Call) and (inner := _own(code, holder)) and node in holder.args:
            taken = [*inner.args.posonlyargs, *inner.args.args]
            position = holder.args.index(node)
            if position < len(taken):
                _follow(code, inner, taken[position].arg, found, seen)
        elif isinstance(holder, ast.Call):
            found.elsewhere = True
        else:
            found.whole = True


def _note(key: str | None, where: set[str], found: _Read) -> None:
    if key is None:
        found.whole = True
    else:
        where.add(key)


def _method(code: Code, function: ast.Attribute, found: _Read) -> None:
    call = code.parent(function)
    if isinstance(call, ast.Call) and function.attr in {"get", "pop"} and call.args:
        _note(code.fold.text(call.args[0]), found.asked, found)
    else:
        found.whole = True


def _own(code: Code, call: ast.Call) -> Function | None:
    """The function of this file that a call calls by its name."""
    if not isinstance(call.func, ast.Name):
        return None
    name = call.func.id
    return next((each for each in code.functions if each.name == name and code.function_of(each) is None), None)


# -- output


def _output(code: Code, manifest: Manifest, run: Function) -> Iterator[str]:
    key = manifest.result_key
    shape = _Shape()
    for reply in _returned(code, run):
        if isinstance(reply, ast.Dict):
            strange = _constant_keys(reply) - _BESIDE - {key}
            if strange:
                yield (
                    f"the code returns {min(strange)!r}; a {manifest.kind.value} returns {key!r}, and beside it "
                    "only 'total', 'failures' and 'left_out'"
                )
            shape |= _of_list(code, _value(reply, key), run, 0)
        else:
            shape |= _OPEN
    if shape.open or not shape.keys:
        return
    properties = set(manifest.output["properties"])
    for name in sorted(properties - shape.keys):
        yield f"`output` has {name!r}, but no entry that the code makes has it: add it to the entries, or remove it"
    for name in sorted(shape.keys - properties):
        yield f"the code gives entries a {name!r} that `output` does not have: add it there, or remove it"


def _returned(code: Code, function: Function, depth: int = 0) -> Iterator[ast.expr]:
    """What a function returns; a call of another function of this file is looked into."""
    for node in ast.walk(function):
        if not isinstance(node, ast.Return) or node.value is None or code.function_of(node) is not function:
            continue
        inner = _own(code, node.value) if isinstance(node.value, ast.Call) else None
        if inner is not None and depth < _DEEPEST:
            yield from _returned(code, inner, depth + 1)
        else:
            yield node.value


def _constant_keys(made: ast.Dict) -> set[str]:
    return {str(key.value) for key in made.keys if isinstance(key, ast.Constant)}


def _value(made: ast.Dict, key: str) -> ast.expr | None:
    pairs = zip(made.keys, made.values, strict=True)
    return next((value for name, value in pairs if isinstance(name, ast.Constant) and name.value == key), None)


def _of_list(code: Code, node: ast.expr | None, function: Function, depth: int) -> _Shape:
    """The keys of the entries in a list."""
    function = (code.function_of(node) if node is not None else None) or function
    if node is None or depth > _DEEPEST:
        return _OPEN
    if isinstance(node, ast.List | ast.Tuple):
        return _joined(_of_entry(code, each, function, depth + 1) for each in node.elts)
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        return _of_entry(code, node.elt, function, depth + 1)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return _of_list(code, node.value, function, depth + 1)
    if isinstance(node, ast.Call) and node.args and code.real(node.func) & _PLAIN_CALLS:
        return _of_list(code, node.args[0], function, depth + 1)
    if isinstance(node, ast.Call) and (inner := _own(code, node)):
        return _joined(_of_list(code, each, inner, depth + 1) for each in _returned(code, inner))
    if isinstance(node, ast.Name):
        return _joined(_gathered(code, node.id, function, depth + 1))
    return _OPEN


def _gathered(code: Code, name: str, function: Function, depth: int) -> Iterator[_Shape]:
    """Everything that is put into a list of this name, in the function that returns it."""
    found = False
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for value in _assigned(node, name):
                found = True
                yield _OPEN if value is None else _of_list(code, value, function, depth)
        elif isinstance(node, ast.Call):
            yield from _put_in(code, node, name, function, depth)
        elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For | ast.NamedExpr | ast.With):
            names = (each for each in ast.walk(node) if isinstance(each, ast.Name) and each.id == name)
            if any(isinstance(each.ctx, ast.Store) for each in names):
                yield _OPEN
    if not found:
        yield _OPEN


def _put_in(code: Code, call: ast.Call, name: str, function: Function, depth: int) -> Iterator[_Shape]:
    """What a call puts into the list of this name, if it does."""
    method = call.func if isinstance(call.func, ast.Attribute) else None
    if method and isinstance(method.value, ast.Name) and method.value.id == name:
        if method.attr == "append" and call.args:
            yield _of_entry(code, call.args[0], function, depth)
        elif method.attr in {"append", "extend", "insert"}:
            yield _OPEN
    given = any(isinstance(each, ast.Name) and each.id == name for each in call.args)
    if given and not code.real(call.func) & _LOOKING:
        yield _OPEN  # whoever gets the list may fill it


def _assigned(node: ast.Assign, name: str) -> Iterator[ast.expr | None]:
    """What an assignment gives to a name; nothing where that cannot be told."""
    for target in node.targets:
        if isinstance(target, ast.Name) and target.id == name:
            yield node.value
        elif isinstance(target, ast.Tuple):
            names = [each.id if isinstance(each, ast.Name) else "" for each in target.elts]
            if name in names:
                same = isinstance(node.value, ast.Tuple) and len(node.value.elts) == len(names)
                yield node.value.elts[names.index(name)] if same and isinstance(node.value, ast.Tuple) else None


def _of_entry(code: Code, node: ast.expr, function: Function, depth: int) -> _Shape:
    """The keys of one entry."""
    if depth > _DEEPEST:
        return _OPEN
    if isinstance(node, ast.Dict):
        known = _Shape(frozenset(_constant_keys(node)))
        inner = (value for key, value in zip(node.keys, node.values, strict=True) if key is None)
        computed = any(key is not None and not isinstance(key, ast.Constant) for key in node.keys)
        spread = _joined(_of_entry(code, each, function, depth + 1) for each in inner)
        return known | spread | (_OPEN if computed else _Shape())
    if isinstance(node, ast.IfExp):
        return _of_entry(code, node.body, function, depth + 1) | _of_entry(code, node.orelse, function, depth + 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return _of_entry(code, node.left, function, depth + 1) | _of_entry(code, node.right, function, depth + 1)
    if isinstance(node, ast.Call) and (inner_function := _own(code, node)):
        return _joined(_of_entry(code, each, inner_function, depth + 1) for each in _returned(code, inner_function))
    if isinstance(node, ast.Name):
        return _joined(_built(code, node.id, function, depth + 1))
    return _OPEN


def _built(code: Code, name: str, function: Function, depth: int) -> Iterator[_Shape]:
    """Everything that an entry of this name is given, in the function that makes it."""
    found = False
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for value in _assigned(node, name):
                found = True
                yield _OPEN if value is None else _of_entry(code, value, function, depth)
        elif isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            holder = code.parent(node)
            if isinstance(holder, ast.Subscript) and isinstance(holder.ctx, ast.Store | ast.Del):
                key = code.fold.text(holder.slice)
                yield _OPEN if key is None else _Shape(frozenset({key}))
            elif isinstance(holder, ast.Attribute) and holder.attr in {"update", "setdefault", "pop"}:
                yield _OPEN
            elif isinstance(holder, ast.Call) and not _is_append(holder):
                yield _OPEN  # whoever gets it may add to it
    if not found:
        yield _OPEN


def _is_append(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "append"


def _joined(shapes: Iterator[_Shape]) -> _Shape:
    joined = _Shape()
    for each in shapes:
        joined |= each
    return joined
