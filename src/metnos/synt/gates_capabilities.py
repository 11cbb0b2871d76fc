"""Whether a draft declares what its code uses: no less, and no more.

Rules: what the static gate calls a need and the manifest lacks is too little. What the manifest declares and no need of
the code, and no part of our own kit that it imports, asks for is too much; each is named with what to do. A scope of
paths that arguments name is as wide as its author says, since a call sees only what it names; where no argument names
a path, the scopes are what a call sees, so each must be one that the code names. Powers are known by the name ``ctx``:
whoever hides it behind another name is told that the power is not used. Does not know whether code that uses a power is
ever reached: a birth test has to show that.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import resources

from metnos.executors import gate_needs
from metnos.executors.gate_code import Code
from metnos.executors.gate_record import SOMEWHERE, Finding, Kind, Need
from metnos.executors.gate_rules import imported_modules
from metnos.executors.manifest import Manifest
from metnos.executors.scope import names_workspace

_KIT = "metnos_kit"
_NEEDS = frozenset(kind.value for kind in Kind)
_WORKSPACE = re.compile(r"\bctx\.workspace\b")


def is_need(finding: Finding) -> bool:
    """Whether a finding of the static gate says that something is not declared."""
    return finding.rule in _NEEDS


def lacking(findings: Sequence[Finding]) -> list[str]:
    """What the code uses and the manifest does not declare, in words that say what to do."""
    return [
        f"line {each.line}: {each.what}, which is not declared ({each.rule}): do without it, or declare it"
        for each in findings
        if is_need(each)
    ]


def surplus(code: Code, manifest: Manifest) -> list[str]:
    """What the manifest declares and the code does not use, in words that say what to do."""
    used = [*gate_needs.needs(code), *_kit_needs(code)]
    rules: tuple[Callable[[Manifest, list[Need], Code], Iterator[str]], ...] = (
        _files,
        _web,
        _programs,
        _calls,
        _facts,
        _libraries,
    )
    return [problem for rule in rules for problem in rule(manifest, used, code)]


def _values(used: list[Need], kind: Kind) -> set[str]:
    return {need.value for need in used if need.kind is kind}


def _files(manifest: Manifest, used: list[Need], code: Code) -> Iterator[str]:
    fs = manifest.capabilities.fs
    reads, writes = _values(used, Kind.READ), _values(used, Kind.WRITE)
    if fs.read and not reads and not _copies(code):
        yield "declares fs.read, but the code never reads a file or a folder: remove it (and x-path from its arguments)"
    if fs.write and not writes:
        yield "declares fs.write, but the code never writes: remove it"
    named = {argument.mode for argument in manifest.paths}
    known = reads | writes
    for mode, scopes in (("read", fs.read), ("write", fs.write)):
        for scope in scopes:
            if names_workspace((scope,)):
                if not _WORKSPACE.search(code.source) and not _uses_workspace(code):
                    yield f"declares fs.{mode} of {scope}, but the code never uses ctx.workspace: remove it"
            elif mode not in named and known and SOMEWHERE not in known and not _covers_one(scope, known):
                yield f"declares fs.{mode} of {scope}, but the code names no path in it: remove it"


def _copies(code: Code) -> bool:
    """``ctx.copy`` reads what it is given."""
    return bool(re.search(r"\bctx\.copy\(", code.source))


def _covers_one(scope: str, known: set[str]) -> bool:
    base = scope.removesuffix("/**")
    return any(path == base or path.startswith(f"{base}/") for path in known)


def _web(manifest: Manifest, used: list[Need], code: Code) -> Iterator[str]:  # noqa: ARG001 -- as the other rules
    http = manifest.capabilities.net.http
    if http is None:
        return
    methods = _values(used, Kind.METHOD)
    if not methods:
        yield "declares net.http, but the code never calls ctx.http: remove it"
        return
    for method in http.methods:
        if SOMEWHERE not in methods and method not in methods:
            yield f"declares the HTTP method {method}, but the code only uses {', '.join(sorted(methods))}: remove it"
    hosts = _values(used, Kind.HOST) - {SOMEWHERE}
    addressed = any(_is_address(inner) for inner in manifest.args["properties"].values())
    if "*" in http.hosts and hosts and not addressed:
        yield f'declares every host, but the code only names {", ".join(sorted(hosts))}: declare these instead of "*"'


def _is_address(schema: dict[str, object]) -> bool:
    items = schema.get("items")
    return schema.get("format") == "uri" or (isinstance(items, dict) and items.get("format") == "uri")


def _programs(manifest: Manifest, used: list[Need], code: Code) -> Iterator[str]:  # noqa: ARG001
    declared = manifest.capabilities.shell.exec
    started = _values(used, Kind.PROGRAM)
    for program in declared.allow if declared else ():
        alone = not started or (started != {SOMEWHERE} and not started & {program, program.rpartition("/")[2]})
        if alone:
            yield f"declares shell.exec of {program}, but the code never starts it: remove it"


def _calls(manifest: Manifest, used: list[Need], code: Code) -> Iterator[str]:  # noqa: ARG001
    called = _values(used, Kind.CALL)
    for name in manifest.capabilities.executor.call:
        if SOMEWHERE not in called and name not in called:
            yield f"declares executor.call of {name}, but the code never calls it: remove it"


def _facts(manifest: Manifest, used: list[Need], code: Code) -> Iterator[str]:  # noqa: ARG001
    can = manifest.capabilities
    if can.mcp.call:
        yield "declares mcp.call, which only the owner gives to a tool, by metnos mcp add: remove it"
    if can.model.chat and not _values(used, Kind.MODEL):
        yield "declares model.chat, but the code never calls ctx.chat: remove it"
    asked = _values(used, Kind.SYSTEM)
    for what in can.system.read:
        if SOMEWHERE not in asked and what not in asked:
            yield f"declares system.read of {what}, but the code never asks for it: remove it"


def _libraries(manifest: Manifest, used: list[Need], code: Code) -> Iterator[str]:
    # The kit imports libraries for whoever uses it, and those must be declared with it.
    imported = _values(used, Kind.LIBRARY) | {name.partition(".")[0] for name, _ in imported_modules(code)}
    for library in manifest.libraries:
        if library not in imported:
            yield f"declares the library {library}, but the code never imports it: remove it"


# -- what our own kit does for the code that imports it


def kit_texts(code: Code) -> Iterator[str]:
    """Every text that the parts of the kit name which the code imports."""
    for module in _kit_modules(code):
        yield from (text for _, text in _kit_code(module).texts)


def _kit_needs(code: Code) -> Iterator[Need]:
    for module in _kit_modules(code):
        yield from _needs_of_kit(module)


def _uses_workspace(code: Code) -> bool:
    return any(_WORKSPACE.search(_kit_source(module)) for module in _kit_modules(code))


def _kit_modules(code: Code) -> Iterator[str]:
    """The modules of the kit that the code imports, and those that they import in turn."""
    waiting, seen = [code], set[str]()
    while waiting:
        for name, _ in imported_modules(waiting.pop()):
            head, _, module = name.partition(".")
            module = module.partition(".")[0]
            if head == _KIT and module and module not in seen and _kit_source(module):
                seen.add(module)
                waiting.append(_kit_code(module))
                yield module


@cache
def _needs_of_kit(module: str) -> tuple[Need, ...]:
    return tuple(gate_needs.needs(_kit_code(module)))


@cache
def _kit_code(module: str) -> Code:
    return Code(_kit_source(module))


@cache
def _kit_source(module: str) -> str:
    """The text of one module of the kit; nothing if there is none of that name."""
    place = resources.files("metnos.sandbox").joinpath("kit", f"{module}.py")
    return place.read_text(encoding="utf-8") if module.isidentifier() and place.is_file() else ""
