"""What forms leave out, and what may still matter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpath.pathing import hear
from metnos.fastpath.mask import mask
from metnos.fastpath.saying import plain
from metnos.fastpath.wording import otherwise
from tables import try_each


def differs(known: str, asked: str) -> str:
    one, other = hear(known), hear(asked)
    if plain(one.form) != plain(other.form):
        return "the form tells them apart already"
    return otherwise(mask(asked, other.slots), mask(known, one.slots), plain(other.form), plain(one.form))


@try_each(
    ("known", "asked"),
    [
        ("delete the PDFs in ~/inbox", "deleted the PDFs in ~/inbox"),
        ("delete the PDFs in ~/inbox", "delete a PDF in ~/inbox"),
        ("delete the PDFs in ~/inbox", "delete the PDF in ~/inbox"),
        ("delete the PDFs in ~/inbox", "delete some PDFs in ~/inbox"),
        ("delete the PDFs in ~/inbox", "delete the PDFs in ~/inbox?"),
        ("find the newest file in ~/inbox", "find the newest files in ~/inbox"),
        ("cancella i pdf in ~/inbox", "cancello i pdf in ~/inbox"),
        ("cancella i pdf in ~/inbox", "cancella il pdf in ~/inbox"),
        ("cancella i pdf in ~/inbox", "cancella un pdf in ~/inbox"),
        ("cancella il pdf in ~/inbox", "cancella i pdf in ~/inbox"),
    ],
)
def test_what_has_the_form_and_not_the_meaning(known: str, asked: str) -> None:
    assert differs(known, asked)
    assert differs(asked, known)


@try_each(
    ("known", "asked"),
    [
        ("delete the PDFs in ~/inbox", "delete the PDFs in ~/docs"),
        ("delete the PDFs in ~/inbox", "please delete my PDFs in ~/inbox, thanks"),
        ("delete the PDFs in ~/inbox", "could you delete the PDFs in ~/inbox"),
        ("delete the PDFs in ~/inbox", "DELETE PDFs in /tmp/x"),
        ("find the txt files in ~/inbox", "find the logs in ~/inbox"),
        ("find the 3 largest files in ~/inbox", "find the two smallest files in ~/docs"),
        ("find the PDFs in ~/a and delete them", "find the PDFs in ~/b, then delete them"),
        ("cancella i pdf in ~/inbox", "per favore cancella i pdf in ~/docs, grazie"),
        ('find files in ~/a that contain "cats"', 'find files in ~/a that contain "delete a file?"'),
    ],
)
def test_other_particulars_and_politeness_are_the_same_request(known: str, asked: str) -> None:
    assert differs(known, asked) in ("", "the form tells them apart already")


@given(st.text(max_size=60))
def test_a_request_is_never_another_than_itself_and_nothing_raises(text: str) -> None:
    heard = hear(text)
    said = mask(text, heard.slots)
    form = plain(heard.form)
    assert otherwise(said, said, form, form) == ""
    otherwise(said, heard.form, form, "delet <files.pdf> in <path>")


@pytest.mark.parametrize(
    ("known", "asked"),
    [
        ("delete the PDFs in ~/inbox", "deleted the PDFs from ~/inbox"),
        ("delete the PDFs in ~/inbox", "delete a PDF from ~/inbox"),
        ("delete the PDFs in ~/inbox", "delete the PDF from ~/inbox"),
        ("delete the PDFs in ~/inbox", "delete one of the PDFs in ~/inbox"),
        ("delete the PDFs in ~/inbox", "delete the PDFs from ~/inbox?"),
        ("cancella i pdf in ~/inbox", "cancello i pdf da ~/inbox"),
    ],
)
def test_where_only_the_meaning_is_alike_what_both_say_must_still_be_said_alike(known: str, asked: str) -> None:
    one, other = hear(known), hear(asked)
    assert one.form != other.form
    assert otherwise(mask(asked, other.slots), mask(known, one.slots), plain(other.form), plain(one.form))


def test_other_words_of_the_same_meaning_are_no_reason() -> None:
    one, other = hear("delete the PDFs in ~/inbox"), hear("remove all PDFs from ~/docs")
    assert otherwise(mask(other.text, other.slots), mask(one.text, one.slots), other.form, one.form) == ""
