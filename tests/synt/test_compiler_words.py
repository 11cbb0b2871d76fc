"""What a compiled executor says of itself."""

from typing import Any

import pytest

from metnos.executors.manifest import Reversal
from metnos.synt.compiler_form import Fixed, Form, Part
from metnos.synt.compiler_runs import Run
from metnos.synt.compiler_words import affinity_of, examples_of, name_of, purpose_of, reversal_of
from synt.pipelines import builtin


def form(*tools: str) -> Form:
    return Form(tuple(Part(builtin(tool), {}) for tool in tools), {}, ())


def run(text: str, *words: str, **planned: Any) -> Run:
    return Run("01T", text, (planned,), (), (), frozenset(), frozenset(words))


@pytest.mark.parametrize(
    ("tools", "reversal"),
    [
        (("find_files", "count_text"), Reversal.NOTHING),
        (("find_files", "move_files"), Reversal.MOVE_BACK),
        (("copy_files", "hash_files"), Reversal.REMOVE_CREATED),
        (("copy_files", "replace_text"), Reversal.RESTORE_CONTENT),
        (("find_files", "delete_files"), Reversal.RESTORE_TRASHED),
        (("make_folders", "move_files"), Reversal.MOVE_BACK),  # each is taken back by its own action: this one first
        (("move_files", "write_files"), Reversal.RESTORE_CONTENT),
    ],
)
def test_it_is_taken_back_as_its_parts_are(tools: tuple[str, ...], reversal: Reversal) -> None:
    assert reversal_of(form(*tools)) is reversal


def test_what_cannot_be_taken_back_in_one_part_cannot_in_the_whole() -> None:
    sending = builtin("write_files").model_copy(update={"reversal": Reversal.IRREVERSIBLE})
    parts = (Part(builtin("move_files"), {}), Part(sending, {"text": Fixed("x")}), Part(builtin("move_files"), {}))
    assert reversal_of(Form(parts, {}, ())) is Reversal.IRREVERSIBLE


def test_the_purpose_says_every_step() -> None:
    said = purpose_of(form("find_files", "count_text"), "count_files")
    assert said.startswith("Find files below a folder by name, size, age or kind, then count the lines")
    many = purpose_of(form("find_files", "read_files", "count_text", "write_files"), "write_files_name")
    assert many == "Find files, then read files, then count text, then write files, in one step."


@pytest.mark.parametrize(
    ("planned", "taken", "name"),
    [
        ({}, [], "search_files"),
        ({}, ["search_files"], "search_files_text"),
        ({"pattern": "*.pdf"}, ["search_files", "search_files_text"], "search_files_pdf"),
        ({}, ["search_files", "search_files_text"], "search_files_name"),
    ],
)
def test_a_name_is_of_the_vocabulary_and_free(planned: dict[str, Any], taken: list[str], name: str) -> None:
    assert name_of(form("find_files", "search_text"), [run("find it", **planned)], taken) == name


def test_there_may_be_no_name_left() -> None:
    taken = [f"search_files_{each}" for each in ("text", "name", "content", "local")]
    assert name_of(form("find_files", "search_text"), [run("find it")], ["search_files", *taken]) == ""


def test_words_that_most_requests_use() -> None:
    runs = [run("a", "count", "words"), run("b", "count", "lines"), run("c", "count", "words")]
    assert affinity_of(runs) == ["count", "words"]


def test_examples_are_requests_that_were_made_each_once() -> None:
    runs = [run("count  the\nwords"), run("count the words"), run("x" * 300), run("count")]
    assert [each["say"] for each in examples_of(Form((Part(builtin("count_text"), {}),), {}, ()), runs)] == [
        "count",
        "count the words",
    ]
