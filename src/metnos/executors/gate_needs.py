"""What a piece of code uses that a manifest can declare: files, hosts, programs, executors, models, facts, libraries.

Rules: a path or an address counts wherever it is written out or can be folded together, not only where it is opened;
a file function with a path that is known only when it runs needs *some* scope. A private ``/tmp`` needs none. Does not
know what a computed path will be: the sandbox shows only what the call permits, and the broker checks every change.
"""

import ast
import fnmatch
import ipaddress
import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from metnos.executors import gate_tables as tables
from metnos.executors.gate_code import Code, argument, line_of, program
from metnos.executors.gate_fold import UNKNOWN
from metnos.executors.gate_record import SOMEWHERE, Declared, Finding, Kind, Need
from metnos.executors.gate_rules import ALLOWED_BELOW, imported_modules, module_rule
from metnos.law.forbidden import Access, why_forbidden

_ROOTS = "|".join(map(re.escape, tables.SYSTEM_ROOTS))
_ALL_ROOTS = "|".join(map(re.escape, tables.SYSTEM_ROOTS + tables.OTHER_ROOTS))
_PATH = re.compile(rf"(?:/(?:{_ALL_ROOTS})(?:/.*)?|~[a-z_]*(?:/.*)?)", re.DOTALL)
_SYSTEM = re.compile(rf"/(?:{_ROOTS})(?:/.*)?", re.DOTALL)
_IN_COMMAND = re.compile(rf"(?:^|[\s'\"=:<>|;&(])(/(?:{_ROOTS})(?:/[\w.*@+-]+)*)")
_CLIMBS = re.compile(rf"(?:^|/)\.\./(?:\.\./)*(?:{_ALL_ROOTS})/|(?:\.\./){{3}}")
_URL = re.compile(r"(?:https?|ftps?|wss?|sftp|file)://\S*", re.IGNORECASE)
_WRITING = re.compile(r"[wax+]")
_TEMPORARY = re.compile(r"/(?:tmp|var/tmp)(?:/.*)?", re.DOTALL)
_HANDED_ON = (
    (tables.PROGRAM_CALLS, Kind.PROGRAM),
    (tables.WRITE_CALLS, Kind.WRITE),
    (tables.READ_CALLS, Kind.READ),
)
_FILE_RULE = "direct-write"


# -- what the code needs


def needs(code: Code) -> Iterator[Need]:
    for rule in (_libraries, _host_facts, _handed_on, _programs, _files, _literal_paths, _addresses, _context):
        yield from rule(code)


def _libraries(code: Code) -> Iterator[Need]:
    for name, node in imported_modules(code):
        head = name.partition(".")[0]
        if name.startswith(ALLOWED_BELOW):
            continue
        if module_rule(name) or head in tables.HARMLESS or head in tables.HARMLESS_HALVES:
            continue
        if head in tables.HOST_FACTS:
            yield Need(
                Kind.SYSTEM, "host", line_of(node), f"import of {name}: facts about this machine; use ctx.system"
            )
        elif head == "subprocess":
            yield Need(Kind.PROGRAM, SOMEWHERE, line_of(node), "import of subprocess: starts programs")
        else:
            # A module of the standard library that no table names is one that nobody has looked at.
            known = head not in sys.stdlib_module_names
            yield Need(Kind.LIBRARY, head, line_of(node), f"import of {name}", inferable=known)


def _host_facts(code: Code) -> Iterator[Need]:
    for node in code.nodes:
        if isinstance(node, ast.Name | ast.Attribute | ast.Call):
            for name in code.real(node) & tables.HOST_CALLS:
                yield Need(Kind.SYSTEM, "host", line_of(node), f"{name}: a fact about this machine; use ctx.system")


def _handed_on(code: Code) -> Iterator[Need]:
    """A function that is not called here but given to someone who may: ``map(os.remove, paths)``."""
    called = {id(call.func) for call in code.calls}
    for node in code.nodes:
        if not isinstance(node, ast.Name | ast.Attribute) or id(node) in called or not isinstance(node.ctx, ast.Load):
            continue
        for name in code.real(node) - {"builtins.open"}:
            for members, kind in _HANDED_ON:
                if name in members and not isinstance(code.parent(node), ast.Assign):
                    yield Need(kind, SOMEWHERE, line_of(node), f"{name}, handed on")
        if "builtins.open" in code.real(node) and isinstance(code.parent(node), ast.Call):
            yield Need(Kind.READ, SOMEWHERE, line_of(node), "open, handed on")


def _programs(code: Code) -> Iterator[Need]:
    for call in code.calls:
        if not code.real(call.func) & tables.PROGRAM_CALLS:
            continue
        started = program(code, call)
        yield Need(Kind.PROGRAM, started or SOMEWHERE, line_of(call), f"starts {started or 'a program'}")
        yield from _paths_in_command(code, call)


def _paths_in_command(code: Code, call: ast.Call) -> Iterator[Need]:
    for node in ast.walk(call):
        text = code.fold.text(node) if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp) else None
        for match in _IN_COMMAND.finditer(text or ""):
            if not match[1].startswith(("/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/")):
                yield Need(Kind.READ, match[1], line_of(call), f"gives a program the path {match[1]}", inferable=False)


def _files(code: Code) -> Iterator[Need]:
    for call in code.calls:
        for name in code.real(call.func):
            if name in tables.WRITE_CALLS:
                for position in tables.WRITE_TARGETS.get(name, (0,)):
                    yield from _write(code, call, argument(call, position, "path"), name)
            elif name in tables.MODE_CALLS and _writes(code, call, tables.MODE_CALLS[name]):
                yield from _write(code, call, argument(call, 0, "file"), name)
            elif name in tables.READ_CALLS:
                yield from _read(code, call, argument(call, 0, "file"), name)
        if isinstance(call.func, ast.Attribute) and not code.real(call.func):
            yield from _path_method(code, call, call.func)


def _path_method(code: Code, call: ast.Call, function: ast.Attribute) -> Iterator[Need]:
    """Methods of ``Path``, and the ``save`` that every document library has."""
    name = function.attr
    if name in tables.WRITE_METHODS:
        yield from _write(code, call, function.value, f".{name}")
    elif name in tables.READ_METHODS:
        yield from _read(code, call, function.value, f".{name}")
    elif name == "open" and _opens_path(code, call):
        kind = _write if _writes(code, call, 0) else _read
        yield from kind(code, call, function.value, ".open")
    elif name == "save" and call.args and code.fold.text(call.args[0]) is not None:
        yield from _write(code, call, call.args[0], ".save")


def _opens_path(code: Code, call: ast.Call) -> bool:
    mode = code.fold.text(argument(call, 0, "mode"))
    return mode is not None and re.fullmatch(r"[rwaxbt+]{1,4}", mode) is not None


def _read(code: Code, call: ast.Call, path: ast.expr | None, name: str) -> Iterator[Need]:
    text = code.fold.text(path)
    if text in {":memory:", ""} or _number(code, path) or (path is None and name in {"builtins.open", "io.open"}):
        return
    if text is not None and _is_absolute(text):
        yield _path_need(Kind.READ, text, line_of(call), f"{name} of {_shown(text)}")
    elif not _is_temporary(code, path):
        yield Need(Kind.READ, SOMEWHERE, line_of(call), f"{name} of {_shown(text)}")


def _write(code: Code, call: ast.Call, path: ast.expr | None, name: str) -> Iterator[Need]:
    if not _number(code, path) and not _is_temporary(code, path):
        yield Need(
            Kind.WRITE, SOMEWHERE, line_of(call), f"{name} of {_shown(code.fold.text(path))}; use ctx.write or ctx.put"
        )


def _writes(code: Code, call: ast.Call, position: int) -> bool:
    mode = argument(call, position, "mode")
    if mode is None:
        return False
    text = code.fold.text(mode)
    return text is None or _WRITING.search(text) is not None


def _number(code: Code, path: ast.expr | None) -> bool:
    """A file descriptor that someone has opened already."""
    return isinstance(code.fold.value(path), int)


def _literal_paths(code: Code) -> Iterator[Need]:
    for node, text in code.texts:
        if _PATH.fullmatch(text) and not isinstance(code.parent(node), ast.Compare):
            yield _path_need(Kind.READ, text, line_of(node), f"names {_shown(text)}")


def _path_need(kind: Kind, text: str, line: int, what: str) -> Need:
    path = normal(text)
    return Need(kind, path, line, what, inferable=_SYSTEM.fullmatch(path) is None)


def _addresses(code: Code) -> Iterator[Need]:
    for node, text in code.texts:
        if _URL.fullmatch(text):
            host = _host(text)
            if host and host not in tables.NAMESPACE_HOSTS:
                yield Need(Kind.HOST, host, line_of(node), f"names the host {host}", inferable=not _is_number(host))


def _context(code: Code) -> Iterator[Need]:
    for call in code.calls:
        function = call.func
        if (
            not isinstance(function, ast.Attribute)
            or not isinstance(function.value, ast.Name)
            or function.value.id != "ctx"
        ):
            continue
        line, first = line_of(call), code.fold.text(argument(call, 0)) or SOMEWHERE
        if function.attr in tables.CONTEXT_WRITES:
            yield Need(Kind.WRITE, SOMEWHERE, line, f"ctx.{function.attr}")
        elif function.attr == "http":
            yield Need(Kind.METHOD, first.upper(), line, f"ctx.http {first}")
            yield Need(Kind.HOST, SOMEWHERE, line, "ctx.http")
        elif function.attr == "call":
            yield Need(Kind.CALL, first, line, f"ctx.call of {first or 'a computed name'}")
        elif function.attr == "chat":
            yield Need(Kind.MODEL, "", line, "ctx.chat")
        elif function.attr == "mcp":
            yield Need(Kind.MCP, "", line, "ctx.mcp")
        elif function.attr == "system":
            yield Need(Kind.SYSTEM, first, line, f"ctx.system of {first or 'a computed name'}")


# -- files in a way that no declaration waives


def file_findings(code: Code) -> Iterator[Finding]:
    """Changes past ctx to paths that are known, and paths that climb out of where they were put."""
    for need_call, path, name in _write_calls(code):
        text = code.fold.text(path)
        if (
            text is not None
            and _is_absolute(text)
            and not _TEMPORARY.fullmatch(normal(text))
            and text not in tables.NO_FILES
        ):
            yield Finding(_FILE_RULE, line_of(need_call), f"{name} of {_shown(text)}: every change goes through ctx")
        elif path is not None and _from_arguments(code, path):
            yield Finding(_FILE_RULE, line_of(need_call), f"{name} of an argument: every change goes through ctx")
    for node, text in code.texts:
        if (
            _PATH.fullmatch(text)
            and (what := why_forbidden(_outside(text), Access.READ))
            and text not in tables.NO_FILES
        ):
            yield Finding("forbidden-path", line_of(node), f"names {_shown(text)}, which belongs to {what}")
        if _CLIMBS.search(text):
            yield Finding("traversal", line_of(node), "a path that climbs to where it was not put")


def _outside(text: str) -> Path:
    """Some home stands for ``~``: the rule for one holds in every one."""
    path = normal(text)
    return Path("/home/owner" + path.removeprefix("~")) if path.startswith("~") else Path(path)


def _write_calls(code: Code) -> Iterator[tuple[ast.Call, ast.expr | None, str]]:
    for call in code.calls:
        for name in code.real(call.func):
            if name in tables.WRITE_CALLS:
                yield from ((call, argument(call, each), name) for each in tables.WRITE_TARGETS.get(name, (0,)))
            elif name in tables.MODE_CALLS and _writes(code, call, tables.MODE_CALLS[name]):
                yield call, argument(call, 0, "file"), name
        if isinstance(call.func, ast.Attribute) and not code.real(call.func):
            opened = call.func.attr == "open" and _opens_path(code, call) and _writes(code, call, 0)
            if call.func.attr in tables.WRITE_METHODS or opened:
                yield call, call.func.value, f".{call.func.attr}"


def _from_arguments(code: Code, path: ast.expr) -> bool:
    """``args["path"]`` and what is made from it by name."""
    for node in _traced(code, path):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == "args":
            run = code.function_of(node)
            return run is not None and run.name == "run"
    return False


def _is_temporary(code: Code, path: ast.expr | None) -> bool:
    """Whether a path is certainly below the private /tmp, or made from something that is."""
    text = code.fold.text(path)
    if text is not None and not text.startswith(UNKNOWN):
        return _TEMPORARY.fullmatch(normal(text)) is not None or text in tables.NO_FILES
    for node in _traced(code, path):
        if any(name.startswith("tempfile.") for name in code.real(node)):
            return True
        found = code.fold.text(node)
        if found is not None and _TEMPORARY.fullmatch(normal(found)):
            return True
    return False


def _traced(
    code: Code, path: ast.expr | None, depth: int = 6, seen: dict[int, int] | None = None
) -> Iterator[ast.expr]:
    """The expressions that ``path`` is made from, through names."""
    seen = {} if seen is None else seen  # how far each was followed: names made of one another would take forever
    if path is None or seen.get(id(path), 0) >= depth:
        return
    seen[id(path)] = depth
    for node in ast.walk(path):
        if isinstance(node, ast.expr):
            yield node
        if isinstance(node, ast.Name):
            for value in code.names.values(node.id)[:4]:
                yield from _traced(code, value, depth - 1, seen)


# -- whether it was declared


def satisfied(need: Need, declared: Declared) -> bool:
    if need.kind is Kind.READ:
        return _in_scopes(need.value, declared.read + declared.write)
    if need.kind is Kind.WRITE:
        return _in_scopes(need.value, declared.write)
    if need.kind is Kind.HOST:
        return any(fnmatch.fnmatchcase(need.value or each, each) for each in declared.hosts)
    if need.kind is Kind.METHOD:
        return bool(declared.methods) if need.value == SOMEWHERE else need.value in declared.methods
    if need.kind is Kind.PROGRAM:
        return any(need.value in {SOMEWHERE, each, posixpath.basename(each)} for each in declared.programs)
    if need.kind is Kind.MODEL:
        return declared.model
    if need.kind is Kind.MCP:
        return declared.mcp
    listed = {Kind.CALL: declared.calls, Kind.SYSTEM: declared.system, Kind.LIBRARY: declared.libraries}[need.kind]
    return bool(listed) if need.value == SOMEWHERE else need.value in listed


def _in_scopes(path: str, scopes: tuple[str, ...]) -> bool:
    if path == SOMEWHERE:
        return bool(scopes)
    if _TEMPORARY.fullmatch(path) or path in tables.NO_FILES:
        return True
    for scope in scopes:
        base = scope.removesuffix("/**")
        if path == base or (
            scope.endswith("/**") and (path.startswith(base + "/") or (base == "" and path.startswith("/")))
        ):
            return True
    return False


def normal(text: str) -> str:
    """A written path without ``.``, ``..`` and ``//``, cut where it stops being known."""
    known, unknown, _ = text.partition(UNKNOWN)
    known = known.rpartition("/")[0] + "/" if unknown and "/" in known else known
    path = posixpath.normpath(known) if known else known
    return "/" + path.lstrip("/") if path.startswith("/") else path


def _is_absolute(text: str) -> bool:
    return text.startswith(("/", "~"))


def _shown(text: str | None) -> str:
    return "a computed path" if text is None else repr(text.replace(UNKNOWN, "{}")[:80])


def _host(url: str) -> str:
    try:
        return (urlsplit(url.partition(UNKNOWN)[0]).hostname or "").lower()
    except ValueError:
        return "?"  # no address a browser would take: no pattern but `*` allows it


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or PurePosixPath(host).suffix in {".onion", ".i2p"}
    return True
