"""The JSON Schemas of a manifest: what an executor takes, and what one entry of its reply looks like.

Rules: draft 2020-12, with nothing that points elsewhere (``$ref`` and its kin: compiling one would reach for the
network) and patterns of the linear kind only, so that no input can make checking slow. Arguments not in the schema are
refused. Messages name the argument and what it should be, never its value: a value may be the owner's content.
"""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import jsonschema_rs
from jsonschema_rs import Draft202012Validator, RegexOptions, ValidationError

from metnos.core.canon import canonical_json
from metnos.core.errors import ExecutorFailed, ManifestError
from metnos.core.nearest import nearest

Schema = dict[str, Any]
_MOST_NAMES = 8  # of unknown ones that an error says
PATH_KEY = "x-path"
INNER_KEY = "x-inner"  # an argument that Metnos gives by itself: nobody who plans is shown it

_TOP = frozenset(
    ("type", "properties", "required", "additionalProperties", "description", "anyOf", "oneOf", "allOf", "not",
     "dependentRequired", "minProperties", "maxProperties", "if", "then", "else")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PathArgument:
    """An argument that is a path, or a list of paths, and what is done with it."""

    name: str
    mode: Literal["read", "write"]
    many: bool


def check_args(schema: Mapping[str, Any]) -> Schema:
    """The schema of the arguments in its full form, or an error that says what is wrong with it."""
    if schema.get("type", "object") != "object":
        raise ManifestError("`args` must be of type object")
    if schema.get("additionalProperties", False) is not False:
        raise ManifestError("`args.additionalProperties` is always false", fix="Remove it.")
    unknown = sorted(set(schema) - _TOP)
    if unknown:
        raise ManifestError(
            f"`args.{unknown[0]}` is not allowed there", fix="Arguments stand in [args.properties.NAME]."
        )
    full = {"properties": {}, **schema, "type": "object", "additionalProperties": False}
    _check_schema(full, "args")
    for name, inner in full["properties"].items():
        _check_argument(name, inner)
    for name in full.get("required", ()):
        if name not in full["properties"]:
            raise ManifestError(f"`args.required` names {name!r}, which is no argument")
    return full


def check_output(schema: Mapping[str, Any]) -> Schema:
    """The schema of one entry, or an error that says what is wrong with it."""
    if schema.get("type") != "object" or not schema.get("properties"):
        raise ManifestError('`output` must have type = "object" and properties', fix="It describes one entry.")
    _check_schema(schema, "output")
    found = _find_key(schema, PATH_KEY)
    if found:
        raise ManifestError(f"`output` holds {PATH_KEY}, which only arguments have", fix="Remove it.")
    for name in schema.get("required", ()):
        if name not in schema["properties"]:
            raise ManifestError(f"`output.required` names {name!r}, which is no property")
    return dict(schema)


def path_arguments(schema: Schema) -> tuple[PathArgument, ...]:
    """Which arguments are paths, in the order of the schema."""
    return tuple(
        PathArgument(name, inner[PATH_KEY], inner["type"] == "array")
        for name, inner in schema["properties"].items()
        if PATH_KEY in inner
    )


def compile_schema(schema: Schema) -> Draft202012Validator:
    return Draft202012Validator(schema, pattern_options=RegexOptions())


def fill(schema: Schema, args: Mapping[str, Any], check: Draft202012Validator, name: str) -> dict[str, Any]:
    """The arguments with their defaults, checked; an error lists everything that is wrong."""
    try:
        canonical_json(args)  # the checker would take NaN for null, and bytes for a mistake of ours
        filled = _with_defaults(schema, args)
        problems = [explain(error, schema, given=args) for error in check.iter_errors(filled)]
    except (ValueError, TypeError, RecursionError) as error:
        raise ExecutorFailed(f"{name}: the arguments are not plain JSON values", kind="invalid") from error
    if problems:
        known = ", ".join(schema["properties"]) or "none"
        unique = list(dict.fromkeys(problems))
        raise ExecutorFailed(f"{name}: {'; '.join(unique)}", kind="invalid", fix=f"It takes: {known}.")
    return filled


def explain(error: ValidationError, schema: Schema | None = None, given: Mapping[str, Any] | None = None) -> str:
    """One problem in words, without the value that has it."""
    place = _place(error.instance_path)
    kind = error.kind
    if kind.name == "additionalProperties":
        return _unexpected(kind.value, place, schema)
    if kind.name == "required":
        return f"{place}`{kind.value}` is missing" if place else f"`{kind.value}` is missing"
    words = _WORDS.get(kind.name, lambda _: "does not follow its schema")(kind.value)
    if not place and given is not None:
        return f"the arguments together: {words}"
    return f"{place}{words}"


def _unexpected(names: Sequence[str], place: str, schema: Schema | None) -> str:
    known = list(schema["properties"]) if schema else []
    said = []
    for name in names[:_MOST_NAMES]:
        close = nearest(name, known, cutoff=0.5)
        said.append(f"{place}there is no `{name}`" + (f" (did you mean `{close[0]}`?)" if close else ""))
    more = len(names) - len(said)
    return "; ".join([*said, *([f"and {more} more such names"] if more else [])])


def _types(value: Any) -> str:
    names = value if isinstance(value, list) else [value]
    return f"must be {' or '.join(_TYPE_WORDS.get(str(name), str(name)) for name in names)}"


def _alternatives(value: Any) -> str:
    """For `anyOf` and its kin over names of arguments: which would do."""
    wanted = [
        " and ".join(f"`{error.kind.value}`" for error in branch if error.kind.name == "required") for branch in value
    ]
    named = [text for text in wanted if text]
    return f"one of these is needed: {', or '.join(named)}" if len(named) == len(wanted) else "fits no allowed form"


_TYPE_WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "nothing",
}
_WORDS: dict[str, Callable[[Any], str]] = {
    "type": _types,
    "enum": lambda value: f"must be one of {', '.join(map(str, value))}",
    "const": lambda value: f"must be {value}",
    "minimum": lambda value: f"must be at least {value}",
    "maximum": lambda value: f"must be at most {value}",
    "exclusiveMinimum": lambda value: f"must be more than {value}",
    "exclusiveMaximum": lambda value: f"must be less than {value}",
    "multipleOf": lambda value: f"must be a multiple of {value}",
    "minLength": lambda value: f"must have at least {value} characters",
    "maxLength": lambda value: f"must have at most {value} characters",
    "minItems": lambda value: f"must have at least {value} items",
    "maxItems": lambda value: f"must have at most {value} items",
    "minProperties": lambda value: f"needs at least {value} of them",
    "maxProperties": lambda value: f"takes at most {value} of them",
    "uniqueItems": lambda _: "must not hold anything twice",
    "pattern": lambda value: f"must look like {value}",
    "format": lambda value: f"must be of the form {value}",
    "anyOf": _alternatives,
    "oneOf": _alternatives,
}


def _check_schema(schema: Mapping[str, Any], where: str) -> None:
    """Whether it is a schema at all, with nothing in it that points elsewhere."""
    pointer = _find_key(schema, "$")
    if pointer:
        raise ManifestError(f"`{where}` holds {pointer!r}, which is not allowed", fix="Write the schema out in place.")
    try:
        canonical_json(schema)
        jsonschema_rs.meta.validate({**schema, "$schema": "https://json-schema.org/draft/2020-12/schema"})
        compile_schema(dict(schema))
    except ValidationError as error:
        at = ".".join(str(part) for part in (where, *error.instance_path))
        raise ManifestError(f"`{at}` is not valid JSON Schema: {error.message}") from error
    except (ValueError, TypeError) as error:
        raise ManifestError(f"`{where}` holds a value that JSON has not, such as a date: {error}") from error


def _check_argument(name: str, inner: Any) -> None:
    where = f"args.properties.{name}"
    if not name.isidentifier() or name.startswith("_"):
        raise ManifestError(f"`{where}`: an argument's name is a plain word")
    if not isinstance(inner, dict) or "type" not in inner:
        raise ManifestError(f"`{where}` has no type", fix='Give it one, such as type = "string".')
    if not str(inner.get("description", "")).strip():
        raise ManifestError(f"`{where}` has no description", fix="Say in one line what it is for.")
    if "default" in inner and not compile_schema(inner).is_valid(inner["default"]):
        raise ManifestError(f"`{where}.default` does not fit its own schema")
    mode = inner.get(PATH_KEY)
    rest = {key: value for key, value in inner.items() if key != PATH_KEY}
    if _find_key(rest, PATH_KEY):
        raise ManifestError(f"`{where}`: {PATH_KEY} stands deeper than it may", fix="Put it beside the type.")
    if mode is None:
        return
    if mode not in ("read", "write"):
        raise ManifestError(f'`{where}.{PATH_KEY}` must be "read" or "write"')
    items = inner.get("items")
    listed = inner["type"] == "array" and isinstance(items, dict) and items.get("type") == "string"
    if inner["type"] != "string" and not listed:
        raise ManifestError(f"`{where}`: {PATH_KEY} is for text or a list of text only")


def _find_key(value: Any, start: str) -> str:
    """The first key anywhere in ``value`` that begins so, or an empty string."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            found = key if str(key).startswith(start) else _find_key(inner, start)
            if found:
                return str(found)
    elif isinstance(value, list):
        return next((found for inner in value if (found := _find_key(inner, start))), "")
    return ""


def _with_defaults(schema: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """A copy with the defaults of the schema filled in, also in tables inside."""
    filled = dict(given)
    for name, inner in schema.get("properties", {}).items():
        if name not in filled and "default" in inner:
            filled[name] = copy.deepcopy(inner["default"])
        elif isinstance(filled.get(name), Mapping) and isinstance(inner, Mapping):
            filled[name] = _with_defaults(inner, filled[name])
    return filled


def _place(path: Sequence[str | int]) -> str:
    return "".join(_steps(path)) + " " if path else ""


def _steps(path: Sequence[str | int]) -> Iterator[str]:
    first, *rest = path
    yield f"`{first}`"
    yield from (f" item {step + 1}" if isinstance(step, int) else f" `{step}`" for step in rest)
