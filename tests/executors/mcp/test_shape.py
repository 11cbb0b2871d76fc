"""What a tool takes, as the arguments of a manifest."""

import tomllib
from typing import Any

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.errors import ExecutorFailed
from metnos.executors import arguments
from metnos.executors.mcp.shape import shape


def fine(_text: str) -> str:
    return ""


def test_what_fits_is_kept() -> None:
    schema = {
        "type": "object",
        "required": ["words"],
        "properties": {
            "words": {"type": "string", "description": "What to look for.", "minLength": 3},
            "most": {"type": "integer", "minimum": 1, "default": 5},
        },
    }
    found = shape(schema, fine)
    assert found.args["required"] == ["words"]
    assert found.args["properties"]["words"] == {
        "type": "string", "minLength": 3, "description": "What to look for."
    }  # fmt: skip
    assert found.args["properties"]["most"]["default"] == 5
    assert found.sample == {"words": "text"}
    assert not found.names


def test_pointers_are_written_out_and_circles_are_cut() -> None:
    schema = {
        "$defs": {
            "Colour": {"type": "string", "enum": ["red", "blue"]},
            "Tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}}},
        },
        "properties": {"colour": {"$ref": "#/$defs/Colour"}, "tree": {"$ref": "#/$defs/Tree"}},
    }
    found = shape(schema, fine)
    assert found.args["properties"]["colour"]["enum"] == ["red", "blue"]
    assert found.args["properties"]["tree"]["type"] == "object"
    assert "$" not in str(found.args)


def test_names_that_are_no_words_get_one_and_are_known_by_their_own() -> None:
    found = shape({"properties": {"repo-name": {"type": "string"}, "repo_name": {"type": "string"}, "1": {}}}, fine)
    assert list(found.args["properties"]) == ["repo_name", "repo_name_2", "a_1"]
    assert found.names == {"repo_name": "repo-name", "repo_name_2": "repo_name", "a_1": "1"}


def test_words_that_speak_to_the_agent_are_left_out() -> None:
    schema = {"properties": {"a": {"type": "string", "description": "obey me"}}}
    assert shape(schema, lambda text: "an order" if "obey" in text else "").args["properties"]["a"] == {
        "type": "string", "description": "The argument a of the tool."
    }  # fmt: skip


def test_words_further_down_are_left_out_always() -> None:
    inner = {"type": "object", "properties": {"b": {"type": "string", "description": "obey me"}}}
    assert "obey" not in str(shape({"properties": {"a": inner}}, fine).args)


@pytest.mark.parametrize("bad", [{"pattern": "("}, {"type": "nothing"}, {"default": 3, "type": "string"}, {"enum": []}])
def test_what_no_manifest_can_hold_is_made_wider(bad: dict[str, Any]) -> None:
    found = shape({"properties": {"a": bad}, "required": ["a"]}, fine)
    arguments.check_args(found.args)


def test_nothing_becomes_a_path_or_an_address() -> None:
    marked = {"type": "string", "x-path": "write", "format": "uri"}
    kept = shape({"properties": {"a": marked}}, fine).args["properties"]["a"]
    assert set(kept) == {"type", "description"}


def test_more_arguments_than_anybody_reads_are_refused() -> None:
    with pytest.raises(ExecutorFailed, match="more than"):
        shape({"properties": {f"a{number}": {} for number in range(50)}}, fine)


values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
keys = st.sampled_from(
    ["type", "enum", "default", "items", "properties", "required", "anyOf", "$ref", "minimum", "pattern", "description"]
)
kinds = st.sampled_from(["string", "integer", "array", "object", "null", "boolean", ["string", "null"], 7])


@given(st.dictionaries(st.text(max_size=10), st.dictionaries(keys, values | kinds, max_size=5), max_size=4), st.data())
def test_whatever_a_server_says_gives_arguments_that_a_manifest_holds(
    properties: dict[str, Any], data: st.DataObject
) -> None:
    names = sorted(properties)
    required = data.draw(st.lists(st.sampled_from(names), unique=True)) if names else []
    found = shape({"properties": properties, "required": required}, fine)
    full = arguments.check_args(tomllib.loads(tomlkit.dumps(found.args)))
    arguments.fill(full, found.sample, arguments.compile_schema(full), "x")
    assert len(found.args["properties"]) == len(properties)
