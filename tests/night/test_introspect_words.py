"""What a proposal says: words of the vocabulary, and somebody's words only as inert text between quotation marks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.night import introspect_words as words
from tables import try_each


@given(st.text(max_size=1000))
def test_somebodys_words_are_one_line_bounded_and_without_marks(text: str) -> None:
    found = words.said(text)
    assert found == "" or (found[0], found[-1]) == ("“", "”")
    inner = found[1:-1]
    assert len(inner) <= words.MOST_SAID
    assert all(char.isprintable() for char in inner)
    assert not set(inner) & set('“”<>[]{}|`*#"=\\@&$^~')
    assert words.said(inner) == found, "saying it again changes nothing"


def test_what_is_no_text_is_no_words() -> None:
    assert words.said(None) == "“None”"
    assert words.said("") == words.said("<<>>") == words.said("12 34") == ""


@pytest.mark.parametrize(
    ("summary", "said"),
    [
        ("the keys of these <files (json)> texts <quoted> <quoted> and <quoted>", "the keys of these json texts ..."),
        ("ordina le versioni <quoted> e <quoted> per <name>", "ordina le versioni ... per ..."),
        ("say <b>what</b> is there", "say b what /b is there"),
        ("<quoted>", ""),
    ],
)  # fmt: skip
def test_a_wish_has_dots_where_its_values_were(summary: str, said: str) -> None:
    assert words.wished(summary) == (f"“{said}”" if said else "")


@pytest.mark.parametrize(("name", "phrase"), [("read_files_pdf", "read pdf files"), ("describe_urls", "describe urls")])
def test_a_name_as_people_say_it(name: str, phrase: str) -> None:
    assert words.phrase(name) == phrase


def test_names_of_arguments_are_identifiers_or_not_there() -> None:
    assert words.names(["urls", "urls", "a b", "Big", 7, "x" * 99, "__x", "path_2"]) == ("urls", "path_2")
    assert words.names("urls") == words.names(None) == ()
    assert len(words.names([f"n{number}" for number in range(99)])) == 12


def test_what_says_nothing_of_a_call_is_left_out() -> None:
    args = {
        "entries": [1], "from_step": 1, "results": "x", "path": "{{step1.entries.path}}", "deep": True, "limit": 5,
        "pattern": "*.pdf", "top": 3, "by": ["a"], "Odd Name": "x",
    }  # fmt: skip
    assert words.telling(args, {"limit": 5, "top": 10}) == {"pattern": "*.pdf", "top": 3}


@try_each(
    ("value", "said"),
    [
        ("*.pdf", "pdf"),
        ("excel", "xlsx"),
        (3, "3"),
        (2.5, "2.5"),
        ("~/pdf", ""),  # a place
        ("pdf@example.org", ""),
        ("my secret pdf", ""),  # more than a word of ours
        ("heliotrope", ""),
        ("", ""),
    ],
)
def test_what_is_fixed_is_said_only_in_words_that_are_nobodys_own(value: object, said: str) -> None:
    assert words.constant(value) == said


def test_a_qualifier_makes_a_name_only_where_the_vocabulary_has_it() -> None:
    assert words.qualified("find_files", ["3", "pdf"]) == "find_files_pdf"
    assert words.qualified("find_files", ["3", "files"]) == ""
    assert words.qualified("find_files_pdf", ["csv"]) == ""
