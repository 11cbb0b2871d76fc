import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.models.answer import NotFitting, read
from tables import try_each

ANY: dict[str, Any] = {}
PLAN = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "array", "items": {"type": "string"}}},
    "required": ["a"],
    "additionalProperties": False,
}

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.integers(-(10**15), 10**15) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(texts, values, max_size=4)


@given(values)
def test_json_is_read_as_it_was_written(value: Any) -> None:
    assert read(json.dumps(value), ANY) == value


@given(objects, st.text(st.characters(exclude_characters="{[`", exclude_categories=["Cs"]), max_size=40))
def test_what_surrounds_an_object_does_not_matter(value: dict[str, Any], around: str) -> None:
    said = json.dumps(value)
    for text in (f"{around}\n```json\n{said}\n```\n{around}", f"Here: {said}", f"x {around} {said} {around}"):
        assert read(text, {"type": "object"}) == value


@given(st.text(max_size=300))
def test_no_text_raises_anything_else(text: str) -> None:
    with suppress(NotFitting):
        assert set(read(text, PLAN)) <= {"a", "b"}


def test_the_first_object_that_fits_is_taken() -> None:
    assert read('I think {"x": 1} no, {"a": 3} or {"a": 4}', PLAN) == {"a": 3}
    assert read('```json\n{"a": 1}\n```\nor\n```json\n{"a": 2}\n```', PLAN) == {"a": 1}


@try_each(
    ("text", "words"),
    [
        ('{"a": "x"}', 'at $.a: "x" is not of type "integer"'),
        ('{"a": 1, "b": ["y", 2]}', "at $.b[1]"),
        ("{}", '"a" is a required property'),
        ('{"a": 1', "not valid JSON"),
        ("", "no JSON"),
        ("I would rather not.", "no JSON"),
        ('{"a": 1, "a": 2}', "a key twice"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "-Infinity"),
        ('{"a": 1e999}', "beyond measure"),
        ('{"a": 1, "b": ["\\ud800"]}', "half a character"),
        ('{"a": ' + "[" * 100_000, "nested too deeply"),
        ('{"a": 1, "b": ' + "[" * 70 + "]" * 70 + "}", "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "4300"),
    ],
)
def test_what_does_not_fit_is_named(text: str, words: str) -> None:
    with pytest.raises(NotFitting) as caught:
        read(text, PLAN)
    assert words in str(caught.value)


def test_a_wrong_object_in_a_text_is_not_mended_into_a_right_one() -> None:
    with pytest.raises(NotFitting):
        read('{"a": 1, "a": 2} {"b": ["ok"]}', PLAN)


def test_a_text_of_braces_costs_little() -> None:
    with pytest.raises(NotFitting):
        read("x" + "{" * 200_000, PLAN)


def test_a_pattern_cannot_run_away() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    with pytest.raises(NotFitting):
        read(json.dumps({"a": "a" * 50_000 + "!"}), schema)
