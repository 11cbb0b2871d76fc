"""From a command line to the arguments of an executor: ``--name value``, read by the executor's own schema.

Rules: an option is an argument of the executor; a list is given by repeating its option; tables are given as JSON. What
does not fit is an error that names the option and what it should be.
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from metnos.core.errors import UsageError
from metnos.executors.manifest import Manifest


def parse(manifest: Manifest, words: Sequence[str]) -> dict[str, Any]:
    """The arguments that these words mean."""
    args: dict[str, Any] = {}
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if not word.startswith("--"):
            raise UsageError(
                f"{word!r} stands alone", fix=f"Arguments are options: metnos executor run {manifest.name} --help"
            )
        name, has_value, value = word[2:].partition("=")
        schema = _schema(manifest, name)
        key = name.replace("-", "_")
        if schema.get("type") == "boolean" and not has_value:
            said = waiting[0].lower() if waiting else ""
            args[key] = said != "false"
            waiting = waiting[1:] if said in ("true", "false") else waiting
            continue
        if not has_value:
            if not waiting:
                raise UsageError(f"--{name} needs a value", fix=f"It must be: {_kind(schema)}")
            value = waiting.pop(0)
        _put(args, key, schema, value)
    return args


def describe(manifest: Manifest) -> list[tuple[str, str, str]]:
    """Every argument as an option: how it is written, what it must be, and what it means."""
    required = manifest.args.get("required", ())
    rows = []
    for name, schema in manifest.args["properties"].items():
        default = f"default {json.dumps(schema['default'])}" if "default" in schema else ""
        kind = ", ".join(part for part in (_kind(schema), "required" if name in required else default) if part)
        rows.append((f"--{name}", kind, str(schema.get("description", ""))))
    return rows


def _schema(manifest: Manifest, name: str) -> Mapping[str, Any]:
    properties = manifest.args["properties"]
    found = properties.get(name.replace("-", "_"))
    if found is None:
        known = ", ".join(f"--{each}" for each in properties) or "none"
        raise UsageError(f"{manifest.name} has no argument {name!r}", fix=f"It has: {known}")
    return dict(found)


def _put(args: dict[str, Any], key: str, schema: Mapping[str, Any], text: str) -> None:
    if schema.get("type") == "array":
        args[key] = args.get(key, []) + _items(key, schema, text)
    elif key in args:
        raise UsageError(f"--{key} was given twice", fix="It takes one value.")
    else:
        args[key] = _convert(key, schema, text)


def _items(key: str, schema: Mapping[str, Any], text: str) -> list[Any]:
    """One item, or with brackets a whole list of them; but the name of a file may begin with a bracket too."""
    items = schema.get("items")
    items = items if isinstance(items, dict) else {}
    if items.get("type") != "array" and text.startswith("["):
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if isinstance(found, list) and (items.get("type") != "string" or all(isinstance(each, str) for each in found)):
            return found
    return [_convert(key, items, text)]


def _convert(key: str, schema: Mapping[str, Any], text: str) -> Any:
    kind = schema.get("type")
    try:
        if kind == "integer":
            return int(text)
        if kind == "number":
            return _finite(text)
        if kind == "boolean":
            return {"true": True, "false": False}[text.lower()]
        if kind != "string":
            return json.loads(text)
    except (ValueError, KeyError) as error:
        raise UsageError(f"--{key}: {text!r} does not fit", fix=f"It must be: {_kind(schema)}") from error
    return text


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if schema.get("type") == "array":
        items = schema.get("items")
        return f"{'path' if 'x-path' in schema else _kind(items if isinstance(items, dict) else {})}, may be repeated"
    words = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
    if "x-path" in schema:
        return "path"
    return words.get(str(schema.get("type")), "JSON")
