"""From a command line to the arguments of an executor."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executors.calls import READ, READS, manifest
from metnos.cli.arguments import describe, parse
from metnos.core.errors import UsageError
from metnos.executors.manifest import Manifest
from tables import try_each

TEXT = {"type": "string", "description": "Some text."}
KINDS: dict[str, dict[str, Any]] = {
    "text": TEXT,
    "path": READ,
    "whole number": {"type": "integer", "description": "x"},
    "number": {"type": "number", "description": "x"},
    "true or false": {"type": "boolean", "description": "x"},
    "one | two": {"type": "string", "enum": ["one", "two"], "description": "x"},
    "1 | 2": {"type": "integer", "enum": [1, 2], "description": "x"},
    "text, may be repeated": {"type": "array", "items": {"type": "string"}, "description": "x"},
    "whole number, may be repeated": {"type": "array", "items": {"type": "integer"}, "description": "x"},
    "JSON, may be repeated": {"type": "array", "items": {"type": "object"}, "description": "x"},
    "JSON": {"type": "object", "description": "x"},
}


def taking(**schemas: dict[str, Any]) -> Manifest:
    return manifest(schemas, {"fs": {"read": ["~/**"]}})


class TestOneOption:
    @try_each(
        ("kind", "words", "value"),
        [
            ("text", ["--it", "some text"], "some text"),
            ("text", ["--it=some=text"], "some=text"),
            ("text", ["--it", ""], ""),
            ("text", ["--it="], ""),
            ("text", ["--it", "5"], "5"),
            ("text", ["--it", "--dashes"], "--dashes"),
            ("text", ["--it", '{"a": 1}'], '{"a": 1}'),
            ("path", ["--it", "~/a b"], "~/a b"),
            ("whole number", ["--it", "-5"], -5),
            ("number", ["--it", "2.5"], 2.5),
            ("number", ["--it", "2"], 2.0),
            ("true or false", ["--it"], True),
            ("true or false", ["--it", "true"], True),
            ("true or false", ["--it", "false"], False),
            ("true or false", ["--it=False"], False),
            ("one | two", ["--it", "two"], "two"),
            ("1 | 2", ["--it", "2"], 2),
            ("text, may be repeated", ["--it", "a", "--it", "b"], ["a", "b"]),
            ("text, may be repeated", ["--it", "a"], ["a"]),
            ("text, may be repeated", ["--it", '["a", "b"]', "--it", "c"], ["a", "b", "c"]),
            ("whole number, may be repeated", ["--it", "1", "--it", "2"], [1, 2]),
            ("JSON, may be repeated", ["--it", '{"a": 1}', "--it", '{"b": 2}'], [{"a": 1}, {"b": 2}]),
            ("JSON, may be repeated", ["--it", '[{"a": 1}, {"b": 2}]'], [{"a": 1}, {"b": 2}]),
            ("JSON", ["--it", '{"a": [1, null]}'], {"a": [1, None]}),
        ],
    )
    def test_is_read_by_its_own_schema(self, kind: str, words: list[str], value: Any) -> None:
        found = parse(taking(it=KINDS[kind]), words)["it"]
        assert (found, type(found)) == (value, type(value))

    @try_each(
        ("kind", "word"),
        [
            ("whole number", "x"),
            ("whole number", "2.5"),
            ("whole number", ""),
            ("number", "much"),
            ("true or false", "maybe"),
            ("1 | 2", "one"),
            ("whole number, may be repeated", "x"),
            ("JSON, may be repeated", "x"),
            ("JSON", "{"),
        ],
    )
    def test_that_does_not_fit_is_named_with_what_it_should_be(self, kind: str, word: str) -> None:
        with pytest.raises(UsageError) as caught:
            parse(taking(it=KINDS[kind]), [f"--it={word}"])
        assert caught.value.what == f"--it: {word!r} does not fit"
        assert kind.removesuffix(", may be repeated") in caught.value.fix

    def test_hyphens_are_underscores(self) -> None:
        read = taking(older_than_days={"type": "number", "description": "x"})
        assert (
            parse(read, ["--older-than-days", "3"]) == parse(read, ["--older_than_days", "3"]) == {"older_than_days": 3}
        )

    @pytest.mark.parametrize("number", ["nan", "inf", "-Infinity"])
    def test_what_is_no_number_does_not_fit(self, number: str) -> None:
        with pytest.raises(UsageError, match="does not fit"):
            parse(taking(it=KINDS["number"]), ["--it", number])

    @pytest.mark.parametrize("text", ["[draft].txt", "[", "[1] notes"])
    def test_a_name_may_begin_with_a_bracket(self, text: str) -> None:
        assert parse(taking(it=READS), ["--it", text]) == {"it": [text]}

    @pytest.mark.parametrize(
        ("schema", "word", "value"),
        [
            ({"type": ["integer", "null"]}, "5", 5),
            ({"type": ["integer", "null"]}, "null", None),
            ({"type": "array", "items": {"type": ["string", "number"]}}, "5", [5]),
            ({"type": "array", "items": {"type": "array"}}, "[1, 2]", [[1, 2]]),
            ({"type": "array", "items": True}, "5", [5]),
        ],
    )
    def test_what_is_documented_as_json_is_read_as_json(self, schema: dict[str, Any], word: str, value: Any) -> None:
        read = taking(it={**schema, "description": "x"})
        assert describe(read)[0][1].startswith("JSON")
        assert parse(read, ["--it", word]) == {"it": value}


class TestWrongLines:
    def test_a_word_that_stands_alone(self) -> None:
        for word in ("~/Downloads", "-x", "x"):
            with pytest.raises(UsageError, match="stands alone") as caught:
                parse(taking(path=READ), [word])
            assert caught.value.fix == "Arguments are options: metnos executor run read_files --help"

    def test_an_option_without_a_value(self) -> None:
        with pytest.raises(UsageError, match="--path needs a value"):
            parse(taking(path=READ), ["--path"])

    def test_an_option_that_there_is_not(self) -> None:
        with pytest.raises(UsageError, match="has no argument 'pth'") as caught:
            parse(taking(path=READ, depth=TEXT), ["--pth", "x"])
        assert caught.value.fix == "It has: --path, --depth"
        with pytest.raises(UsageError) as caught:
            parse(taking(), ["--path", "x"])
        assert caught.value.fix == "It has: none"

    def test_one_value_given_twice(self) -> None:
        for kind in ("text", "whole number", "JSON"):
            word = {"text": "x", "whole number": "1", "JSON": "{}"}[kind]
            with pytest.raises(UsageError, match="--it was given twice"):
                parse(taking(it=KINDS[kind]), ["--it", word, "--it", word])

    @given(st.lists(st.one_of(st.text(), st.sampled_from(["--it", "--flag", "--list", "--=", "--", "--it=", "true"]))))
    def test_whatever_is_typed(self, words: list[str]) -> None:
        read = taking(it=KINDS["number"], flag=KINDS["true or false"], list=KINDS["JSON, may be repeated"])
        with contextlib.suppress(UsageError):
            assert set(parse(read, words)) <= {"it", "flag", "list"}


class TestDescribing:
    @try_each("kind", KINDS)
    def test_every_kind_has_its_words(self, kind: str) -> None:
        assert describe(taking(it=KINDS[kind])) == [("--it", kind, KINDS[kind]["description"])]

    def test_what_is_required_and_what_is_there_without_it(self) -> None:
        args = {"required": ["path"], "properties": {"path": READ, "depth": {**KINDS["whole number"], "default": 3}}}
        read = Manifest.model_validate(
            taking().model_dump(mode="json") | {"args": args, "examples": [{"say": "x", "args": {"path": "~"}}]}
        )
        assert [row[1] for row in describe(read)] == ["path, required", "whole number, default 3"]

    def test_a_list_of_paths_is_said_to_be_one(self) -> None:
        assert describe(taking(paths=READS))[0][1] == "path, may be repeated"


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "text": st.text(),
    "path": st.text(min_size=1),
    "whole number": st.integers(),
    "number": st.floats(allow_nan=False, allow_infinity=False),
    "true or false": st.booleans(),
    "one | two": st.sampled_from(["one", "two"]),
    "1 | 2": st.sampled_from([1, 2]),
    "text, may be repeated": st.lists(st.text().filter(lambda text: not text.startswith("[")), min_size=1),
    "whole number, may be repeated": st.lists(st.integers(), min_size=1),
    "JSON, may be repeated": st.lists(st.dictionaries(st.text(), st.integers() | st.text()), min_size=1),
    "JSON": st.dictionaries(st.text(), st.lists(st.integers() | st.none())),
}


@given(st.sets(st.sampled_from(sorted(KINDS)), min_size=1), st.data())
def test_what_is_documented_can_be_typed(kinds: set[str], data: st.DataObject) -> None:
    """Every argument, written as `describe` says, means the value that was meant."""
    names = dict(zip("abcdefghijk", sorted(kinds), strict=False))
    read = taking(**{name: KINDS[kind] for name, kind in names.items()})
    wanted: dict[str, Any] = {}
    words: list[str] = []
    for option, kind, _ in data.draw(st.permutations(describe(read))):
        value = wanted[option[2:]] = data.draw(VALUES[kind])
        for each in value if "may be repeated" in kind else [value]:
            text = each if isinstance(each, str) else json.dumps(each)
            words += data.draw(st.sampled_from([[option, text], [f"{option}={text}"]]))
    assert parse(read, words) == wanted
