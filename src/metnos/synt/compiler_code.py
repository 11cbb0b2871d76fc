"""A form as the code of an executor: what a person would write who wanted to see each step.

Rules: every part is called through ``ctx.call`` by its name, so that it passes the door by itself; where the manifests
say what a reply holds, it is taken from there in plain Python, and only what they leave open is looked for by a helper.
A helper is in the code only if it is used. The code changes nothing itself and imports nothing. Deterministic: the same
form is the same text.
"""

import keyword
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from metnos.executors import refs
from metnos.synt import compiler_follow as following
from metnos.synt.compiler_form import Fixed, Form, Handed, Part, Taken
from metnos.synt.gates import formatted

_LINE = 110  # characters of a comment
_RESERVED = frozenset({"args", "ctx", "run", "look", "text_of", "spread", "joined", "failures"})
_SCALARS = ("string", "integer", "number", "boolean")
_COUNTS = ("count", "total", "failed")

_LOOK = '''
def look(ctx, reference, value, *path):
    """What a reference stands for; a field of a list is that field of each of its entries that has it."""
    for part in path:
        if isinstance(part, int):
            if not isinstance(value, list) or part >= len(value):
                ctx.fail("invalid", f"{reference} stands for nothing: there is no entry {part}")
            value = value[part]
        elif isinstance(value, dict) and part in value:
            value = value[part]
        else:
            entries = value if isinstance(value, list) else [value]
            held = [each[part] for each in entries if isinstance(each, dict) and part in each]
            if not held and value != []:
                ctx.fail("invalid", f"{reference} stands for nothing: there is no {part!r}")
            value = held
    return value
'''
_TEXT_OF = '''
def text_of(ctx, reference, value):
    """A value as it is written into a text."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, (str, int, float)):
        ctx.fail("invalid", f"{reference} stands for more than can be written into a text")
    return str(value)
'''
_SPREAD = '''
def spread(value):
    """The elements of a list; anything else is one element."""
    return value if isinstance(value, list) else [value]
'''
_JOINED = '''
def joined(value):
    """Several texts for an argument that takes one are one text."""
    texts = isinstance(value, list) and all(isinstance(each, str) for each in value)
    return "\\n\\n".join(value) if texts else value
'''
_HELPERS = {"look": _LOOK, "text_of": _TEXT_OF, "spread": _SPREAD, "joined": _JOINED}


@dataclass(frozen=True, slots=True)
class _Known:
    """A piece of code, and what is known of the value it gives: nothing, or its JSON Schema."""

    code: str
    schema: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_list(self) -> bool:
        return self.schema.get("type") == "array"

    @property
    def is_scalar(self) -> bool:
        return self.schema.get("type") in _SCALARS


def code_of(form: Form, purpose: str) -> str:
    """The whole file, formatted."""
    writer = _Writer(form)
    body = "\n".join(f"    {line}" if line else "" for line in writer.body())
    helpers = "\n".join(text for name, text in _HELPERS.items() if name in writer.used)
    return formatted(f'"""{_plain(purpose)}"""\n\n\ndef run(args, ctx):\n{body}\n\n{helpers}')


@dataclass(slots=True)
class _Writer:
    form: Form
    used: set[str] = field(default_factory=set)
    several: bool = False  # whether the value that is being written has several references

    def body(self) -> Iterator[str]:
        for number in range(1, len(self.form.parts) + 1):
            if number > 1:
                yield ""
            yield from self._step(number)
        last = self.form.parts[-1].manifest.result_key
        name = f"step{len(self.form.parts)}"
        yield f'return {{"{self.form.key}": {name}["{last}"], "total": {name}["total"], "failures": failures}}'

    def _step(self, number: int) -> Iterator[str]:
        part, manifest = self.form.parts[number - 1], self.form.parts[number - 1].manifest
        yield f"# {number}. {_comment(manifest.purpose)}"
        handed = {name: source.value for name, source in part.sources.items() if isinstance(source, Handed)}
        variables: dict[str, _Known] = {}
        for name, value in handed.items():
            guards: list[str] = []
            self.several = sum(1 for _ in refs.within(value)) > 1
            known = self._value(value, guards)
            yield from (line for guard in guards for line in guard.splitlines())
            variable = f"{name}_" if keyword.iskeyword(name) or name in _RESERVED else name
            yield f"{variable} = {known.code}"
            variables[name] = _Known(variable, known.schema)
        for known in variables.values():
            if not known.is_scalar and known.schema.get("type") != "object":
                yield f"if {known.code} == []:"
                yield f"    {self._end()}"
        yield f"step{number} = ctx.call({manifest.name!r}, {self._arguments(part, variables)})"
        yield from self._after(number)

    def _end(self, more: str = "") -> str:
        told = f"[*failures, {more}]" if more else "failures"
        return f'return {{"{self.form.key}": [], "failures": {told}}}'

    def _after(self, number: int) -> Iterator[str]:
        name, step = self.form.tools[number - 1], f"step{number}"
        yield f'failures = {step}["failures"]' if number == 1 else f'failures = failures + {step}["failures"]'
        if following.tells_more(self.form, number):
            source = self.form.parts[number - 1].sources.get("limit")
            if source is None or (isinstance(source, Taken) and source.optional):
                asked = f" and {source.argument!r} not in args" if isinstance(source, Taken) else ""
                said = following.more(name, f"{{{step}['count']}}", f"{{{step}['total']}}")
                yield f'if {step}["truncated"]{asked}:'
                yield f'    ctx.fail("too_large", f"{said}")'
        if following.stops(self.form, number):
            left = following.left(self.form, number)
            yield f'if {step}["failed"]:'
            yield "    # Whatever comes now may rely on all of it."
            yield f"    left = ctx.failure({left['item']!r}, {left['kind']!r}, {left['message']!r})"
            yield f"    {self._end('left')}"

    def _arguments(self, part: Part, variables: Mapping[str, _Known]) -> str:
        fixed: list[str] = []
        given: list[str] = []
        for name, source in part.sources.items():
            if isinstance(source, Handed):
                fixed.append(f"{name!r}: {self._fitted(part, name, variables[name])}")
            elif isinstance(source, Fixed):
                fixed.append(f"{name!r}: {following.fitted(part, {name: source.value})[name]!r}")
            elif source.optional:
                given.append(f"**({{{name!r}: args[{source.argument!r}]}} if {source.argument!r} in args else {{}})")
            else:
                fixed.append(f"{name!r}: args[{source.argument!r}]")
        return f"{{{', '.join([*fixed, *given])}}}"

    def _fitted(self, part: Part, name: str, known: _Known) -> str:
        if not following.takes_text(part, name) or known.is_scalar:
            return known.code
        if known.is_list and known.schema.get("items", {}).get("type") == "string":
            return f'"\\n\\n".join({known.code})'
        return self._helped("joined", known.code)

    def _helped(self, name: str, *arguments: str) -> str:
        self.used.add(name)
        return f"{name}({', '.join(arguments)})"

    # -- values

    def _value(self, value: Any, guards: list[str]) -> _Known:
        """The code of a value with references; ``guards`` are lines that must stand before it."""
        ref = refs.whole(value)
        if ref is not None:
            return self._reference(ref, guards)
        if isinstance(value, str):
            pieces = [repr(each) if isinstance(each, str) else self._text(each, guards) for each in refs.pieces(value)]
            return _Known(" + ".join(pieces) or "''", {"type": "string"})
        if isinstance(value, Mapping):
            inner = ", ".join(f"{key!r}: {self._value(each, guards).code}" for key, each in value.items())
            return _Known(f"{{{inner}}}", {"type": "object"})
        if isinstance(value, list | tuple):
            return _Known(f"[{', '.join(self._element(each, guards) for each in value)}]", {"type": "array"})
        return _Known(repr(value), {"type": "null"})

    def _element(self, value: Any, guards: list[str]) -> str:
        known = self._value(value, guards)
        if refs.whole(value) is None or known.is_scalar:
            return known.code
        return f"*{known.code}" if known.is_list else f"*{self._helped('spread', known.code)}"

    def _text(self, ref: refs.Ref, guards: list[str]) -> str:
        known = self._reference(ref, guards)
        if known.schema.get("type") == "string":
            return known.code
        if known.is_scalar:
            return f"str({known.code})"
        return self._helped("text_of", "ctx", repr(ref.text), known.code)

    def _reference(self, ref: refs.Ref, guards: list[str]) -> _Known:
        """In plain Python as far as the manifests tell what is there; else by the helper."""
        reply = _Known(ref.step, _reply_schema(self.form.parts[ref.number - 1]))
        known: _Known | None = reply
        mine: list[str] = []
        for part in ref.path:
            known = _descend(known, part, ref.text, mine) if known is not None else None
        if mine and self.several:
            known = None  # a guard would stand before what comes before it, and speak first
        if known is not None:
            guards += mine
            return known
        path = ", ".join(map(repr, ref.path))
        return _Known(self._helped("look", "ctx", repr(ref.text), reply.code, path))


def _descend(value: _Known, part: str | int, text: str, guards: list[str]) -> _Known | None:
    """One step further; nothing if the schema does not say that it can be taken."""
    schema = value.schema
    if isinstance(part, int):
        if not value.is_list:
            return None
        missing = f"not {value.code}" if part == 0 else f"len({value.code}) <= {part}"
        said = f"{text} stands for nothing: there is no entry {part}"
        guards.append(f"if {missing}:\n    ctx.fail('invalid', {said!r})")
        return _Known(f"{value.code}[{part}]", schema.get("items", {}))
    if schema.get("type") == "object" and part in schema.get("required", ()):
        return _Known(f'{value.code}["{part}"]', schema.get("properties", {}).get(part, {}))
    items = schema.get("items", {})
    if value.is_list and items.get("type") == "object" and part in items.get("required", ()):
        inner = items.get("properties", {}).get(part, {})
        return _Known(f'[each["{part}"] for each in {value.code}]', {"type": "array", "items": inner})
    return None


def _reply_schema(part: Part) -> dict[str, Any]:
    """What is certain of a reply, beside the entries: the counts that Metnos adds."""
    manifest = part.manifest
    failure = {"type": "object", "required": ["item", "kind", "message"],
               "properties": {"kind": {"type": "string"}, "message": {"type": "string"}}}  # fmt: skip
    properties: dict[str, Any] = {
        manifest.result_key: {"type": "array", "items": manifest.output},
        "failures": {"type": "array", "items": failure},
        "truncated": {"type": "boolean"},
        **{name: {"type": "integer"} for name in _COUNTS},
    }
    return {"type": "object", "required": list(properties), "properties": properties}


def _comment(text: str) -> str:
    return text if len(text) <= _LINE else f"{text[: _LINE - 1].rsplit(' ', 1)[0]} ..."


def _plain(text: str) -> str:
    """Words for a docstring, in which nothing can end it."""
    return text.replace("\\", "/").replace('"', "'")
