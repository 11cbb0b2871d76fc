"""Mending: a sketch of what synt made before, from its files, so that less has to be made anew.

What an executor takes and gives, its sentence and its birth tests were agreed to by the owner: a repair keeps them, and
adds the calls that broke. What the owner refused begins from what it was, with the reason. Rules: a sketch is believed
only if `scaffold` makes the same manifest of it; an executor that was made otherwise (compiled, imported, edited beyond
its function) has none, and is made from the beginning. In a repair every birth test of the version before is a case
that nobody may change. Pure.
"""

import ast
import builtins
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from metnos.core.canon import canonical_json
from metnos.core.errors import ManifestError
from metnos.executors import arguments, birth
from metnos.executors.manifest import Manifest
from metnos.synt import gates_words, scaffold
from metnos.synt.draft import Draft
from metnos.synt.need import Need
from metnos.synt.pipeline import Begun
from metnos.synt.rules import Stage
from metnos.synt.sketch import Case, Field, Sketch, Type

_LOOP = re.compile(r'\bfor \w+ in args\["(\w+)"\]')
_ORDER = (*(kind for kind in Type if not kind.is_place), Type.FILE)  # a folder looks the same as a file
_ERROR = re.compile(r"\b[A-Z]\w*Error\b")
_SHOWN = 300  # characters of a call that broke
_OF_NAMES = gates_words.stems("name call")


def sketch_of(need: Need, old: Draft, version: str) -> Sketch | None:
    """What synt would have sketched for these files, with another number; nothing if they are not of its making."""
    try:
        manifest = old.read()
        tests = birth.parse(old.tests)
        body = _body(old.code)
    except (ManifestError, SyntaxError):
        return None
    found = _LOOP.search(old.code)
    each = found.group(1) if found else ""
    takes = tuple(_field(name, inner, manifest) for name, inner in manifest.args["properties"].items())
    gives = tuple(_field(name, inner, None) for name, inner in manifest.output["properties"].items())
    if any(field is None for field in (*takes, *gives)):
        return None
    try:
        cases = tuple(_case(test, manifest, each) for test in tests)
    except _Other:
        return None
    sketch = Sketch(
        need, manifest.name, tuple(filter(None, takes)), tuple(filter(None, gives)), each, cases, manifest.purpose,
        tuple(example.say for example in manifest.examples), body, version,
    )  # fmt: skip
    sketch = _without_echo(sketch)
    return sketch if _same(sketch, manifest) else None


def repair(need: Need, old: Draft, version: str) -> Begun | None:
    """What broke: only its function is written anew. Nothing if the files are not of synt's making."""
    sketch = sketch_of(need, old, version)
    return None if sketch is None else Begun(sketch, (Stage.CODE,), {Stage.CODE: problem_of(need)})


def revision(need: Need, refused: Draft, version: str) -> Begun | None:
    """What the owner refused, with the reason for each stage; its name stays unless the reason speaks of names."""
    sketch = sketch_of(need, refused, version)
    if sketch is None or not need.refused:
        return None
    reason = f"the owner refused it: {need.refused[-1]}"
    named = () if _OF_NAMES.isdisjoint(gates_words.stems(need.refused[-1])) else (Stage.NAMING,)
    told: dict[str, str] = dict.fromkeys((*named, Stage.SIGNATURE, Stage.CODE), reason)  # the others hear it anyway
    undone = (*named, Stage.SIGNATURE, Stage.TESTS, Stage.DESCRIPTION, Stage.CODE)
    return Begun(replace(sketch, cases=()), undone, told)


def problem_of(need: Need) -> str:
    """What is wrong with the function as it is, for whoever writes it anew."""
    broke = [
        f"it broke with the arguments {canonical_json(dict(each.args)).decode()[:_SHOWN]}"
        for each in need.examples
        if each.broke
    ]
    said = [f"it said: {each[:_SHOWN]}" for each in need.evidence.failures]
    found = "; ".join([*broke, *said]) or need.evidence.says or "it keeps failing"
    errors = sorted({name for each in need.evidence.failures for name in _ERROR.findall(each) if _is_error(name)})
    if not errors:
        return f"{found}. Where it cannot give a result, it has to raise ValueError before that, with a short message"
    caught = f"put try around what breaks, and in except {' or '.join(errors)} raise ValueError with a short message"
    return f"{found}. Change as little as possible: {caught}"


def _is_error(name: str) -> bool:
    """Whether Python calls an error so: what a failure says may hold any word."""
    found = getattr(builtins, name, None)
    return isinstance(found, type) and issubclass(found, Exception)


class _Other(Exception):
    """A test that synt does not write."""


def _case(test: birth.BirthTest, manifest: Manifest, each: str) -> Case:
    """A birth test as a case that nobody may change; what the arguments alone forbid follows from them."""
    files = {name: text for name, text in test.files.items() if isinstance(text, str)}
    beyond = test.http or test.system or test.calls or test.after or len(files) < len(test.files)
    if beyond or set(test.expect) - {"entries"}:
        raise _Other
    lacking = set(manifest.args.get("required", ())) - set(test.args) or (each and not test.args.get(each))
    seen, error = not (test.expect_error and lacking), test.expect_error
    return Case(test.args, tuple(test.expect.get("entries", ())), error, files, observed=seen, sure=not seen)


def _body(code: str) -> str:
    """The code without what `scaffold` puts around the function."""
    tree = ast.parse(code)
    kept = [
        node
        for node in tree.body
        if not (isinstance(node, ast.FunctionDef) and node.name == "run")
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    return "\n\n\n".join(ast.get_source_segment(code, node, padded=True) or "" for node in kept) + "\n"


def _field(name: str, schema: Mapping[str, Any], manifest: Manifest | None) -> Field | None:
    """An argument of the manifest, or without one a part of what comes out, as a stage would have said it."""
    bare = {key: value for key, value in schema.items() if key not in ("description", "default", "minItems")}
    kind = next((each for each in _ORDER if scaffold.schema_of(each, place=manifest is not None) == bare), None)
    if kind is None:
        return None
    return Field(name, kind, str(schema.get("description", name)), schema.get("default"))


def _without_echo(sketch: Sketch) -> Sketch:
    """What comes out without the item that an entry says it is about: that is put there by `scaffold`."""
    listed = next((each for each in sketch.takes if each.name == sketch.each), None)
    first = sketch.gives[0] if sketch.gives else None
    if listed is None or first is None or first.name != sketch.item or first.type is not listed.type.item:
        return sketch
    return replace(sketch, gives=sketch.gives[1:])


def _same(sketch: Sketch, manifest: Manifest) -> bool:
    """Whether the sketch gives the contract that it was read from."""
    made = [arguments.check_args(scaffold.args_schema(sketch)), scaffold.output_schema(sketch)]
    return canonical_json(made) == canonical_json([manifest.args, manifest.output])
