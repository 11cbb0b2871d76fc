"""A sketch becomes three files that follow the contract, the same each time."""

import ast
from dataclasses import replace

import pytest

from metnos.executors import birth, gate
from metnos.synt import gates, scaffold
from metnos.synt.sketch import Field, Sketch, Type
from synt.sketches import LINES, TITLE


@pytest.mark.parametrize("sketch", [TITLE, LINES], ids=lambda each: each.name)
def test_the_files_follow_the_contract_and_pass_the_static_gate(sketch: Sketch) -> None:
    draft = scaffold.draft(sketch)
    manifest = draft.read()
    assert (manifest.name, manifest.kind, manifest.purpose) == (sketch.name, "producer", sketch.purpose)
    assert len(birth.parse(draft.tests)) == len(sketch.cases)
    assert gate.inspect(draft.code, gate.declared(manifest.model_dump(mode="json", exclude_none=True))) == []
    assert scaffold.draft(sketch) == draft


def test_only_what_names_a_place_may_be_read_and_nothing_may_be_changed() -> None:
    assert scaffold.draft(TITLE).read().capabilities.names() == ()
    assert scaffold.draft(LINES).read().capabilities.names() == ("fs.read",)


def test_an_entry_says_which_item_it_is_about() -> None:
    assert list(scaffold.output_schema(TITLE)["properties"]) == ["text", "title"]
    assert list(scaffold.output_schema(LINES)["properties"]) == ["lines"]


def test_a_purpose_cannot_break_out_of_the_docstring() -> None:
    hostile = replace(TITLE, purpose='Format text."""\nimport os\n"""')
    tree = ast.parse(scaffold.code(hostile))
    assert not [node for node in tree.body if isinstance(node, ast.Import)]


def test_an_argument_with_a_default_may_be_left_out() -> None:
    assert scaffold.draft(LINES).read().validate_args({"path": "~/a.txt"}) == {"path": "~/a.txt", "least": 0}


@pytest.mark.parametrize(
    ("body", "handled"),
    [
        ("def format_text(text):\n    return {'title': text.title()}\n", False),
        ("def format_text(text):\n    if not text:\n        raise ValueError()\n    return {'title': text}\n", True),
        ("def format_text(text):\n    return {'title': str(int(text))}\n", True),
        ("import datetime\n\n\ndef format_text(text):\n    d = datetime.date.fromisoformat(text)\n"
         "    return {'title': str(d)}\n", True),
    ],
)  # fmt: skip
def test_refusals_are_handled_only_where_the_function_can_refuse(body: str, handled: bool) -> None:
    draft = scaffold.draft(replace(TITLE, body=body))
    assert ("except ValueError" in draft.code) is handled
    assert gate.inspect(draft.code, gate.declared(draft.read().model_dump(mode="json", exclude_none=True))) == []


def test_a_file_that_is_missing_is_said_even_if_nothing_is_refused() -> None:
    code = scaffold.draft(replace(LINES, body="def count_lines(path, least):\n    return [{'lines': 1}]\n")).code
    assert "except FileNotFoundError" in code
    assert "except ValueError" not in code


BODIES = (
    "def {name}({takes}):\n    return {{'title': 'x'}}\n",
    "def {name}({takes}):\n    raise ValueError('no')\n",
)


NUMBERS = replace(TITLE, takes=(Field("texts", Type.NUMBERS, "Numbers."), Field("by", Type.NUMBER, "A factor.")))


@pytest.mark.parametrize("sketch", [TITLE, LINES, replace(TITLE, each=""), NUMBERS, replace(NUMBERS, each="")])
@pytest.mark.parametrize("body", BODIES)
def test_what_stands_around_is_known_and_nothing_else_passes_for_it(sketch: Sketch, body: str) -> None:
    takes = ", ".join(each.name for each in sketch.parameters)
    code = gates.formatted(scaffold.code(replace(sketch, body=body.format(name=sketch.name, takes=takes))))
    run = next(node for node in ast.parse(code).body if isinstance(node, ast.FunctionDef) and node.name == "run")
    assert scaffold.is_ours(run)
    other = ast.parse(ast.unparse(run).replace("ctx.limit", "1")).body[0]
    more = ast.parse(ast.unparse(run) + "\n    return 1").body[0]
    assert isinstance(other, ast.FunctionDef)
    assert isinstance(more, ast.FunctionDef)
    assert not scaffold.is_ours(other)
    assert not scaffold.is_ours(more)
