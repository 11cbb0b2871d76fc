"""From a sketch to the three files of an executor. Pure, and the same each time.

The function that a model wrote stands as it is; around it stands code of ours that takes the arguments, works on one
item after the other where that was agreed, turns what goes wrong into failures and keeps within the limit. Capabilities
follow from the arguments and from nothing else: what names a file or a folder may be read, and nothing may be changed.
"""

import ast
import re
from functools import cache
from typing import Any

from metnos.synt.draft import Draft, tests_toml, toml
from metnos.synt.sketch import Case, Field, Sketch, Type

_SCOPE = "~/**"  # what a call names, anywhere at home; the policy decides on each call
_MOST_ITEMS, _MOST_TEXT = 10_000, 1_000_000
_SCHEMAS: dict[Type, dict[str, Any]] = {
    Type.TEXT: {"type": "string", "maxLength": _MOST_TEXT},
    Type.NUMBER: {"type": "number"},
    Type.INTEGER: {"type": "integer"},
    Type.BOOLEAN: {"type": "boolean"},
    Type.TEXTS: {"type": "array", "maxItems": _MOST_ITEMS, "items": {"type": "string", "maxLength": _MOST_TEXT}},
    Type.NUMBERS: {"type": "array", "maxItems": _MOST_ITEMS, "items": {"type": "number"}},
    Type.OBJECT: {"type": "object"},
    Type.OBJECTS: {"type": "array", "maxItems": _MOST_ITEMS, "items": {"type": "object"}},
    Type.FILE: {"type": "string", "x-path": "read"},
    Type.FOLDER: {"type": "string", "x-path": "read"},
}
_EACH = """

def run(args, ctx):
    entries, failures = [], []
    for {item} in args["{each}"]:
        try:
            entries.append({entry})
        except ValueError as error:
            failures.append(ctx.failure({item}, "invalid", str(error)))
    if failures and not entries:
        ctx.fail("invalid", failures[0]["message"])
    return {{"entries": entries[: ctx.limit], "total": len(entries), "failures": failures}}
"""
_EACH_SURELY = """

def run(args, ctx):
    entries = [{entry} for {item} in args["{each}"]]
    return {{"entries": entries[: ctx.limit], "total": len(entries)}}
"""
_WHOLE = """

def run(args, ctx):
    try:
        entries = {call}{missing}{refused}
    return {{"entries": entries[: ctx.limit], "total": len(entries)}}
"""
_WHOLE_SURELY = """

def run(args, ctx):
    entries = {call}
    return {{"entries": entries[: ctx.limit], "total": len(entries)}}
"""
_MISSING = """
    except FileNotFoundError as error:
        ctx.fail("not_found", f"there is no {error.filename}")"""
_REFUSED = """
    except ValueError as error:
        ctx.fail("invalid", str(error))"""
# What of the standard library raises ValueError where somebody's text makes no sense.
_CHOOSY = frozenset(
    ("int", "float", "Decimal", "Fraction", "date", "datetime", "time", "timedelta", "strptime", "fromisoformat",
     "fromtimestamp", "loads", "index", "remove", "chr", "UUID", "fromhex", "b64decode", "b32decode", "b16decode",
     "urlsplit", "urlparse", "sqrt", "log", "log2", "log10", "factorial", "comb", "mean", "median", "mode", "stdev",
     "max", "min", "fill", "wrap", "range"),
)  # fmt: skip


def draft(sketch: Sketch) -> Draft:
    """The files of a sketch that every stage has worked on."""
    return Draft(sketch.name, manifest(sketch), code(sketch), tests(sketch))


def args_schema(sketch: Sketch) -> dict[str, Any]:
    """The arguments as the manifest has them."""
    made: dict[str, Any] = {}
    required = [each.name for each in sketch.takes if not each.optional]
    if required:
        made["required"] = required
    made["properties"] = {each.name: _argument(each) for each in sketch.takes}
    return made


def output_schema(sketch: Sketch) -> dict[str, Any]:
    """One entry as the manifest has it."""
    fields = {each.name: schema_of(each.type, place=False) for each in sketch.gives}
    if sketch.echoes:
        listed = next(each for each in sketch.takes if each.name == sketch.each)
        fields = {sketch.item: schema_of(listed.type.item, place=False), **fields}
    return {"type": "object", "required": list(fields), "properties": fields}


def manifest(sketch: Sketch) -> str:
    table: dict[str, Any] = {
        "name": sketch.name,
        "version": sketch.version,
        "purpose": sketch.purpose,
        "kind": "producer",
        "reversal": "nothing",
        "args": args_schema(sketch),
        "output": output_schema(sketch),
        "capabilities": {"fs": {"read": [_SCOPE]}} if any(each.type.is_place for each in sketch.takes) else {},
        "examples": [{"say": each, "args": _example(sketch)} for each in sketch.says],
    }
    return toml({name: value for name, value in table.items() if value != {}})


def code(sketch: Sketch) -> str:
    """What stands around the function, and the function."""
    tree = ast.parse(sketch.body)
    lines = sketch.body.splitlines()
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    taken = {number for node in imports for number in range(node.lineno - 1, (node.end_lineno or node.lineno))}
    above = "\n".join(ast.unparse(node) for node in imports)
    below = "\n".join(line for number, line in enumerate(lines) if number not in taken).strip("\n")
    return f'"""{_plain(sketch.purpose)}"""\n\n{above}\n{run(sketch)}\n\n{below}\n'


def run(sketch: Sketch) -> str:
    """The part that is ours."""
    values = [_passed(each, sketch) for each in sketch.takes]
    call = f"{sketch.name}({', '.join(values)})"
    if sketch.each:
        echo = f'"{sketch.item}": {sketch.item}, ' if sketch.echoes else ""
        entry = f"{{{echo}**{call}}}" if echo else call
        form = _EACH if _refuses(sketch.body) else _EACH_SURELY
        return form.format(item=sketch.item, each=sketch.each, entry=entry)
    missing = _MISSING if any(each.type.is_place for each in sketch.takes) else ""
    refused = _REFUSED if _refuses(sketch.body) else ""
    form = _WHOLE if missing or refused else _WHOLE_SURELY
    return form.format(call=call, missing=missing, refused=refused)


def _passed(field: Field, sketch: Sketch) -> str:
    """An argument as the function gets it: a whole number that was said to be any number comes as a float."""
    if field.name == sketch.each:
        return f"float({sketch.item})" if field.type is Type.NUMBERS else sketch.item
    given = f'args["{field.name}"]'
    if field.type is Type.NUMBERS:
        return f"[float(each) for each in {given}]"
    return f"float({given})" if field.type is Type.NUMBER else given


def is_ours(run: ast.FunctionDef) -> bool:
    """Whether a function is what stands around one, to the letter: then there is nothing of a model in it."""
    text = ast.unparse(run)
    return any(form.fullmatch(text) for form in _forms())


@cache
def _forms() -> tuple[re.Pattern[str], ...]:
    """Every form of `run`, with names in the places where a sketch puts its own."""
    taken = r"args\['\w+'\]"
    value = rf"(?:\w+|float\(\w+\)|float\({taken}\)|\[float\(each\) for each in {taken}\]|{taken})"
    call = rf"\w+\({value}(?:, {value})*\)"
    places = {"ITEM": r"\w+", "EACH": r"\w+", "CALL": call, "ENTRY": rf"(?:\{{'\w+': \w+, \*\*{call}\}}|{call})"}
    made = [form.format(item="ITEM", each="EACH", entry="ENTRY") for form in (_EACH, _EACH_SURELY)]
    made += [_WHOLE.format(call="CALL", missing=missing, refused=refused)
             for missing in ("", _MISSING) for refused in ("", _REFUSED) if missing or refused]  # fmt: skip
    made.append(_WHOLE_SURELY.format(call="CALL"))
    patterns = (re.escape(ast.unparse(ast.parse(form))) for form in made)
    return tuple(re.compile(re.sub("|".join(places), lambda found: places[found[0]], each)) for each in patterns)


def _refuses(body: str) -> bool:
    """Whether a function may refuse its arguments: a handler that nothing reaches is one that no test can prove."""
    nodes = list(ast.walk(ast.parse(body)))
    called = [each.func for each in nodes if isinstance(each, ast.Call)]
    names = {each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "") for each in called}
    return any(isinstance(each, ast.Raise) for each in nodes) or not _CHOOSY.isdisjoint(names)


def tests(sketch: Sketch) -> str:
    return tests_toml([_test(case, number) for number, case in enumerate(sketch.cases, start=1)])


def _test(case: Case, number: int) -> dict[str, Any]:
    how = "seen" if case.observed else "edge" if case.edge else "refused" if case.error else "example"
    made: dict[str, Any] = {"name": f"{how} {number}", "args": dict(case.args)}
    if case.files:
        made["files"] = dict(case.files)
    if case.error:
        made["expect_error"] = case.error
    else:
        made["expect"] = {"entries": [dict(each) for each in case.entries]}
    return made


def _argument(each: Field) -> dict[str, Any]:
    made = {**schema_of(each.type), "description": each.description}
    if each.type.is_list and not each.optional:
        made["minItems"] = 1
    return {**made, "default": each.default} if each.optional else made


def schema_of(kind: Type, *, place: bool = True) -> dict[str, Any]:
    """A type as a schema; without a ``place`` as a part of what comes out, which names none and has no bounds."""
    return {key: value for key, value in _SCHEMAS[kind].items() if place or key not in ("x-path", "maxLength")}


def _example(sketch: Sketch) -> dict[str, Any]:
    """The arguments of the first case that is no error, as a person would give them."""
    first = next((case for case in sketch.cases if not case.error), None)
    return {} if first is None else {name: _homely(value) for name, value in first.args.items()}


def _homely(value: Any) -> Any:
    return value.replace("{box}", "~") if isinstance(value, str) else value


def _plain(text: str) -> str:
    return text.replace("\\", " ").replace('"', "'")
