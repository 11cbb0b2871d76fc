"""Intents: the executor that a clause speaks for."""

import pytest

from metnos.fastpath.slots import extract
from metnos.turn.plan.clauses import split
from metnos.turn.plan.fill_text import swallows
from metnos.turn.plan.intents import Intent, intents, known, of_name
from metnos.turn.plan.records import Tool
from turn.plan.asking import tools
from turn.plan.routing import CWD, HOME, NOW


def found(text: str, *more: Tool) -> tuple[Intent, ...]:
    clause = split(text, extract(text, now=NOW, home=HOME, cwd=CWD), swallows)[0]
    return intents(clause, {**tools(), **{tool.name: tool for tool in more}})


def test_every_built_in_has_lines() -> None:
    assert set(tools()) <= known()


def test_a_verb_that_no_line_names_rules_everything_out() -> None:
    assert found("translate x.txt") == ()
    assert found("frobnicate x.txt") == ()
    assert found("read x.txt")[0].executor == "read_files"


def test_what_is_left_over_costs() -> None:
    plain, more = found("find the PDFs in ~/inbox")[0], found("find the PDFs in ~/inbox blah blub")[0]
    assert plain.score > more.score
    assert plain.covers > more.covers


@pytest.mark.parametrize(("text", "executor"), [
    ("duplicate a.txt as b.txt", "copy_files"), ("are there duplicate files in ~/inbox?", "find_duplicates"),
    ("archive ~/inbox", "archive_files"), ("unpack the archive a.zip", "extract_archives"),
])  # fmt: skip
def test_a_word_is_a_verb_where_the_clause_begins_with_it(text: str, executor: str) -> None:
    assert found(text)[0].executor == executor


def test_of_equals_the_one_that_changes_nothing_comes_first() -> None:
    for each, after in zip(found("zip files"), found("zip files")[1:], strict=False):
        if each.score == after.score:
            assert tools()[each.executor].mutates <= tools()[after.executor].mutates


def test_what_grew_is_reached_by_its_name() -> None:
    grown = Tool("rotate_images", "1", "0", "Turn pictures.", True, {}, "results", {})
    assert found("ruota foto.jpg", grown)[0].executor == "rotate_images"
    assert list(of_name("NotAName")) == []
