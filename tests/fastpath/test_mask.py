import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpath.reading import slots
from metnos.fastpath.mask import mask


def said(text: str) -> str:
    return mask(text, slots(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Remind me tomorrow at 9 to call", "remind me a date at a time to call"),
        ("Trova i pdf nella cartella Documenti", "trova i pdf nella cartella"),
        ("read ~/taxes/2024.txt", "read a file"),
        ("set the volume to 4 please", "set the volume to a number please"),
        ("", ""),
    ],
)
def test_particulars_become_words_for_what_they_are(text: str, expected: str) -> None:
    assert said(text) == expected


def test_a_kind_of_files_stays_because_it_carries_meaning() -> None:
    assert "songs" in said("play the newest songs")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("move ~/a.txt to ~/b", "Move ~/secret/c.txt to ~/elsewhere"),
        ("fetch https://example.org/a", "fetch http://localhost:8000/b/c"),
        ("write to ada@example.org", "write to someone.else@example.com"),
        ("search for 'bread'", "search for 'whole milk'"),
    ],
)
def test_requests_that_differ_only_in_particulars_are_kept_alike(one: str, other: str) -> None:
    assert said(one) == said(other)


@given(st.text(max_size=120))
def test_any_text_gives_one_line_of_small_letters(text: str) -> None:
    line = said(text)
    assert line == " ".join(line.split())
    assert line == line.lower()
