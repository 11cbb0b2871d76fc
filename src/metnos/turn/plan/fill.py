"""Arguments of a tool from a request: typed, and never invented.

A value comes from the request, or from the schema's ``default``, or the argument is missing and named as such. Slots
with a meaning of their own (places, patterns, addresses, sizes, ages, counts) go first; what is left is read by
`fill_values`.

Rules: generic over any JSON Schema; nothing here knows an executor by name. A place with the role *to* is where
something goes, never what it is done to. Does not guarantee that a value is allowed: the executor's own schema
decides.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metnos.fastpath.slots import Slot
from metnos.turn.plan import fill_values as values
from metnos.turn.plan.clauses import BASE, PATTERNS, classes
from metnos.turn.plan.fill_values import ARRAY, BOOLEAN, INTEGER, NUMBER, STRING, Found, kind
from metnos.turn.plan.records import Tool

TARGETS = ("to", "target", "destination", "dest", "output", "into", "new_path", "output_path")
PLACE_NAMES = re.compile(r"(?:^|_)(?:path|paths|file|files|folder|folders|directory|dir|filename|filepath)(?:$|_)")
# What a request says that turns a switch on.
SWITCHED = {
    "hidden": ("hidden", "nascost"),
    "whole_words": ("whole word", "parole intere"),
    "overwrite": ("overwrite", "replace it", "sovrascriv", "al posto di quello"),
    "ignore_blanks": ("ignoring blanks", "ignoring spaces", "senza badare agli spazi", "ignorando gli spazi"),
    "keep_both": ("keep both", "tieni entramb"),
    "own_folder": ("own folder", "folder of its own", "nella sua cartella", "sua cartella"),
}
SIZES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"\s*([\d.]+)\s*([kmgt]i?)?b?\s*", re.IGNORECASE)
_COVERED = ("path", "folder", "name", "url", "email", "quoted", "date", "time", "glob", "files")


@dataclass(frozen=True, slots=True)
class Call:
    """A tool and the request that it is to be called for."""

    tool: Tool
    text: str
    slots: Sequence[Slot]
    exists: Callable[[str], bool] | None


def fill(
    tool: Tool, text: str, slots: Sequence[Slot], *, exists: Callable[[str], bool] | None = None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The arguments that the request gives, and the names of the required ones that it does not."""
    args: dict[str, Any] = {}
    call = Call(tool, text, slots, exists)
    for stage in (_places, _addresses, _measures, _choices, _switches, _numbers, _texts):
        stage(call, args)
    for name in tool.required:
        if name not in args and "default" in tool.properties.get(name, {}):
            args[name] = tool.properties[name]["default"]
    return args, missing(tool, args)


def missing(tool: Tool, args: Mapping[str, Any]) -> tuple[str, ...]:
    """What is required and not there. Of alternatives the one that a person can name: a place before a text."""
    lacking = tuple(name for name in tool.required if name not in args)
    ways = [tuple(each.get("required", ())) for each in tool.args.get("anyOf", ())]
    if ways and not any(all(name in args for name in way) for way in ways):
        named = [way for way in ways if any("x-path" in tool.properties.get(name, {}) for name in way)] or ways
        lacking += tuple(name for name in named[0] if name not in args)
    return lacking


def fitted(tool: Tool, args: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments whose references were filled in, as the schema wants them: several texts for one are joined."""
    made = dict(args)
    for name, value in args.items():
        texts = isinstance(value, list) and all(isinstance(each, str) for each in value)
        if texts and value and kind(tool.properties.get(name, {"type": ARRAY})) == STRING:
            made[name] = "\n\n".join(value)
    return made


def chosen(slot: Slot, exists: Callable[[str], bool] | None) -> str:
    """The place that a slot means: the first of its names that is there."""
    every = [str(slot.value), *map(str, slot.also or ())]
    return next((each for each in every if exists is not None and exists(each)), every[0])


def is_place(name: str, schema: Mapping[str, Any]) -> bool:
    """Whether an argument is a path, or a list of them."""
    if "x-path" in schema:
        return True
    texts = kind(schema) == STRING or (kind(schema) == ARRAY and kind(schema.get("items", {})) == STRING)
    return texts and PLACE_NAMES.search(name) is not None and "url" not in name


def in_bytes(size: str) -> int | None:
    """A size in words as bytes."""
    found = _SIZE.fullmatch(size)
    return int(float(found[1]) * SIZES[(found[2] or "").lower()]) if found else None


def _places(call: Call, args: dict[str, Any]) -> None:
    places = [slot for slot in call.slots if "place" in classes(slot) and slot.role != BASE]
    wanted = {name: schema for name, schema in call.tool.properties.items() if is_place(name, schema)}
    goals = [slot for slot in places if slot.role in ("to", "as")]
    target = next((name for name in wanted if name in TARGETS), None)
    if target is not None and goals:
        args[target] = chosen(goals[-1], call.exists)
    sources = [slot for slot in places if slot not in goals or target is None]
    for name, schema in wanted.items():
        if name == target or not sources:
            continue
        if kind(schema) == ARRAY:
            files = [slot for slot in sources if "file" in classes(slot)]
            args[name] = [chosen(slot, call.exists) for slot in (files or sources)]
            sources = []
        elif kind(schema) == STRING:
            args[name] = chosen(sources.pop(0), call.exists)
    if target is not None and target not in args and sources and target in call.tool.required:
        args[target] = chosen(sources[-1], call.exists)


def _addresses(call: Call, args: dict[str, Any]) -> None:
    for name, schema in call.tool.properties.items():
        items = schema.get("items", {}) if kind(schema) == ARRAY else schema
        for slot_kind, sign in (("url", ("uri", "url")), ("email", ("email", "mail"))):
            found = [slot.value for slot in call.slots if slot.kind == slot_kind]
            speaks = items.get("format") in sign or any(each in name.lower() for each in sign)
            if found and speaks and name not in args:
                args[name] = found if kind(schema) == ARRAY else found[0]


def _measures(call: Call, args: dict[str, Any]) -> None:
    """Patterns of names, sizes, ages, orders, counts and dates, each where the schema has a place for it."""
    for name, schema in call.tool.properties.items():
        for slot in call.slots:
            value = _measure(name, schema, slot)
            if value is not None and name not in args:
                args[name] = value


def _measure(name: str, schema: Mapping[str, Any], slot: Slot) -> Any:
    """What a slot says for an argument, or nothing."""
    told = str(schema.get("description", "")).lower()
    if slot.kind in PATTERNS and name in ("pattern", "names", "glob") and ("name" in told):
        return slot.value
    if slot.kind == "size" and name.startswith(("min_", "max_")):
        return _size(name, schema, slot)
    if slot.kind == "duration" and name.endswith("_days") and slot.role == name.partition("_")[0]:
        return slot.value
    if slot.kind == "order" and slot.value in schema.get("enum", ()):
        return slot.value
    if slot.kind == "count" and name in ("limit", "top", "count"):
        return slot.value
    if (
        slot.kind == "date"
        and kind(schema) == STRING
        and (schema.get("format") == "date" or re.search(r"\bdate\b", told))
    ):
        return str(slot.value)
    return None


def _size(name: str, schema: Mapping[str, Any], slot: Slot) -> Any:
    if not ("size" in name or "bytes" in name) or (slot.role or "min") != name[:3]:
        return None
    return str(slot.value) if kind(schema) == STRING else in_bytes(str(slot.value))


def _choices(call: Call, args: dict[str, Any]) -> None:
    plain = _without(call.text, call.slots)
    for name, schema in call.tool.properties.items():
        if name in args or kind(schema) not in (STRING, ARRAY):
            continue
        listed = schema.get("enum") or schema.get("items", {}).get("enum")
        if listed:
            found = values.choice(plain, [each for each in listed if each != schema.get("default")])
            found = values.choice(plain, listed) if found is None and name in call.tool.required else found
            if found is not None:
                args[name] = [found] if kind(schema) == ARRAY else found


def _switches(call: Call, args: dict[str, Any]) -> None:
    plain = _without(call.text, call.slots).lower()
    for name, schema in call.tool.properties.items():
        if name in args or kind(schema) != BOOLEAN:
            continue
        if name in SWITCHED:
            found = True if any(each in plain for each in SWITCHED[name]) else None
        else:
            found = values.switch(plain, name) if "x-path" not in str(call.tool.properties) else None
        if found is not None and found != schema.get("default"):
            args[name] = found


def _numbers(call: Call, args: dict[str, Any]) -> None:
    """Numbers by the words around them; lists from brackets, or all numbers where only one list is wanted."""
    taken = [(slot.start, slot.end) for slot in call.slots if slot.kind in _COVERED or slot.value in args.values()]
    wanted = {
        name: schema
        for name, schema in call.tool.properties.items()
        if name not in args and kind(schema) in (INTEGER, NUMBER)
    }
    arrays = {
        name: schema
        for name, schema in call.tool.properties.items()
        if name not in args and kind(schema) == ARRAY and kind(schema.get("items", {})) in (INTEGER, NUMBER)
    }
    bracketed = values.lists(call.text)
    for name in arrays:
        if bracketed:
            first = bracketed.pop(0)
            args[name] = first.value
            taken.append((first.start, first.end))
    found = values.numbers(call.text, taken=taken, wanted=sum(name in call.tool.required for name in wanted))
    single = [name for name in arrays if name in call.tool.required and name not in args]
    if len(single) == 1 and not wanted and found:
        args[single[0]] = [each.value for each in found]
        return
    required = [name for name in call.tool.required if name in wanted]
    for name, each in values.assigned(call.text, found, wanted, required).items():
        args[name] = _number(each.value, wanted[name])


def _number(value: Any, schema: Mapping[str, Any]) -> Any:
    """A number as the schema wants it; a percentage that must be whole is given as it was said."""
    if kind(schema) != INTEGER or isinstance(value, int):
        return value
    return int(value) if float(value).is_integer() else round(value * 100) if 0 < value < 1 else value


def _texts(call: Call, args: dict[str, Any]) -> None:
    """Texts: what is quoted, then what a description gives as examples, then names."""
    wanted = {
        name: schema
        for name, schema in call.tool.properties.items()
        if name not in args and not is_place(name, schema) and "enum" not in schema and _is_text(schema)
    }
    if not wanted:
        return
    quoted = [Found(slot.value, slot.start, slot.end) for slot in call.slots if slot.kind == "quoted"]
    _give(call.text, quoted, wanted, call.tool.required, args)
    for name, schema in wanted.items():
        named = values.choices(call.text, values.examples(schema)) if name not in args else []
        if named and named[-1] != schema.get("default"):
            args[name] = named if kind(schema) == ARRAY else values.choice(call.text, named)
    said = [each for each in values.names(call.text) if each.value not in args.values()]
    _give(call.text, said, wanted, call.tool.required, args)


def _give(
    text: str,
    found: Sequence[Found],
    wanted: Mapping[str, Mapping[str, Any]],
    required: Sequence[str],
    args: dict[str, Any],
) -> None:
    """Give each value to the argument that speaks of it; an argument that is a list takes those that follow too."""
    left = {name: schema for name, schema in wanted.items() if name not in args}
    for name, each in values.assigned(text, found, left, [one for one in required if one in left]).items():
        args[name] = values.run_on(text, each, found) if kind(left[name]) == ARRAY else each.value


def _is_text(schema: Mapping[str, Any]) -> bool:
    return kind(schema) == STRING or (kind(schema) == ARRAY and kind(schema.get("items", {})) == STRING)


def _without(text: str, slots: Sequence[Slot]) -> str:
    """The request without what is named or quoted in it: that is data, and chooses nothing."""
    for slot in sorted(slots, key=lambda each: -each.start):
        if slot.kind in _COVERED and slot.kind not in PATTERNS:
            before = text[: slot.start]
            if slot.kind == "path" and slot.role in ("in", "from"):
                before = _NOUN.sub("", before)  # *in the folder ~/x* says what the path is, and asks for no folder
            text = before + " " + text[slot.end :]
    return text


_NOUN = re.compile(r"\b(?:folder|directory|cartella)\s+$", re.IGNORECASE)
