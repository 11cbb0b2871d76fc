import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpath.pathing import hear
from metnos.fastpath.saying import content, differs, plain
from tables import try_each

FIND = "find the PDFs in ~/x"


def told(asked: str, known: str, steps: int = 1) -> str:
    return differs(hear(asked).form, hear(known).form, steps=steps)


@pytest.mark.parametrize(
    ("asked", "known"),
    [
        ("search the PDFs in ~/y", FIND),
        ("please find my PDFs in ~/y", FIND),
        ("which PDFs are there in ~/y?", FIND),
        ("delete a.txt then b.txt", "delete a.txt and b.txt"),
        ("quanto occupa ~/y", "quanto pesa ~/x"),
    ],
)
def test_what_may_be_taken_for_another(asked: str, known: str) -> None:
    assert told(asked, known) == ""


@try_each(
    ("asked", "known", "why"),
    [
        ("do not find the PDFs in ~/x", FIND, "'non'"),
        (FIND, "do not find the PDFs in ~/x", "'non'"),
        ("trova i PDF in ~/x senza titolo", "trova i PDF in ~/x con titolo", "'senz'"),
        ("delete the PDFs in ~/x", FIND, "'delet'"),
        (FIND, "delete the PDFs in ~/x", "'delet'"),
        ("cancella i PDF in ~/x", "trova i PDF in ~/x", "'cancell'"),
        ("find the hidden PDFs in ~/x", FIND, "'hidden'"),
        ("find the PDFs in ~/x and list them", FIND, "more"),
        ("find the photos in ~/x", FIND, "<files.image>"),
        ("find the PDFs in ~/x.zip", FIND, "<place.archive>"),
        ("find the PDFs of 3 May in ~/x", FIND, "<date"),
        ("what is 3 plus 4", "what is 3 and 4", "'plus'"),
    ],
)
def test_what_may_not(asked: str, known: str, why: str) -> None:
    assert why in told(asked, known)


def test_a_sequence_is_not_taken_for_a_part_of_it() -> None:
    known = "find the PDFs in ~/x and read them"
    assert "less" in told(FIND, known, steps=2)
    assert told("search the PDFs in ~/x and read them", known, steps=2) == ""


def test_where_words_have_an_unknown_part_only_the_same_form_will_do() -> None:
    assert differs("search <quoted>", "find <quoted>", strict=True)
    assert not differs("find <quoted> then", "find <quoted>", strict=True)


def test_the_words_that_carry_the_meaning() -> None:
    assert content(hear("please show me the invoices in ~/x and the letters").form) == ["invoic", "letter"]
    assert plain("a and b then e poi c") == "a b c"


@given(st.text(max_size=40))
def test_every_request_may_be_taken_for_itself(text: str) -> None:
    assert told(text, text) == ""
    assert told(text, text, steps=3) == ""
