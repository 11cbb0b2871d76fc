"""The shape of a reply: the JSON Schema that a planning model has to fill in.

A plan is ``{"steps": [{"find_files": {"path": "~/inbox"}}, ...]}``: each step is a table with one key, the tool, and
its arguments. Beside the tools there are three words that are none: `ASK`, `ANSWER` and `MISSING`. The schema is made
of the candidates' own arguments, cut down to what a grammar can hold: names, types, choices and what is required. A
list of rows can only be what an earlier step gave, so it is a choice of references. Servers that know grammars cannot
answer anything else; of the others the reply is checked against the same schema.

Rules: made of manifests alone, never of content. Does not guarantee that what fits here can be called: the arguments
are checked against the executor's own schema afterwards (`model_check`).
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from metnos.turn.plan import lexical
from metnos.turn.plan.records import Tool

ASK, ANSWER, MISSING = "ask", "answer", "missing"  # no executor is called so: a name has a verb and an object
WORDS = {ASK: "question", ANSWER: "text", MISSING: "name"}
MOST_STEPS = 6  # of one plan; small models repeat themselves long before
MOST_ITEMS = 20  # of one list that a model writes out
_NAMED = re.compile(r"\S*[/.~]\S+")  # a path or an address: what it is called says nothing about arguments
_KEPT = ("type", "enum", "required")

Schema = dict[str, Any]


def plan_shape(
    tools: Mapping[str, Sequence[str]],
    known: Mapping[str, Tool],
    first: int = 1,
    *,
    most: int = MOST_STEPS,
    words: Sequence[str] = tuple(WORDS),
) -> Schema:
    """A plan over these tools, each with the arguments that may be given; its steps count from ``first``."""
    calls = [_call(known[name], shown, first) for name, shown in tools.items()]
    calls += [_one(name, _table({WORDS[name]: {"type": "string"}})) for name in words]
    steps = {"type": "array", "minItems": 1, "maxItems": most, "items": {"anyOf": calls}}
    return _table({"steps": steps})


def offered(tool: Tool, text: str) -> tuple[str, ...]:
    """The arguments worth offering for a request: required, used in an example, or spoken of in the request.

    A small model fills in whatever it is shown, so what nobody asked for is better not there.
    """
    said = {lexical.stem(word) for word in lexical.content(_NAMED.sub(" ", text))}
    used = {name for _, args in tool.examples for name in args} | set(tool.required)
    return tuple(name for name, inner in tool.properties.items() if name in used or said & _about(name, inner))


def takes_rows(inner: Mapping[str, Any]) -> bool:
    """Whether an argument is a list of rows, which nobody writes out: an earlier step gives them."""
    items = inner.get("items")
    plain = isinstance(items, Mapping) and items.get("type") == "object" and not items.get("properties")
    return inner.get("type") == "array" and plain


def _about(name: str, inner: Mapping[str, Any]) -> set[str]:
    return {lexical.stem(word) for word in lexical.content(f"{name} {' '.join(map(str, inner.get('enum', ())))}")}


def _call(tool: Tool, shown: Sequence[str], first: int) -> Schema:
    properties = {name: _value(inner, first) for name, inner in tool.properties.items() if name in shown}
    args = {"type": "object", "properties": properties, "required": list(tool.required), "additionalProperties": False}
    return _one(tool.name, args)


def _one(name: str, args: Schema) -> Schema:
    return _table({name: args})


def _table(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _value(inner: Mapping[str, Any], first: int) -> Schema:
    """One argument as a grammar can hold it: bounds of length and number would make it huge."""
    if takes_rows(inner):
        return {
            "type": "string",
            "enum": [f"{{{{step{number}.entries}}}}" for number in range(1, first + MOST_STEPS - 1)],
        }
    kept: Schema = {key: inner[key] for key in _KEPT if key in inner}
    if isinstance(inner.get("items"), Mapping):
        kept |= {"items": _value(inner["items"], first), "minItems": 1, "maxItems": MOST_ITEMS}
    if isinstance(inner.get("properties"), Mapping):
        properties = {name: _value(each, first) for name, each in inner["properties"].items()}
        kept |= {"properties": properties, "additionalProperties": False}
    return kept
