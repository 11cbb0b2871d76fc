"""Filling arguments of any schema: typed, from the request, or missing."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.fastpath.slots import extract
from metnos.turn.plan.fill import fill, fitted, in_bytes
from metnos.turn.plan.records import Tool
from turn.plan.asking import tools
from turn.plan.routing import CWD, HOME, NOW


def tool(required: str = "", **properties: Any) -> Tool:
    args = {"required": required.split(), "properties": properties}
    return Tool("do_things", "1", "0", "", False, args, "entries", {})


def filled(one: Tool, text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    return fill(one, text, extract(text, now=NOW, home=HOME, cwd=CWD))


def number(told: str = "", kind: str = "integer") -> dict[str, Any]:
    return {"type": kind, "description": told}


def text_of(told: str = "") -> dict[str, Any]:
    return {"type": "string", "description": told}


@pytest.mark.parametrize(("text", "expected"), [
    ("a triangle with a base of 10 and a height of 5", {"base": 10, "height": 5}),
    ("a triangle, height 5 and base 10", {"base": 10, "height": 5}),
    ("a triangle with base and height as 6 and 10", {"base": 6, "height": 10}),
    ("a triangle of 10 and 5", {"base": 10, "height": 5}),
    ("a triangle with a base of ten and a height of five", {"base": 10, "height": 5}),
])  # fmt: skip
def test_a_number_goes_to_the_argument_that_its_neighbours_name(text: str, expected: dict[str, int]) -> None:
    assert filled(tool("base height", base=number(), height=number()), text) == (expected, ())


def test_what_the_request_does_not_say_is_missing() -> None:
    assert filled(tool("base height", base=number(), height=number()), "a triangle") == ({}, ("base", "height"))


def test_a_default_fills_what_is_required_and_nothing_else() -> None:
    one = tool("unit", unit={"type": "string", "default": "m"}, other={"type": "string", "default": "x"})
    assert filled(one, "go") == ({"unit": "m"}, ())


def test_of_alternatives_one_is_enough_and_the_place_is_asked_for() -> None:
    one = tools()["count_text"]
    assert filled(one, "count it")[1] == ("paths",)
    assert filled(one, "count the words of a.txt")[1] == ()


@pytest.mark.parametrize(("text", "expected"), [
    ("sort it by popularity", {"sort_by": "popularity"}), ("sort it", {}), ("show 'popularity.txt'", {}),
])  # fmt: skip
def test_a_choice_is_one_that_is_said(text: str, expected: dict[str, str]) -> None:
    one = tool(sort_by={"type": "string", "enum": ["popularity", "date"]})
    assert filled(one, text)[0] == expected


def test_a_switch_is_turned_by_its_name() -> None:
    one = tool(with_fries={"type": "boolean"})
    assert filled(one, "a burger with fries")[0] == {"with_fries": True}
    assert filled(one, "a burger without fries")[0] == {"with_fries": False}
    assert filled(one, "a burger")[0] == {}


def test_lists_of_numbers_and_of_names() -> None:
    numbers = tool("values", values={"type": "array", "items": {"type": "number"}})
    assert filled(numbers, "the mean of [1, 2.5, 3]")[0] == {"values": [1, 2.5, 3]}
    assert filled(numbers, "the mean of 1, 2 and 3")[0] == {"values": [1, 2, 3]}
    names = tool("teams", teams={"type": "array", "items": {"type": "string"}})
    assert filled(names, "who won between Lakers and Clippers?")[0] == {"teams": ["Lakers", "Clippers"]}


@pytest.mark.parametrize(("text", "expected"), [
    ("directions from Sydney to Melbourne", {"start_location": "Sydney", "end_location": "Melbourne"}),
    ("directions to Melbourne from Sydney", {"start_location": "Sydney", "end_location": "Melbourne"}),
])  # fmt: skip
def test_the_word_before_a_name_says_what_it_is(text: str, expected: dict[str, str]) -> None:
    one = tool("start_location end_location", start_location=text_of(), end_location=text_of())
    assert filled(one, text)[0] == expected


def test_quoted_words_go_to_a_text() -> None:
    one = tool("title artist", title=text_of("The title."), artist=text_of("The artist who made it."))
    assert filled(one, "the sculpture with title 'David' by Michelangelo")[0] == {
        "title": "David",
        "artist": "Michelangelo",
    }


def test_addresses_and_dates_have_their_own_types() -> None:
    one = tool(url={"type": "string"}, email={"type": "string"}, day={"type": "string", "format": "date"})
    found = filled(one, "send http://a.it/x to b@c.it on 2026-03-01")[0]
    assert found == {"url": "http://a.it/x", "email": "b@c.it", "day": "2026-03-01"}


def test_where_something_goes_is_never_what_it_is_done_to() -> None:
    assert filled(tools()["move_files"], "move a.txt to ~/b")[0] == {"paths": ["a.txt"], "to": "~/b"}


@pytest.mark.parametrize(("size", "number"), [("1 GB", 10**9), ("20 KB", 20_000), ("1.5 MiB", 1_572_864), ("12", 12)])
def test_sizes_in_bytes(size: str, number: int) -> None:
    assert in_bytes(size) == number


def test_several_texts_for_one_argument_are_joined() -> None:
    one = tools()["summarise_text"]
    assert fitted(one, {"text": ["a", "b"], "sentences": 3}) == {"text": "a\n\nb", "sentences": 3}
    assert fitted(one, {"paths": ["a", "b"]}) == {"paths": ["a", "b"]}
    assert fitted(one, {"text": []}) == {"text": []}


TYPES = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list}
SCHEMAS = st.fixed_dictionaries({"type": st.sampled_from(sorted(TYPES)), "description": st.text(max_size=30)})


@given(st.text(max_size=120), st.dictionaries(st.from_regex("[a-z_]{1,12}", fullmatch=True), SCHEMAS, max_size=5))
def test_values_have_their_types_and_nothing_fails(text: str, properties: dict[str, Any]) -> None:
    found, lacks = filled(tool(" ".join(properties), **properties), text)
    assert set(found) | set(lacks) == set(properties)
    assert all(isinstance(value, TYPES[properties[name]["type"]]) for name, value in found.items())


@given(st.text(max_size=80))
def test_no_built_in_gets_what_it_does_not_have(text: str) -> None:
    for one in tools().values():
        assert set(filled(one, text)[0]) <= set(one.properties)
