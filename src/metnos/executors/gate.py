"""The static gate: what an executor's code must pass before it is ever run, even in the sandbox.

`inspect` reads the code and says what speaks against it; an empty list means accepted. Rules: hostile shapes are
refused whatever is declared (`gate_rules`, `gate_text`, `gate_bounds`, `gate_logic` and the linters of `gate_tools`);
what a manifest can declare is refused while it is undeclared (`gate_needs`). Whatever cannot be read, and any exception
on the way, is a finding. `infer` says what a benign reading of the code would have to declare. Does not run anything,
and does not prove code harmless: signature, sandbox, permit and broker stand behind it.
"""

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from metnos.executors import gate_bounds, gate_logic, gate_needs, gate_rules, gate_tables, gate_text, gate_tools
from metnos.executors.gate_code import Code, line_of
from metnos.executors.gate_infer import infer
from metnos.executors.gate_record import Declared, Finding

__all__ = ["Declared", "Finding", "declared", "infer", "inspect"]

_LONGEST = 200_000  # characters; the largest built-in has a twentieth of it
_RULES: tuple[Callable[[Code], Iterator[Finding]], ...] = (
    gate_text.lookalikes,
    gate_text.blobs,
    gate_rules.findings,
    gate_needs.file_findings,
    gate_bounds.findings,
    gate_logic.findings,
)


def inspect(source: str, declared: Declared, *, whole: bool = True, tools: bool = True) -> list[Finding]:
    """What speaks against this code. ``whole`` demands an executor's form; ``tools`` adds ruff and bandit."""
    try:
        found = set(_inspect(source, declared, whole))
        if tools:
            found.update(gate_tools.findings(source))
    except Exception as error:  # noqa: BLE001 -- a named border: any exception on the way is a refusal
        found = {Finding("unreadable", getattr(error, "lineno", None) or 0, f"{type(error).__name__}: {error}"[:200])}
    return sorted(found, key=lambda each: (each.line, each.rule, each.what))


def declared(manifest: Mapping[str, Any]) -> Declared:
    """What a manifest declares, from its tables ``capabilities`` and ``libraries``."""
    flat = _flattened(manifest.get("capabilities", {}))
    http = flat.get("net.http", {})
    return Declared(
        read=tuple(flat.get("fs.read", ())),
        write=tuple(flat.get("fs.write", ())),
        hosts=tuple(http.get("hosts", ())),
        methods=tuple(http.get("methods", ())),
        programs=tuple(flat.get("shell.exec", {}).get("allow", ())),
        calls=tuple(flat.get("executor.call", ())),
        model=bool(flat.get("model.chat", False)),
        system=tuple(flat.get("system.read", ())),
        libraries=tuple(manifest.get("libraries", ())),
        mcp=bool(flat.get("mcp.call")),
    )


def _flattened(capabilities: Mapping[str, Any]) -> dict[str, Any]:
    """TOML reads ``fs.read = ...`` as a table in a table and ``"fs.read" = ...`` as one key: both mean the same."""
    flat: dict[str, Any] = {}
    for group, value in capabilities.items():
        if "." in group or not isinstance(value, Mapping):
            flat[group] = value
        else:
            flat.update({f"{group}.{name}": inner for name, inner in value.items()})
    return flat


def _inspect(source: str, declared: Declared, whole: bool) -> Iterator[Finding]:
    if len(source) > _LONGEST:
        yield Finding("too-long", 0, f"{len(source)} characters; an executor is small")
        return
    yield from gate_text.findings(source)
    code = Code(source)
    for rule in _RULES:
        yield from rule(code)
    for need in gate_needs.needs(code):
        if not gate_needs.satisfied(need, declared):
            yield Finding(need.kind.value, need.line, need.what)
    if whole:
        yield from _form(code)


def _form(code: Code) -> Iterator[Finding]:
    """What makes a file an executor: ``run(args, ctx)``, and nothing done before it is called."""
    runs = [each for each in code.tree.body if isinstance(each, ast.FunctionDef) and each.name == "run"]
    if len(runs) != 1 or [each.arg for each in runs[0].args.args] != ["args", "ctx"]:
        yield Finding("form", line_of(runs[0]) if runs else 0, "one function run(args, ctx) is what the runner calls")
    for statement in code.tree.body:
        if isinstance(statement, ast.For | ast.While | ast.With | ast.Delete | ast.AugAssign) or (
            isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Constant)
        ):
            yield Finding("form", line_of(statement), "work at the top of the file: everything is done in run")
    for node in code.nodes:
        if isinstance(node, ast.ImportFrom) and node.level:
            yield Finding("form", line_of(node), "a relative import: an executor is one file")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "ctx":
            if node.attr not in gate_tables.CONTEXT:
                yield Finding("form", line_of(node), f"ctx.{node.attr} does not exist")
        elif isinstance(node, ast.Call) and code.real(node.func) & {"builtins.print", "builtins.input"}:
            yield Finding("form", line_of(node), "a terminal: an executor has none, and returns what it has to say")
