import time

import pytest

from metnos.core.errors import ExecutorFailed, ManifestError
from metnos.executors import arguments
from tables import try_each

SCHEMA = arguments.check_args(
    {
        "properties": {
            "files": {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True,
                      "description": "x"},
            "format": {"type": "string", "enum": ["zip", "tar"], "default": "zip", "description": "x"},
            "where": {
                "type": "object",
                "description": "x",
                "properties": {"deep": {"type": "integer", "default": 3}, "name": {"type": ["string", "null"]}},
            },
            "url": {"type": "string", "pattern": "^https?://", "maxLength": 20, "description": "x"},
        },
        "anyOf": [{"required": ["files"]}, {"required": ["url"]}],
    }
)  # fmt: skip
CHECK = arguments.compile_schema(SCHEMA)


def fill(**args: object) -> dict[str, object]:
    return arguments.fill(SCHEMA, args, CHECK, "make_archives")


def test_defaults_also_in_tables_inside() -> None:
    assert fill(url="http://x", where={}) == {"url": "http://x", "format": "zip", "where": {"deep": 3}}


@try_each(
    ("args", "said"),
    [
        ({}, "the arguments together: one of these is needed: `files`, or `url`"),
        ({"files": []}, "`files` must have at least 1 items"),
        ({"files": ["a", 3]}, "`files` item 2 must be text"),
        ({"files": ["a", "a"]}, "must not hold anything twice"),
        ({"url": "ftp://x"}, "`url` must look like ^https?://"),
        ({"url": "http://" + "x" * 20}, "at most 20 characters"),
        ({"url": "http://x", "format": "rar"}, "`format` must be one of zip, tar"),
        ({"url": "http://x", "where": {"name": 3}}, "`where` `name` must be"),
    ],
)
def test_messages(args: dict[str, object], said: str) -> None:
    with pytest.raises(ExecutorFailed) as caught:
        fill(**args)
    assert said in caught.value.what
    assert caught.value.fix == "It takes: files, format, where, url."


def test_a_value_never_appears_in_a_message() -> None:
    with pytest.raises(ExecutorFailed) as caught:
        fill(url="the owner's secret", format="another secret", files="third secret")
    assert "secret" not in str(caught.value)


def test_no_pattern_can_make_checking_slow() -> None:
    slow = {"properties": {"x": {"type": "string", "pattern": "^(a+)+$", "description": "x"}}}
    schema = arguments.check_args(slow)
    began = time.monotonic()
    with pytest.raises(ExecutorFailed):
        arguments.fill(schema, {"x": "a" * 5000 + "b"}, arguments.compile_schema(schema), "find_files")
    assert time.monotonic() - began < 60  # such a pattern would take longer than anybody lives


@pytest.mark.parametrize("name", ["a-b", "_a", "1a", "a b"])
def test_an_argument_is_a_plain_word(name: str) -> None:
    with pytest.raises(ManifestError, match="plain word"):
        arguments.check_args({"properties": {name: {"type": "string", "description": "x"}}})


def test_output_holds_no_paths_of_arguments() -> None:
    with pytest.raises(ManifestError, match="only arguments have"):
        arguments.check_output({"type": "object", "properties": {"a": {"type": "string", "x-path": "read"}}})
