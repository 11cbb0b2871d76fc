"""Whether planned steps can be called: arguments against the executor's own schema, references against earlier steps.

What is harmless is put right: ``"3"`` for 3, one path for a list of one, capitals of a choice, a near-miss of an
argument's name, a reference without its field. What is optional and wrong is left out. What is required and wrong is a
problem, and says so.

Rules: pure. A reference may name a step that went before, and a field that this step gives; an argument that is a path
may only refer to a path. Knows nothing of what may happen: that is `model_bounds` and the policy.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from metnos.core.canon import canonical_json
from metnos.core.errors import ExecutorFailed
from metnos.core.nearest import nearest
from metnos.executors import arguments, refs
from metnos.turn.plan.model_read import references
from metnos.turn.plan.records import Step, Tool
from metnos.turn.plan.shape import takes_rows

_MOST_NAMES = 64  # arguments of one call that are looked at
_CLOSE = 0.75  # how alike a mistaken name must be to the one that is meant
_LONGEST_PATH = 4096
_REFERENCE = re.compile(r"\{\{\s*(step[1-9]\d{0,2}|last)((?:\.\w+|\[[\d*]*\])*)\s*\}\}")
_FIELD = re.compile(r"\.(\w+)")
_WHOLE = frozenset({"entries", "results", "count", "total"})
_PATHS, _ADDRESSES = ("to", "path"), ("url",)  # of a mutator, `to` is where the thing is now
_TRUE, _FALSE = frozenset({"true", "yes", "1"}), frozenset({"false", "no", "0"})

Sources = Mapping[str, Tool | None]  # what may be referred to: `step1`, ... and `last`, whose tool is not known


@dataclass(frozen=True, slots=True)
class Checked:
    """A step that can be called, or what is wrong: an argument that is missing, or a problem in words."""

    step: Step
    missing: str = ""
    problem: str = ""


def check(step: Step, tool: Tool, sources: Sources) -> Checked:
    """The step with its arguments put right."""
    given = _named(step.args, tool)
    args: dict[str, Any] = {}
    for name, value in given.items():
        inner = tool.properties[name]
        try:
            right = _right(value, inner, sources)
        except (_NoReference, RecursionError):
            right = _fallback(inner, sources) if name in tool.required else None
        if right is not None and not (right in ("", []) and name not in tool.required):
            args[name] = right
    if not _is_sound(args, tool):
        return Checked(Step(step.executor, {}), problem=f"{tool.name}: an argument is no plain text, or no path")
    return _validated(Step(step.executor, args), tool)


def _is_sound(args: Mapping[str, Any], tool: Tool) -> bool:
    """Whether the arguments are plain JSON, and the paths in them such as people write."""
    try:
        canonical_json(args)
    except (ValueError, TypeError, RecursionError):
        return False
    paths = [each for name, value in args.items() if is_path(tool.properties[name]) for each in _listed(value)]
    return all(each.isprintable() and len(each) <= _LONGEST_PATH for each in paths)


def _listed(value: Any) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]


# -- the schema


def _validated(step: Step, tool: Tool) -> Checked:
    schema = dict(tool.args)
    checker = arguments.compile_schema(schema)
    args = dict(step.args)
    for _ in range(len(args) + 1):
        stood_in = {name: _stand_in(value, tool.properties[name]) for name, value in args.items()}
        try:
            arguments.fill(schema, stood_in, checker, tool.name)
        except ExecutorFailed as error:
            wrong = _optional_culprit(checker, stood_in, tool)
            if wrong is None:
                return Checked(Step(step.executor, args), _missing(args, tool), error.what)
            del args[wrong]
        else:
            return Checked(Step(step.executor, args))
    return Checked(step, problem=f"{tool.name}: the arguments do not fit")


def _optional_culprit(checker: Any, args: Mapping[str, Any], tool: Tool) -> str | None:
    """An argument that is wrong and can be left out."""
    try:
        errors = list(checker.iter_errors(args))
    except (ValueError, TypeError):
        errors = []
    for error in errors:
        place = error.instance_path
        if place and place[0] not in tool.required:
            return str(place[0])
    unplain = (name for name, value in args.items() if name not in tool.required and not _is_plain(value))
    return next(unplain, None)


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _is_plain(each) for key, each in value.items())
    if isinstance(value, list):
        return all(_is_plain(each) for each in value)
    return value is None or isinstance(value, str | int | bool)


def _missing(args: Mapping[str, Any], tool: Tool) -> str:
    absent = next((name for name in tool.required if name not in args), "")
    if not absent and not args:
        # None of several, one of which would do: ask for the first that an alternative names.
        named = [name for branch in tool.args.get("anyOf", ()) for name in branch.get("required", ())]
        absent = next(iter(named), "")
    return f"{tool.name}.{absent}" if absent else ""


def _stand_in(value: Any, inner: Mapping[str, Any]) -> Any:
    """A value for checking: what a reference stands for is not known yet, but it will be of the right kind."""
    if isinstance(value, str) and _REFERENCE.fullmatch(value.strip()):
        return _sample(inner)
    if isinstance(value, list) and references(value) and isinstance(inner.get("items"), Mapping):
        return [_stand_in(each, inner["items"]) for each in value]
    return value


def _sample(inner: Mapping[str, Any]) -> Any:
    if "enum" in inner:
        return inner["enum"][0]
    kind = inner.get("type")
    if kind == "array":
        return [_sample(inner.get("items", {}))]
    text = "http://example.org/" if inner.get("format") == "uri" else "x"
    number = inner.get("minimum", 1)
    return {"integer": number, "number": number, "boolean": True, "object": {}}.get(str(kind), text)


# -- names and values


def _named(given: Mapping[str, Any], tool: Tool) -> dict[str, Any]:
    """The arguments that the tool has, also where a name is nearly right; the others are dropped."""
    known = list(tool.properties)
    found = {name: value for name, value in given.items() if name in tool.properties}
    for name, value in islice(given.items(), _MOST_NAMES):
        close = nearest(str(name), (each for each in known if each not in found), cutoff=_CLOSE)
        if name not in tool.properties and close:
            found[close[0]] = value
    return found


def _right(value: Any, inner: Mapping[str, Any], sources: Sources) -> Any:
    """A value put right; nothing if it is worth nothing."""
    if value is None:
        return None
    if references(value):
        return _referring(value, inner, sources)
    if isinstance(value, list) and inner.get("type") == "array":
        items = inner.get("items", {})
        return [right for each in value if (right := _right(each, items, sources)) is not None]
    if isinstance(value, Mapping) and isinstance(inner.get("properties"), Mapping):
        kinds = inner["properties"]
        righted = {name: _right(each, kinds.get(name, {}), sources) for name, each in value.items()}
        return {name: each for name, each in righted.items() if each is not None}
    return _scalar(value, inner)


def _scalar(value: Any, inner: Mapping[str, Any]) -> Any:
    kind = inner.get("type")
    if isinstance(value, list) and len(value) == 1 and kind != "array":
        value = value[0]
    if kind == "array" and not isinstance(value, list):
        return [_scalar(value, inner.get("items", {}))]
    if "enum" in inner and isinstance(value, str):
        same = [each for each in inner["enum"] if str(each).casefold() == value.strip().casefold()]
        return same[0] if same else value
    if kind in ("integer", "number"):
        return _number(value, whole=kind == "integer")
    if kind == "boolean" and isinstance(value, str):
        said = value.strip().casefold()
        return True if said in _TRUE else False if said in _FALSE else value
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return str(value)
    return value


def _number(value: Any, *, whole: bool) -> Any:
    if isinstance(value, str):
        try:
            value = float(value.strip().replace(",", "."))
        except ValueError:
            return value
    if isinstance(value, float) and math.isfinite(value) and value == int(value) and (whole or abs(value) < 1e15):
        return int(value) if whole or value.is_integer() else value
    return value


# -- references


class _NoReference(Exception):
    """A reference that leads nowhere."""


def _referring(value: Any, inner: Mapping[str, Any], sources: Sources) -> Any:
    if isinstance(value, list):
        items = inner.get("items", inner) if inner.get("type") == "array" else inner
        if takes_rows(inner) or inner.get("type") != "array":
            return _referring(value[0], inner, sources)  # a list of one reference, where the reference is meant
        return [
            _element(each, items, inner, sources) if references(each) else _right(each, items, sources)
            for each in value
        ]
    if isinstance(value, Mapping):
        kinds = inner.get("properties", {})
        return {name: _right(each, kinds.get(name, {}), sources) for name, each in value.items()}
    whole = _REFERENCE.fullmatch(str(value).strip())
    if whole is None:
        return _inside(str(value), inner, sources)
    found = _reference(whole, inner, sources)
    return [found] if inner.get("type") == "array" and not takes_rows(inner) else found


def _element(value: Any, items: Mapping[str, Any], inner: Mapping[str, Any], sources: Sources) -> Any:
    whole = _REFERENCE.fullmatch(str(value).strip()) if isinstance(value, str) else None
    if whole is None:
        return _right(value, items, sources) if not isinstance(value, str) else _inside(value, inner, sources)
    return _reference(whole, inner, sources)


def _inside(text: str, inner: Mapping[str, Any], sources: Sources) -> str:
    """References inside a longer text: each must lead somewhere, and a path must not be patched together."""
    if is_path(inner) or is_address(inner):
        raise _NoReference
    put = _REFERENCE.sub(lambda found: _reference(found, {"type": "string"}, sources), text)
    if "{{" in _REFERENCE.sub("", put):
        raise _NoReference
    return put


def _reference(found: re.Match[str], inner: Mapping[str, Any], sources: Sources) -> str:
    """One reference in its proper form: the step, its list, and the field that the argument needs."""
    step = found[1]
    if step not in sources:
        raise _NoReference
    tool = sources[step]
    key = tool.result_key if tool is not None else "entries"
    fields = [each for each in _FIELD.findall(found[2]) if each not in ("entries", "results")]
    if takes_rows(inner):
        return f"{{{{{step}.{key}}}}}"
    if fields[:1] and fields[0] in _WHOLE and inner.get("type") in ("integer", "number", "string"):
        return f"{{{{{step}.{fields[0]}}}}}"
    field = _field(fields, tool, inner)
    place = "" if inner.get("type") == "array" else "[0]"
    return f"{{{{{step}.{key}{place}.{field}}}}}"


def _field(fields: Sequence[str], tool: Tool | None, inner: Mapping[str, Any]) -> str:
    wanted = fields[-1] if fields else ""
    given: list[str] = list(tool.output.get("properties", {})) if tool is not None else []
    if is_path(inner) or is_address(inner):
        kinds = _PATHS if is_path(inner) else _ADDRESSES
        if tool is None:
            return kinds[-1]
        there = [name for name in kinds if name in given and (name == wanted or name != "to" or tool.mutates)]
        if wanted in there:
            return wanted
        if not there:
            raise _NoReference
        return there[0]
    if tool is None or gives_rows(tool):
        if not wanted:
            raise _NoReference
        return wanted
    close = nearest(wanted, given, cutoff=_CLOSE)
    if not close:
        raise _NoReference
    return close[0]


def _fallback(inner: Mapping[str, Any], sources: Sources) -> Any:
    """What a required argument most likely means when its reference leads nowhere: the nearest step that gives it."""
    for step in reversed([name for name in sources if name != refs.LAST]):
        found = _REFERENCE.fullmatch(f"{{{{{step}}}}}")
        try:
            if found is not None and (takes_rows(inner) or is_path(inner) or is_address(inner)):
                right = _reference(found, inner, sources)
                return [right] if inner.get("type") == "array" and not takes_rows(inner) else right
        except _NoReference:
            continue
    return None


def is_path(inner: Mapping[str, Any]) -> bool:
    return arguments.PATH_KEY in inner


def is_address(inner: Mapping[str, Any]) -> bool:
    """Whether an argument is an address of the web, or a list of them."""
    items = inner.get("items")
    return inner.get("format") == "uri" or (isinstance(items, Mapping) and items.get("format") == "uri")


def gives_rows(tool: Tool) -> bool:
    """Whether the entries are rows of a table, whose columns only the table knows."""
    return len(tool.output.get("properties", {})) <= 1


def is_written(value: str, text: str) -> bool:
    """Whether the path stands in the owner's words as it is, and not as a part of another."""
    plain = value.rstrip("/")
    if not plain.strip("~./"):
        return False
    return re.search(rf"(?<![\w/~.-]){re.escape(plain)}(?![\w/-]|\.\w)", text) is not None
