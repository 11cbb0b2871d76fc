"""Names for tools of servers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.executors import vocabulary
from metnos.executors.mcp.naming import propose


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("search_notes", "search_notes"),
        ("readFile", "read_files"),
        ("list-tables", "list_tables"),
        ("frobnicate", "get_data"),
    ],
)
def test_the_words_of_a_tool_are_found_in_the_vocabulary(tool: str, name: str) -> None:
    assert propose(tool, (), acts=False) == name


def test_what_acts_and_says_nothing_is_run() -> None:
    assert propose("frobnicate", (), acts=True) == "run_data"


def test_a_name_that_is_taken_is_not_proposed() -> None:
    first = propose("search_notes", (), acts=False)
    second = propose("search_notes", (first,), acts=False)
    assert second == "search_notes_remote"
    third = propose("search_notes", (first, second), acts=False)
    assert propose("search_notes", (first, second, third), acts=False) == ""


@given(st.text(max_size=40), st.booleans())
def test_whatever_a_tool_is_called_the_name_is_one_of_the_vocabulary(tool: str, acts: bool) -> None:
    assert str(vocabulary.parse_name(propose(tool, (), acts=acts)))
