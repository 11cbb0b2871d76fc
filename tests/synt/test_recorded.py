"""Birth tests from recorded runs: small, complete, and true to what a turn would have done."""

import dataclasses
from typing import Any

import pytest

from metnos.core.canon import canonical_json
from metnos.executors import birth
from metnos.executors.birth import BirthTest
from metnos.grimoire.trace import Trace
from metnos.synt import compiler_runs
from metnos.synt.compiler import compile_runs
from synt.pipelines import FOUND, ROWS, builtin, reply_of, told

HOME = "/home/owner"
PARTS = [builtin("find_files"), builtin("read_files")]


def entry(name: str) -> dict[str, Any]:
    return {"path": f"{HOME}/a/{name}", "name": name, "kind": "file", "size": 1, "modified": "2026-11-01"}


def read(name: str, text: str) -> dict[str, Any]:
    return {"path": f"{HOME}/a/{name}", "text": text, "from_line": 1, "lines": 1, "more": False, "encoding": "utf-8",
            "size": 1}  # fmt: skip


def traced(number: int, folder: str, names: list[str], text: str = "hello") -> Trace:
    steps = [("find_files", {"path": f"~/{folder}"}), ("read_files", {"paths": FOUND})]
    called = [steps[0][1], {"paths": [f"{HOME}/a/{name}" for name in names]}]
    replies = [reply_of(PARTS[0], *map(entry, names)), reply_of(PARTS[1], *(read(name, text) for name in names))]
    return told(number, f"read what is in ~/{folder}", steps, called, replies)


def made_of(*traces: Trace, parts: Any = PARTS) -> dict[str, BirthTest]:
    runs, skipped = compiler_runs.read(traces, parts)
    assert skipped == []
    draft = compile_runs(parts, runs, [], [], home=HOME).draft
    return {test.name: test for test in birth.parse(draft.tests)}


def test_a_run_becomes_a_test_in_which_nothing_acts() -> None:
    test = made_of(traced(1, "a", ["x"]))["read what is in ~/a"]
    assert test.args == {"path": "{box}/a"}
    assert [(call.name, call.args) for call in test.calls] == [
        ("find_files", {"path": "{box}/a"}),
        ("read_files", {"paths": ["{box}/a/x"]}),
    ]
    assert test.expect["entries"][0]["text"] == "hello"
    assert test.expect["count"] == 1


def test_what_was_perhaps_never_seen_is_tried_too() -> None:
    found = made_of(traced(1, "a", ["x"]), traced(2, "b", ["y"]))
    assert found["read_files fails"].expect_error == "unavailable"
    assert found["find_files gives nothing"].expect["entries"] == []
    assert [call.name for call in found["find_files gives nothing"].calls] == ["find_files"]
    partly = found["not everything succeeds, and there is more than is given"]
    assert partly.expect_error == "too_large"  # from a part nothing further is done
    assert found["path is missing"].expect_error == "invalid"


def test_a_test_holds_little_of_what_is_the_owners() -> None:
    found = made_of(traced(1, "a", [f"{number}.txt" for number in range(40)], "secret " * 400))
    test = found["read what is in ~/a"]
    assert [len(call.reply["entries"]) for call in test.calls] == [3, 3]
    assert test.calls[1].args == {"paths": [f"{{box}}/a/{number}.txt" for number in range(3)]}
    assert len(test.expect["entries"][0]["text"]) < 200
    assert HOME not in str(found)
    assert len(canonical_json([each.model_dump() for each in found.values()])) < 16_000


def test_at_most_two_ordinary_runs_are_kept_and_the_smallest() -> None:
    found = made_of(*(traced(number, f"f{number}", ["x"] * (6 - number)) for number in range(1, 6)))
    assert [name for name in found if name.startswith("read what")] == ["read what is in ~/f5", "read what is in ~/f4"]


def test_the_entry_that_is_wanted_is_never_cut_off() -> None:
    steps = [("find_files", {"path": "~/a"}), ("read_files", {"paths": ["{{step1.entries[4].path}}"]})]
    names = [f"{number}" for number in range(9)]
    replies = [reply_of(PARTS[0], *map(entry, names)), reply_of(PARTS[1], read("4", "five"))]
    run = told(1, "read the fifth", steps, [steps[0][1], {"paths": [f"{HOME}/a/4"]}], replies)
    test = made_of(run)["read the fifth"]
    assert len(test.calls[0].reply["entries"]) == 5
    assert test.calls[1].args == {"paths": ["{box}/a/4"]}


def test_what_toml_cannot_say_is_said_in_json_or_left_out() -> None:
    parts = [builtin("read_tables"), builtin("sort_tables")]
    steps = [("read_tables", {"path": "~/t.csv"}), ("sort_tables", {"entries": ROWS, "by": [{"column": "a"}]})]
    rows = [{"a": None, "b": 1}, {"a": 2, "b": None}]
    called = [steps[0][1], {"entries": rows, "by": [{"column": "a"}]}]
    replies = [reply_of(parts[0], *rows), reply_of(parts[1], *rows)]
    test = made_of(told(1, "sort it", steps, called, replies), parts=parts)["sort it"]
    assert test.calls[1].args["entries"] == rows
    assert test.expect["entries"] == [{"b": 1}, {"a": 2}]


def test_a_part_that_failed_is_recorded_with_its_error() -> None:
    good, bad = traced(1, "a", ["x"]), traced(2, "gone", [])
    failed = dataclasses.replace(
        bad.steps[0], ok=False, kind="not_found", message=f"there is no {HOME}/gone", reply={}
    )  # fmt: skip
    test = made_of(good, dataclasses.replace(bad, steps=(failed,)))["read what is in ~/gone"]
    assert (test.expect_error, test.calls[0].message) == ("not_found", "there is no {box}/gone")


@pytest.mark.parametrize("path", ["~/a", "~/a/", "a", f"{HOME}/a"])
def test_a_folder_is_in_the_box_however_it_was_said(path: str) -> None:
    run = traced(1, "a", ["x"])
    steps = [{"executor": "find_files", "args": {"path": path}}, dict(run.plan["steps"][1])]
    first = dataclasses.replace(run.steps[0], args={"path": path})
    run = dataclasses.replace(run, plan={**run.plan, "steps": steps}, steps=(first, run.steps[1]))
    assert made_of(run)["read what is in ~/a"].calls[0].args == {"path": "{box}/a"}


@pytest.mark.parametrize("text", ["", "x" * 500])
def test_every_test_has_a_name(text: str) -> None:
    found = made_of(dataclasses.replace(traced(1, "a", ["x"]), text=text))
    assert all(0 < len(name) <= 200 for name in found)


def test_no_two_tests_have_one_name() -> None:
    parts = [builtin("read_tables"), builtin("read_tables"), builtin("join_tables")]
    join = ("join_tables", {"entries": ROWS, "right": "{{step2.entries}}", "on": [{"column": "a"}]})
    steps = [("read_tables", {"path": "~/x.csv"}), ("read_tables", {"path": "~/y.csv"}), join]
    rows = reply_of(parts[0], {"a": 1})
    called = [steps[0][1], steps[1][1], {**join[1], "entries": [{"a": 1}], "right": [{"a": 1}]}]
    runs, _ = compiler_runs.read([told(1, "join", steps, called, [rows, rows, reply_of(parts[2], {"a": 1})])], parts)
    names = [test.name for test in birth.parse(compile_runs(parts, runs, [], [], home=HOME).draft.tests)]
    assert len(set(names)) == len(names)
    assert "read_tables gives nothing (2)" in names
