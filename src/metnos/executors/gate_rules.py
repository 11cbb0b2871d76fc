"""Shapes that no declaration waives: code made from text, ways out of the namespace, the interpreter's own levers.

Every rule is a pure function from `Code` to findings. Rules: a *reference* to a forbidden function counts, not only a
call, because what can be named can be handed to ``map``; an import counts even if it is never used. Does not guarantee
anything about code that the sandbox would not also bound: this is the first gate of several, and the cheapest.
"""

import ast
import re
from collections.abc import Iterator

from metnos.executors import gate_tables as tables
from metnos.executors.gate_code import Code, argument, line_of, program
from metnos.executors.gate_fold import DECODERS
from metnos.executors.gate_record import Finding

_FORBIDDEN = {
    name: rule for rule, names in tables.FORBIDDEN.items() for name in names.split() if not name.endswith("*")
}
_FORBIDDEN_BELOW = {
    name.removesuffix("*"): rule
    for rule, names in tables.FORBIDDEN.items()
    for name in names.split()
    if name.endswith("*")
}
_REASONS = {
    "dynamic-code": "runs or loads code that is not in this file",
    "interpreter": "takes hold of the interpreter itself",
    "process": "starts, ends or changes processes past shell.exec",
    "threads": "starts threads: one call is one thread",
    "native-code": "leaves Python for native code",
    "deserialise": "loads data that may carry code",
    "surveillance": "watches the machine or its owner; use ctx.system",
    "terminal": "talks to a terminal that an executor does not have",
    "environment": "changes the environment",
    "network": "reaches the network past ctx.http",
    "self": "imports Metnos itself",
    "unknown-module": "is no module that executors may use",
}
_MODULES = (
    (tables.NETWORK, "network"),
    (tables.PROCESS, "process"),
    (tables.NATIVE, "native-code"),
    (tables.DYNAMIC, "dynamic-code"),
    (tables.INTERPRETER, "interpreter"),
    (tables.TERMINAL, "terminal"),
    (tables.SURVEILLANCE, "surveillance"),
    (frozenset({"metnos", "styx"}), "self"),
)
ALLOWED_BELOW = ("importlib.resources", "importlib.metadata", "importlib.abc")  # of modules that are refused
_LITERALS = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.JoinedStr)
_SHELL = re.compile(
    r"(?:.*/)?(?:(?:ba|z|da|k|c|tc|fi)?sh|sudo|su|doas|pkexec|env|xargs|nohup|python[\d.]*|perl|ruby|node)"
)
_STRUCTURAL = re.compile(r"__(?:globals|subclasses|builtins|code|mro|bases|base|import|loader)__")


def findings(code: Code) -> Iterator[Finding]:
    for rule in (imports, references, modules_carried, computed_names, dunders, decoded_constants, shells):
        yield from rule(code)


def module_rule(name: str) -> str:
    """The rule that refuses a module whatever is declared, or nothing."""
    if any(name == each or name.startswith(each + ".") for each in ALLOWED_BELOW):
        return ""
    head = name.partition(".")[0]
    for members, rule in _MODULES:
        if name in members or head in members:
            return rule
    # A module below a refused one: `http` is fine, `http.client` and what is below it are not.
    for members, rule in _MODULES:
        if any(name.startswith(each + ".") for each in members if "." in each):
            return rule
    return ""


def imported_modules(code: Code) -> Iterator[tuple[str, ast.stmt]]:
    """Every absolute module that the file names in an import, with the names that come through ``from``."""
    for node in code.nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from ((f"{node.module}.{alias.name}", node) for alias in node.names)


def imports(code: Code) -> Iterator[Finding]:
    for name, node in imported_modules(code):
        rule = module_rule(name)
        if rule:
            yield Finding(rule, line_of(node), f"import of {name}: {_REASONS[rule]}")
        if isinstance(node, ast.ImportFrom) and name.endswith(".*") and name.removesuffix(".*") in tables.CARRIED:
            yield Finding("star-import", line_of(node), f"{name}: names that no rule could follow")


def forbidden_rule(name: str) -> str:
    rule = _FORBIDDEN.get(name, "")
    if rule or any(name == each or name.startswith(each + ".") for each in ALLOWED_BELOW):
        return rule
    return next((rule for prefix, rule in _FORBIDDEN_BELOW.items() if name.startswith(prefix)), "")


def references(code: Code) -> Iterator[Finding]:
    """A forbidden function, under whatever name."""
    for node in code.nodes:
        if not isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
            continue
        stored = isinstance(getattr(node, "ctx", None), ast.Store | ast.Del)
        holder = node.value if stored and isinstance(node, ast.Subscript) else None
        held = code.real(holder) & tables.UNCHANGEABLE
        for name in sorted(code.real(node) | held):  # what an item of it is put in the place of is changed as well
            if stored and not isinstance(node, ast.Name) and _is_unchangeable(name):
                yield Finding("interpreter", line_of(node), f"{name} is changed: {_REASONS['interpreter']}")
            rule = "" if stored else forbidden_rule(name)
            if rule and not _only_compared(code, node, name):
                yield Finding(rule, line_of(node), f"{name}: {_REASONS[rule]}")
    for name, statement in imported_modules(code):
        rule = forbidden_rule(name)
        if rule and not name.startswith("types."):
            yield Finding(rule, line_of(statement), f"{name}: {_REASONS[rule]}")


def _is_unchangeable(name: str) -> bool:
    return name in tables.UNCHANGEABLE or (name.startswith("builtins.") and name.count(".") == 1)


def _only_compared(code: Code, node: ast.AST, name: str) -> bool:
    """``isinstance(x, types.FunctionType)`` or a table by types names a type without making one."""
    if not name.startswith("types."):
        return False
    holder = code.parent(node)
    if isinstance(holder, ast.Attribute):
        return True
    while isinstance(holder, ast.Tuple | ast.List | ast.BinOp | ast.Dict | ast.Set):
        holder = code.parent(holder)
    if isinstance(holder, ast.Call):
        return holder.func is not node and bool(code.real(holder.func) & {"builtins.isinstance", "builtins.issubclass"})
    return not isinstance(holder, ast.keyword | ast.Return | ast.Lambda)


def modules_carried(code: Code) -> Iterator[Finding]:
    """A powerful module as a value: put into a list, handed on, returned."""
    for node in code.nodes:
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load) or not code.names.imported(node.id):
            continue
        carried = code.real(node) & tables.CARRIED
        if carried and not _plain_use(code, node):
            yield Finding("module-carried", line_of(node), f"{min(carried)} as a value: no rule can follow it there")


def _plain_use(code: Code, node: ast.Name) -> bool:
    holder = code.parent(node)
    if isinstance(holder, ast.Attribute | ast.Compare | ast.If | ast.BoolOp | ast.UnaryOp):
        return True
    if isinstance(holder, ast.Assign | ast.AnnAssign | ast.NamedExpr):
        targets = holder.targets if isinstance(holder, ast.Assign) else [holder.target]
        return all(isinstance(target, ast.Name) for target in targets)
    # Asking for an attribute: `computed_names` judges the name.
    return isinstance(holder, ast.Call) and bool(code.real(holder.func) & {"builtins.getattr", "builtins.hasattr"})


def computed_names(code: Code) -> Iterator[Finding]:
    """Attributes of modules by names that are known only when the code runs, and any that lead out of the namespace."""
    for call in code.calls:
        asked = code.real(call.func) & {
            "builtins.getattr",
            "builtins.setattr",
            "builtins.delattr",
            "operator.attrgetter",
        }
        if not asked or not call.args:
            continue
        name = code.fold.text(call.args[-1] if "operator.attrgetter" in asked else argument(call, 1))
        if name is not None and any(part in tables.DUNDERS for part in name.split(".")):
            yield Finding("dunder", line_of(call), f"attribute {name}: leads out of what the code was given")
        if "operator.attrgetter" in asked:
            continue
        modules = {each for each in code.real(call.args[0]) if _is_module(code, each)}
        if modules and (name is None or "builtins.getattr" not in asked):
            yield Finding("computed-name", line_of(call), f"a computed attribute of the module {min(modules)}")
    for node in code.nodes:
        if isinstance(node, ast.Subscript) and code.fold.value(node.slice) is None:
            for base in code.real(node.value):
                module = base.endswith(".__dict__") and _is_module(code, base.removesuffix(".__dict__"))
                own = base == "builtins.globals()" and isinstance(node.ctx, ast.Load)
                if module or own or base in {"builtins", "sys.modules"}:
                    yield Finding("computed-name", line_of(node), f"a computed member of {base}")


def _is_module(code: Code, name: str) -> bool:
    return name == "builtins" or name in tables.CARRIED or (code.names.imported(name) and bool(module_rule(name)))


def dunders(code: Code) -> Iterator[Finding]:
    for node in code.nodes:
        if isinstance(node, ast.Attribute):
            yield from _dunder(code, node)
        elif isinstance(node, ast.Name) and node.id in {"__builtins__", "__loader__"}:
            yield Finding("dunder", line_of(node), f"{node.id}: leads out of what the code was given")
    for node, text in code.texts:
        if _STRUCTURAL.search(text) and not _compared(code, node):
            yield Finding("dunder", line_of(node), "a text that spells a way out of the namespace")


def _compared(code: Code, node: ast.AST) -> bool:
    """A name in a list that is only compared or shown is harmless; one that is formatted or looked up is not."""
    return not any(
        (isinstance(each, ast.Attribute) and each.attr in {"format", "format_map"})
        or (isinstance(each, ast.Subscript) and each.slice is node)
        or (
            isinstance(each, ast.Call)
            and code.real(each.func) & {"builtins.getattr", "builtins.format", "operator.attrgetter"}
        )
        for each in (holder for holder in list(code.above(node))[:2])
    )


def _dunder(code: Code, node: ast.Attribute) -> Iterator[Finding]:
    if node.attr in tables.DUNDERS:
        yield Finding("dunder", line_of(node), f".{node.attr}: leads out of what the code was given")
    elif node.attr in tables.CLIMBING and isinstance(node.value, ast.Attribute) and node.value.attr == "__class__":
        yield Finding("dunder", line_of(node), f".__class__.{node.attr}: climbs to what the code was not given")
    elif node.attr == "__class__" and isinstance(node.value, _LITERALS):
        yield Finding("dunder", line_of(node), ".__class__ of a constant: the first step out of the namespace")
    elif node.attr == "__dict__" and any(_is_module(code, each) for each in code.real(node.value)):
        yield Finding("dunder", line_of(node), ".__dict__ of a module")


def decoded_constants(code: Code) -> Iterator[Finding]:
    """A constant that had to be decoded was written to be unreadable."""
    for call in code.calls:
        decoders = code.real(call.func) & DECODERS.keys()
        value = code.fold.value(call)
        if decoders and value is not None and not (decoders == {"codecs.decode"} and not _unusual_codec(code, call)):
            if not _hex_of_data(decoders, value):
                yield Finding("decoded-constant", line_of(call), f"a constant behind {min(decoders)}: write it out")
        elif isinstance(call.func, ast.Attribute) and call.func.attr == "join" and isinstance(value, str):
            spelled = call.args and not isinstance(call.args[0], ast.List | ast.Tuple)
            if spelled and len(value) > 3 and _spells_numbers(code, call.args[0]):
                yield Finding("decoded-constant", line_of(call), "a text spelled in numbers: write it out")
    for node in code.nodes:
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and node.slice.step is not None:
            backwards = code.fold.value(node.slice.step)
            text = code.fold.text(node)
            if isinstance(backwards, int) and backwards < 0 and text and len(text) > 3:
                yield Finding("decoded-constant", line_of(node), "a constant text written backwards: write it out")


def _unusual_codec(code: Code, call: ast.Call) -> bool:
    codec = code.fold.text(argument(call, 1, "encoding"))
    return codec is not None and codec.replace("-", "_").lower() not in {"utf_8", "utf8", "ascii", "latin1", "latin_1"}


def _hex_of_data(decoders: frozenset[str], value: object) -> bool:
    """Magic numbers of file formats are honestly written in hexadecimal; a text is not."""
    if not all(name.endswith(("fromhex", "hexlify", "a2b_hex")) for name in decoders) or not isinstance(value, bytes):
        return False
    return len(value) < 4 or not value.isascii() or not value.decode("ascii").isprintable()


def _spells_numbers(code: Code, node: ast.expr) -> bool:
    return any(isinstance(each, ast.Name) and "builtins.chr" in code.real(each) for each in ast.walk(node))


def shells(code: Code) -> Iterator[Finding]:
    """A shell reads a text as a program, whatever programs are declared."""
    for call in code.calls:
        if not code.real(call.func) & tables.PROGRAM_CALLS:
            continue
        shell = argument(call, 99, "shell")
        if shell is not None and code.fold.value(shell) is not False:
            yield Finding("shell", line_of(call), "starts a shell: a text would decide which programs run")
        if any(word.arg == "preexec_fn" for word in call.keywords):
            yield Finding("shell", line_of(call), "runs code between fork and exec")
        if _SHELL.fullmatch(started := program(code, call)):
            yield Finding("shell", line_of(call), f"{started}: starts whatever it is told to")
