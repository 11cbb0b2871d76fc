import json
import math
from pathlib import PurePosixPath
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from grimoire.traces import json_values, tables
from metnos.grimoire import content
from metnos.grimoire.trace import State

# Whatever may be in a reply, a plan or an argument, lone surrogates and numbers that are none included.
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@given(tables)
def test_what_fits_stays_as_it_is(value: dict[str, Any]) -> None:
    assert json.loads(content.mapping(value)) == value


@given(st.lists(json_values, max_size=4))
def test_a_sequence_that_fits_stays_as_it_is(values: list[Any]) -> None:
    assert json.loads(content.sequence(values)) == values


@given(st.dictionaries(st.text(max_size=400), anything, max_size=6), st.integers(14, 4000))
def test_anything_becomes_json_within_its_size(value: dict[str, Any], most: int) -> None:
    made = content.mapping(value, most)
    assert len(made.encode()) <= most
    assert isinstance(json.loads(made), dict)


@given(st.lists(anything, max_size=6), st.integers(2, 4000))
def test_any_sequence_becomes_json_within_its_size(values: list[Any], most: int) -> None:
    made = content.sequence(values, most)
    assert len(made.encode()) <= most
    assert isinstance(json.loads(made), list)


@given(st.text(), st.integers(1, 50))
def test_any_text_can_be_stored(value: str, most: int) -> None:
    made = content.text(value, most)
    made.encode()
    assert made == value or any("\ud800" <= char <= "\udfff" for char in value) or len(value) > most


def test_a_large_reply_keeps_its_counts_the_beginning_and_says_so() -> None:
    entries = [{"path": f"/home/owner/file-{number}.txt", "size": number} for number in range(50_000)]
    made = json.loads(content.mapping({"entries": entries, "count": 50_000, "total": 60_000}, content.REPLY_BYTES))
    assert (made["count"], made["total"], made["cut"]) == (50_000, 60_000, True)
    kept = made["entries"]
    assert 1000 < len(kept) < 50_000
    assert kept[:-1] == entries[: len(kept) - 1]


def test_one_huge_entry_does_not_push_out_the_rest() -> None:
    made = json.loads(content.mapping({"content": "x" * 10_000_000, "to": "/home/owner/a.txt", "paths": ["/b"]}))
    assert made["to"] == "/home/owner/a.txt"
    assert made["paths"] == ["/b"]
    assert made["cut"] is True
    assert set(made["content"]) == {"x"}


def test_a_text_that_fits_alone_is_not_cut() -> None:
    text = "é" * 60_000
    assert json.loads(content.mapping({"entries": [{"text": text}]}, content.REPLY_BYTES))["entries"][0]["text"] == text


def test_what_is_too_deep_ends() -> None:
    deep: Any = "bottom"
    for _ in range(10_000):
        deep = [deep]
    assert json.loads(content.mapping({"deep": deep}))["cut"] is True


def test_odd_values() -> None:
    made = json.loads(
        content.mapping(
            {
                "nan": math.nan,
                "huge": 1 << 5000,
                "path": PurePosixPath("/a"),
                "state": State.DONE,
                5: "number",
                "t": (1,),
            }
        )
    )
    assert made == {"nan": None, "huge": None, "path": "/a", "state": "done", "5": "number", "t": [1]}
    assert content.number(math.inf) == 0.0


def test_taking_out_leaves_names_and_numbers() -> None:
    assert content.bare_reply({"entries": ["secret"], "count": 1, "failures": [{"item": "secret"}], "failed": 1}) == {
        "count": 1, "failed": 1,
    }  # fmt: skip
    plan = {"kind": "steps", "say": "secret", "certainty": 0.5, "notes": ["secret"],
            "steps": [{"executor": "find_files", "args": {"size": 4711}}, "odd", {"executor": "Secret!"}]}  # fmt: skip
    assert content.bare_plan(plan) == {"kind": "steps", "certainty": 0.5, "steps": [{"executor": "find_files"}]}
    assert content.bare_list([{"executor": "find_files", "score": 0.5, "because": "secret", "why": [["secret"]]}]) == [
        {"executor": "find_files", "score": 0.5}
    ]
    assert content.bare_plan({"steps": "secret"}) == {"steps": []}
