"""The tools as the ranking sees them: what each argument needs, what each tool is for, and their vectors."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from metnos.core.errors import ModelError
from metnos.models.embed import Space
from metnos.turn.plan.rank_request import Value
from metnos.turn.plan.rank_tools import shelve, value_of
from metnos.turn.plan.records import Tool
from tables import try_each


def tool(name: str, purpose: str = "", args: Mapping[str, Any] | None = None, **more: Any) -> Tool:
    return Tool(name, "1.0.0", "", purpose, False, args or {}, "entries", {}, **more)


@try_each(
    ("name", "schema", "value"),
    [
        ("path", {"type": "string", "x-path": "read"}, Value.PATH),
        ("paths", {"type": "array", "items": {"type": "string"}, "x-path": "read"}, Value.PATH),
        ("output_file", {"type": "string"}, Value.PATH),
        ("urls", {"type": "array", "items": {"type": "string"}}, Value.URL),
        ("email", {"type": "string"}, Value.EMAIL),
        ("start_date", {"type": "string"}, Value.TIME),
        ("when", {"type": ["string", "null"]}, Value.TIME),
        ("count", {"type": "integer"}, Value.NUMBER),
        ("matrix", {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}, Value.NUMBER),
        ("city", {"type": "string"}, Value.TEXT),
        ("unit", {"type": "string", "enum": ["m", "km"]}, None),
        ("deep", {"type": "boolean"}, None),
        ("entries", {"type": "array", "items": {"type": "object"}}, None),
        ("anything", {}, None),
    ],
)
def test_an_argument_takes_its_kind_of_value(name: str, schema: dict[str, Any], value: Value | None) -> None:
    assert value_of(name, schema) is value


def test_lists_in_lists_without_end_are_left_alone() -> None:
    schema: dict[str, Any] = {"type": "array"}
    schema["items"] = schema
    assert value_of("x", schema) is None


def test_needs_are_what_is_required_and_places_are_all() -> None:
    args = {
        "required": ["url", "size"],
        "properties": {"url": {"type": "string"}, "size": {"type": "integer"}, "days": {"type": "integer"}},
    }
    shelf = shelve([tool("get_pages", args=args)], None)
    assert shelf.needs[0, Value.URL] == shelf.needs[0, Value.NUMBER] == 1
    assert shelf.needs[0].sum() == 2
    assert shelf.places[0, Value.TIME] == 1  # a number of days
    assert shelf.places[0, Value.PATH] == 0


def test_entries_of_a_step_before_have_a_place_for_a_path() -> None:
    args = {"required": ["entries"], "properties": {"entries": {"type": "array", "items": {"type": "object"}}}}
    shelf = shelve([tool("sort_tables", args=args)], None)
    assert shelf.places[0, Value.PATH] == 1
    assert shelf.needs.sum() == 0


def test_a_tool_is_for_the_kinds_it_names_and_one_for_files_is_for_any() -> None:
    shelf = shelve(
        [
            tool("extract_text_pdf", "Take the text out of PDF documents."),
            tool("archive_files", "Pack files into a zip archive."),
            tool("show_time", "Show the time."),
        ],
        None,
    )
    assert "pdf" in shelf.kinds[0]
    assert shelf.kinds[1] == shelf.kinds[2] == frozenset()


def test_what_a_tool_does_is_in_its_name_its_purpose_and_its_affinity() -> None:
    shelf = shelve(
        [tool("extract_archives", "Take files out.", affinity=("unzip",)), tool("GameStore.recommend")], None
    )
    assert {"extract", "unpack"} <= shelf.verbs[0]
    assert shelf.verbs[1] == frozenset()  # a store in somebody else's name stores nothing


class Shifting:
    """An embedder that becomes another one while it works."""

    def __init__(self) -> None:
        self.version = 0

    @property
    def space(self) -> Space:
        return Space("shifting", str(self.version), "", 2)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.version += 1
        return np.ones((len(texts), 2), dtype=np.float32)


def test_vectors_of_two_spaces_are_never_mixed() -> None:
    with pytest.raises(ModelError, match="cannot be compared"):
        shelve([tool("find_files")], Shifting())


def test_no_tools_no_trouble() -> None:
    shelf = shelve([], Shifting())
    assert shelf.vectors is None
    assert shelf.needs.shape == (0, len(Value))


def test_a_tool_with_no_words_at_all_is_no_trouble() -> None:
    class Flat:
        space = Space("flat", "", "", 2)

        def embed(self, texts: Sequence[str]) -> np.ndarray:
            return np.ones((len(texts), 2), dtype=np.float32) / 2**0.5

    shelf = shelve([tool("_"), tool("find_files", "Find files.", examples=(("find it", {}),))], Flat())
    assert shelf.vectors is not None
    assert shelf.words.names.mean(np.ones(len(shelf.words.texts))).tolist() == pytest.approx([0.0, 1.0])
