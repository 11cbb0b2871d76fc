"""What a tool takes, as the arguments of a manifest.

A server's JSON Schema may hold what a manifest cannot: pointers, nulls, patterns that take for ever, names that are no
words. Rules: pure and bounded; what does not fit is left out or made wider, never narrower, because the server checks
its own arguments again; a stranger's words about an argument are kept only if ``screen`` finds nothing in them that
speaks to the agent. Nothing marks a path or an address: what the tool touches is what the owner declared.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from metnos.core.errors import ExecutorFailed, ManifestError
from metnos.executors import arguments
from metnos.executors.mcp.offered import plain

Screen = Callable[[str], str]  # why a text must not stand before a planner; empty if it may
Schema = dict[str, Any]

_DEEPEST, _MOST_ARGUMENTS = 8, 40
_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object"})
_KEPT = frozenset(
    ("type", "description", "default", "enum", "const", "items", "properties", "required", "additionalProperties",
     "anyOf", "oneOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength",
     "minItems", "maxItems")
)  # fmt: skip
_SAMPLES: dict[str, Any] = {"string": "text", "integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}


@dataclass(frozen=True, slots=True)
class Shape:
    """The arguments, what the tool calls those whose names are no words, and a call that fits."""

    args: Schema
    names: Mapping[str, str]
    sample: dict[str, Any]


def shape(schema: Mapping[str, Any], screen: Screen) -> Shape:
    """The arguments of a tool. Raises `ExecutorFailed` if it takes what no manifest can say."""
    pool = {**_table(schema.get("definitions")), **_table(schema.get("$defs"))}
    given = _table(schema.get("properties"))
    if len(given) > _MOST_ARGUMENTS:
        raise ExecutorFailed(f"the tool takes more than {_MOST_ARGUMENTS} arguments", kind="too_large")
    required = {each for each in _list(schema.get("required")) if isinstance(each, str)}
    properties: Schema = {}
    names: dict[str, str] = {}
    needed: list[str] = []
    sample: dict[str, Any] = {}
    for name, inner in given.items():
        word = _word(str(name), properties)
        properties[word] = _argument(word, _inlined(inner, pool, 0), screen)
        if word != name:
            names[word] = str(name)
        if name in required:
            needed.append(word)
            properties[word], sample[word] = _sampled(properties[word])
    return Shape(
        {"required": needed, "properties": properties} if needed else {"properties": properties}, names, sample
    )


def _table(value: Any) -> Schema:
    return dict(value) if isinstance(value, Mapping) else {}


def _word(name: str, taken: Mapping[str, Any]) -> str:
    """The name as a plain word that nobody has yet."""
    word = re.sub(r"\W", "_", name, flags=re.ASCII)[:40].strip("_") or "value"
    word = word if word.isidentifier() else f"a_{word}"
    return next(each for each in (word, *(f"{word}_{number}" for number in range(2, 100))) if each not in taken)


def _inlined(value: Any, pool: Mapping[str, Any], depth: int) -> Any:
    """A schema with what it points to in its place, and nothing that a manifest cannot hold."""
    if depth > _DEEPEST:
        return {}
    if isinstance(value, list):
        return [_inlined(each, pool, depth + 1) for each in value if each is not None]
    if not isinstance(value, Mapping):
        return value
    pointer = value.get("$ref")
    if isinstance(pointer, str):
        return _inlined(_table(pool.get(pointer.rpartition("/")[2])), pool, depth + 1)
    kept = {}
    for key, inner in value.items():
        if key == "properties":
            kept[key] = {str(name): _inlined(each, pool, depth + 1) for name, each in _table(inner).items()}
        elif key in ("default", "const", "enum"):
            if _has_no_null(inner):
                kept[key] = inner
        elif key in _KEPT and inner is not None:
            kept[key] = _inlined(inner, pool, depth + 1)
    return kept


def _has_no_null(value: Any) -> bool:
    """TOML knows no null, in whatever depth."""
    if isinstance(value, Mapping):
        return all(_has_no_null(each) for each in value.values())
    if isinstance(value, list):
        return all(_has_no_null(each) for each in value)
    return value is not None


def _argument(word: str, inner: Any, screen: Screen) -> Schema:
    found = _table(inner)
    said = plain(str(found.get("description") or ""))
    found = {key: value for key, value in found.items() if key != "description"}
    about = said if said and not screen(said) else f"The argument {word} of the tool."
    found = {**_without_words(found), "type": _types(found), "description": about}
    return found if _is_sound(word, found) else {"type": found["type"], "description": about}


def _without_words(value: Any) -> Any:
    """The same without the descriptions further down: nobody looks at them one by one."""
    if isinstance(value, list):
        return [_without_words(each) for each in value]
    if isinstance(value, Mapping):
        inner = {key: _without_words(each) for key, each in value.items() if key != "properties"}
        inner = {key: each for key, each in inner.items() if key != "description" or not isinstance(each, str)}
        if isinstance(value.get("properties"), Mapping):
            inner["properties"] = {name: _without_words(each) for name, each in value["properties"].items()}
        return inner
    return value


def _types(found: Mapping[str, Any]) -> str | list[str]:
    """Of which types it may be: what is said, what its alternatives say, or any."""
    alternatives = [each for key in ("anyOf", "oneOf") for each in _list(found.get(key)) if isinstance(each, Mapping)]
    several = _named(found) or [name for each in alternatives for name in _named(each)]
    known = [each for each in dict.fromkeys(several) if each in _TYPES or each == "null"]
    if not set(known) & _TYPES:  # a manifest has no example of nothing
        return sorted(_TYPES)
    return known[0] if len(known) == 1 else known


def _named(found: Mapping[str, Any]) -> list[str]:
    """The types that a schema itself names."""
    said = found.get("type")
    return [said] if isinstance(said, str) else [each for each in _list(said) if isinstance(each, str)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_sound(word: str, inner: Schema) -> bool:
    try:
        arguments.check_args({"properties": {word: inner}})
    except (ManifestError, RecursionError):
        return False
    return True


def _sampled(inner: Schema) -> tuple[Schema, Any]:
    """A value that fits an argument; the argument is made wider where none can be thought of."""
    check = arguments.compile_schema(inner)
    found = [inner[key] for key in ("default", "const") if key in inner] + _list(inner.get("enum"))
    types = [inner["type"]] if isinstance(inner["type"], str) else inner["type"]
    first = next(each for each in types if each in _TYPES)
    lowest = [inner[key] for key in ("minimum", "minLength") if isinstance(inner.get(key), int)]
    more = [max(1, lowest[0]) if first in ("integer", "number") else "x" * min(lowest[0], 1000)] if lowest else []
    for value in (*found, _SAMPLES[first], *more):
        if check.is_valid(value):
            return inner, value
    return {"type": inner["type"], "description": inner["description"]}, _SAMPLES[first]
