"""Code that does its work wrongly in ways that are known weaknesses: guessable secrets, checks that can be passed by.

These are no attacks but mistakes that make an executor unsafe to trust; a model that writes code makes them. Rules:
each is a known class of weakness (its CWE is named), seen in the shape of the code and never in the words of one
program. Does not find most mistakes: birth tests do that.
"""

import ast
import re
from collections.abc import Iterator

from metnos.executors.gate_code import Code, Function, argument, line_of
from metnos.executors.gate_fold import UNKNOWN
from metnos.executors.gate_record import Finding

_SECRET = re.compile(
    r"(?:^|_)(?:passwords?|passwd|pwd|passphrase|secrets?|tokens?|nonce|salt|otp|credentials?|keygen|session_?id|csrf)(?:_|$)"
    r"|(?:api|private|secret|access|auth|encryption|signing|session|crypto|aes|master|new)_?key"
    r"|(?:gen(?:erate)?|make|create|new|get)_?\w*(?:key|token|secret|password|nonce|salt|otp|pin)s?(?:_|$)"
)
_RIGHT = re.compile(
    r"^(?:is|has|have|can|may|check|verify|validate|require|ensure)_?\w*"
    r"(?:admin|owner|auth|permi|access|privilege|right|allowed|role|user|root)",
    re.IGNORECASE,
)
_VALIDATES = re.compile(r"valid|verif|sanit|check|is_?(?:allowed|safe|ok|legal)", re.IGNORECASE)
_RIGHTS = r"_?(?:privilege|root|admin|sudo|permission)"
_RAISES = re.compile(rf"(?:raise|elevate|escalate|gain|acquire|enable){_RIGHTS}", re.IGNORECASE)
_LOWERS = re.compile(rf"(?:lower|drop|restore|release|reset|revoke|disable){_RIGHTS}", re.IGNORECASE)
_ENDS = re.compile(r"(?:\$|\\Z|\\z|\$\)+)$")
_SQL = re.compile(
    r"^\s*(?:SELECT|INSERT|UPDATE|DELETE|REPLACE|DROP|ALTER)\b.*(?:=|LIKE|VALUES|IN|WHERE|TABLE)\s*[('\"%\s]*[^?]*"
    + UNKNOWN,
    re.IGNORECASE | re.DOTALL,
)
_HTML = re.compile(rf"<(?:html|body|div|p|h[1-6]|span|script|a|img|td|li|b|input)\b[^>]*>[^<]*{UNKNOWN}", re.IGNORECASE)
_HELD = re.compile(r"(?:^|_)(?:password|passwd|secret|passphrase|private_key|api_key|credentials?)$")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def findings(code: Code) -> Iterator[Finding]:
    for rule in (weak_secrets, weak_hashes, secrets_shown, uneven_guards, unlowered, repeated_keys, open_validators,
                 swapped_arguments, impossible_constants, open_permissions, built_queries, built_pages):  # fmt: skip
        yield from rule(code)


def is_secret(name: str) -> bool:
    return _SECRET.search(_CAMEL.sub("_", name).lower()) is not None


def weak_secrets(code: Code) -> Iterator[Finding]:
    """CWE-330, 335, 337, 338: a secret from a generator that anyone can repeat."""
    for call in code.calls:
        weak = {name for name in code.real(call.func) if name.startswith(("random.", "numpy.random."))}
        weak = {name for name in weak if "SystemRandom" not in name}
        if weak and (is_secret(_bound_to(code, call)) or is_secret(getattr(code.function_of(call), "name", ""))):
            yield Finding("weak-secret", line_of(call), f"a secret from {min(weak)}: use the secrets module")


def _bound_to(code: Code, node: ast.AST) -> str:
    """The name that a value is about to get."""
    for holder in code.above(node):
        if isinstance(holder, ast.Assign):
            target = holder.targets[0]
            return target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")
        if isinstance(holder, ast.keyword):
            return holder.arg or ""
        if isinstance(holder, ast.stmt):
            break
    return ""


def weak_hashes(code: Code) -> Iterator[Finding]:
    """CWE-327, 328: a digest that can be forged, unless the code says that nothing depends on it."""
    for call in code.calls:
        real = code.real(call.func)
        name = code.fold.text(argument(call, 0, "name")) if "hashlib.new" in real else None
        named = (name or "").lower().replace("-", "") in {"md5", "sha1", "md4"}
        if (named or real & {"hashlib.md5", "hashlib.sha1"}) and code.fold.value(
            argument(call, 99, "usedforsecurity")
        ) is not False:
            yield Finding("weak-hash", line_of(call), "a broken digest: use sha256, or say usedforsecurity=False")


def secrets_shown(code: Code) -> Iterator[Finding]:
    """CWE-209, 532: a secret in what is printed, logged or raised."""
    for node in code.nodes:
        if isinstance(node, ast.Call) and _shows(code, node):
            shown: list[ast.expr] = node.args
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            shown = node.exc.args
        else:
            continue
        for each in (part for value in shown for part in _visible(value)):
            if isinstance(each, ast.Name) and _holds_secret(each.id):
                yield Finding("secret-shown", line_of(each), f"{each.id} is shown to whoever reads the output")


def _shows(code: Code, call: ast.Call) -> bool:
    if "builtins.print" in code.real(call.func) or any(name.startswith("logging.") for name in code.real(call.func)):
        return True
    holder = call.func.value if isinstance(call.func, ast.Attribute) else None
    return isinstance(holder, ast.Name) and holder.id in {"logger", "log"}


def _holds_secret(name: str) -> bool:
    return _HELD.search(_CAMEL.sub("_", name).lower()) is not None


def _visible(node: ast.expr) -> Iterator[ast.expr]:
    yield node
    for part in node.values if isinstance(node, ast.JoinedStr) else ():
        if isinstance(part, ast.FormattedValue):
            yield part.value
    if isinstance(node, ast.BinOp):
        yield from _visible(node.left)
        yield from _visible(node.right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        yield from node.args


def uneven_guards(code: Code) -> Iterator[Finding]:
    """CWE-862: a choice in which some acts ask for a right and another does not, or a right that nobody asks for."""
    own = {function.name for function in code.functions if _RIGHT.match(function.name)}
    called = {each.id for each in code.nodes if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
    for function in code.functions:
        if function.name in own - called and isinstance(code.parent(function), ast.Module) and len(code.functions) > 1:
            yield Finding("uneven-guard", line_of(function), f"{function.name} is defined and never asked")
    for node in code.nodes:
        if isinstance(node, ast.If) and not _is_elif(code, node):
            branches = list(_branches(node))
            guards = [_guard(code, branch) for branch in branches]
            bare = [branch for guard, branch in zip(guards, branches, strict=True) if not guard and _acts(code, branch)]
            if len(branches) > 2 and any(guards) and bare:
                guard = next(filter(None, guards))
                yield Finding("uneven-guard", line_of(node), f"{guard} guards some branches and not others")


def _is_elif(code: Code, node: ast.If) -> bool:
    holder = code.parent(node)
    return isinstance(holder, ast.If) and holder.orelse == [node]


def _branches(node: ast.If) -> Iterator[list[ast.stmt]]:
    """The branches of a choice by one value: every test compares with a constant."""
    if not isinstance(node.test, ast.Compare) or not isinstance(node.test.comparators[0], ast.Constant):
        return
    yield node.body
    if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        yield from _branches(node.orelse[0])


def _guard(code: Code, body: list[ast.stmt]) -> str:
    """The function of this file, without arguments or by its name about rights, that alone decides a branch."""
    if len(body) != 1 or not isinstance(body[0], ast.If):
        return ""
    test = body[0].test
    if not isinstance(test, ast.Call) or not isinstance(test.func, ast.Name):
        return ""
    own = any(function.name == test.func.id for function in code.functions)
    return test.func.id if own and (not test.args or _RIGHT.match(test.func.id)) else ""


def _acts(code: Code, body: list[ast.stmt]) -> bool:
    own = {function.name for function in code.functions}
    return any(
        isinstance(each, ast.Expr) and isinstance(each.value, ast.Call) and isinstance(each.value.func, ast.Name)
        and each.value.func.id in own
        for each in body
    )  # fmt: skip


def unlowered(code: Code) -> Iterator[Finding]:
    """CWE-271: rights that are raised and not certainly lowered again."""
    for function in code.functions:
        raised = [each for each in _own_calls(function) if _RAISES.search(_called(each))]
        if not raised:
            continue
        safe = [each for node in ast.walk(function) if isinstance(node, ast.Try) for last in node.finalbody
                for each in ast.walk(last) if isinstance(each, ast.Call)]  # fmt: skip
        if not any(_LOWERS.search(_called(each)) for each in safe):
            yield Finding("unlowered", line_of(raised[0]), "rights are raised, and an exception would leave them so")


def _own_calls(function: Function) -> Iterator[ast.Call]:
    return (each for each in ast.walk(function) if isinstance(each, ast.Call))


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def repeated_keys(code: Code) -> Iterator[Finding]:
    """CWE-462: pairs that are looked up by their first part, which two of them share."""
    searching = {function.name for function in code.functions if _looks_up(code, function)}
    given = (each for call in code.calls if _called(call) in searching for each in call.args)
    searched = {each.id for each in given if isinstance(each, ast.Name)}
    seen: dict[str, list[object]] = {}
    for node in code.nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List) and isinstance(node.targets[0], ast.Name):
            name, pairs = node.targets[0].id, node.value.elts
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
            name, pairs = getattr(node.func.value, "id", ""), node.args
        else:
            continue
        for key in filter(None, (_key(pair) for pair in pairs if name in searched)):
            if key in seen.setdefault(name, []):
                yield Finding("repeated-key", line_of(node), f"{name} is searched by key, and two pairs share one")
            seen[name].append(key)
    yield from _repeated_in_dict(code)


def _repeated_in_dict(code: Code) -> Iterator[Finding]:
    for node in code.nodes:
        if isinstance(node, ast.Dict):
            keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
            if len(keys) != len(set(keys)):
                yield Finding("repeated-key", line_of(node), "a mapping that names a key twice")


def _key(node: ast.expr) -> object:
    if isinstance(node, ast.Tuple) and len(node.elts) == 2 and isinstance(node.elts[0], ast.Constant):
        return node.elts[0].value
    return None


def _looks_up(code: Code, function: Function) -> bool:
    """A function that compares the first part of the items of a parameter with another parameter."""
    parameters = {each.arg for each in function.args.args}
    if len(parameters) < 2:
        return False
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and "builtins.dict" in code.real(node.func) and len(node.args) == 1:
            return isinstance(node.args[0], ast.Name) and node.args[0].id in parameters
        if isinstance(node, ast.Compare) and len(node.comparators) == 1 and isinstance(node.ops[0], ast.Eq):
            sides = (node.left, node.comparators[0])
            asked = any(isinstance(side, ast.Name) and side.id in parameters for side in sides)
            if asked and any(map(_first_part, sides)):
                return True
    return False


def _first_part(side: ast.expr) -> bool:
    if isinstance(side, ast.Subscript):
        return isinstance(side.slice, ast.Constant) and side.slice.value == 0
    return isinstance(side, ast.Name) and side.id in {"k", "key", "name", "first"}


def open_validators(code: Code) -> Iterator[Finding]:
    """CWE-625, 777: a check by a pattern that says nothing about the end of what it checks."""
    for call in code.calls:
        function = code.function_of(call)
        if function is None or not _VALIDATES.search(function.name) or not isinstance(call.func, ast.Attribute):
            continue
        if call.func.attr not in {"match", "search"} or not _decides(code, call):
            continue
        direct = bool(code.real(call.func) & {"re.match", "re.search"})
        maker = code.names.single(call.func.value.id) if isinstance(call.func.value, ast.Name) else call.func.value
        pattern = code.fold.text(argument(call, 0)) if direct else None
        if not direct and isinstance(maker, ast.Call) and "re.compile" in code.real(maker.func):
            pattern = code.fold.text(argument(maker, 0))
        if pattern and not _ENDS.search(pattern):
            yield Finding("open-validator", line_of(call), "checks only a part of it: use fullmatch")


def _decides(code: Code, call: ast.Call) -> bool:
    holder = code.parent(call)
    if isinstance(holder, ast.Call):
        return "builtins.bool" in code.real(holder.func)
    return isinstance(holder, ast.If | ast.Return | ast.UnaryOp | ast.BoolOp | ast.IfExp | ast.Compare | ast.While)


def swapped_arguments(code: Code) -> Iterator[Finding]:
    """CWE-683: two arguments that carry the names of each other's parameters."""
    known = {function.name: function for function in code.functions if isinstance(code.parent(function), ast.Module)}
    for call in code.calls:
        function = known.get(call.func.id) if isinstance(call.func, ast.Name) else None
        if function is None or code.function_of(call) is function:
            continue
        parameters = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
        given = [each.id if isinstance(each, ast.Name) else "" for each in call.args]
        for here, name in enumerate(given[: len(parameters)]):
            there = parameters.index(name) if name in parameters else here
            if there != here and there < len(given) and given[there] == parameters[here]:
                yield Finding("swapped-arguments", line_of(call), f"{name} and {given[there]} have changed places")
                break


def impossible_constants(code: Code) -> Iterator[Finding]:
    """CWE-125, 369, 682: an index beyond the end, a division by zero, a decimal made from a rounded number."""
    for node in code.nodes:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod):
            if code.fold.value(node.right) == 0 and not isinstance(code.fold.value(node.left), str):
                yield Finding("impossible", line_of(node), "divides by zero")
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load | ast.Store):
            whole, index = _whole(code, node.value), code.fold.value(node.slice)
            if whole is not None and isinstance(index, int) and not -whole <= index < whole:
                yield Finding("impossible", line_of(node), "an index beyond the end")
        elif isinstance(node, ast.Call) and "decimal.Decimal" in code.real(node.func) and node.args:
            number = node.args[0]
            if isinstance(number, ast.Constant) and isinstance(number.value, float) and not number.value.is_integer():
                yield Finding("impossible", line_of(node), "a decimal from a rounded number: write it as a text")


def _whole(code: Code, node: ast.expr) -> int | None:
    """How long a list is that nobody changes."""
    if isinstance(node, ast.List | ast.Tuple):
        return None if any(isinstance(each, ast.Starred) for each in node.elts) else len(node.elts)
    if not isinstance(node, ast.Name) or not isinstance(single := code.names.single(node.id), ast.List):
        return None
    uses = (code.parent(each) for each in code.nodes if isinstance(each, ast.Name) and each.id == node.id)
    return (
        None if any(isinstance(use, ast.Attribute | ast.Call | ast.AugAssign) for use in uses) else _whole(code, single)
    )


def open_permissions(code: Code) -> Iterator[Finding]:
    """CWE-276, 732: a file that everyone may change."""
    for call in code.calls:
        real = code.real(call.func)
        mode = code.fold.value(argument(call, 1 if real & {"os.chmod", "os.fchmod", "os.lchmod"} else 0, "mode"))
        method = isinstance(call.func, ast.Attribute) and call.func.attr == "chmod"
        if isinstance(mode, int) and (method or real & {"os.chmod", "os.fchmod", "os.lchmod"}) and mode & 0o002:
            yield Finding("open-permission", line_of(call), "a file that everyone may change")
        if "os.umask" in real and mode == 0 and isinstance(code.parent(call), ast.Expr):
            yield Finding("open-permission", line_of(call), "every new file may be changed by everyone")


def built_queries(code: Code) -> Iterator[Finding]:
    """CWE-89: a query with a value pasted into it."""
    for node, text in code.texts:
        if UNKNOWN in text and _SQL.search(text):
            yield Finding("built-query", line_of(node), "a query with a value pasted into it: pass it as a parameter")


def built_pages(code: Code) -> Iterator[Finding]:
    """CWE-79: a page with a value pasted into it that nobody escaped."""
    escaped = any("escape" in _called(call) or "quote" in _called(call) for call in code.calls)
    for node, text in code.texts if not escaped else ():
        if UNKNOWN in text and _HTML.search(text):
            yield Finding("built-page", line_of(node), "a page with a value pasted into it: use html.escape")
