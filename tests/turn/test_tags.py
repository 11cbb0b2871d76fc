"""The tags of a turn: from a closed list, whatever the request says."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.executors.vocabulary import load
from metnos.fastpath.slots import extract
from metnos.turn import tags as tagging

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
CLOSED = {*load().objects, *tagging._DOMAINS, *tagging._FILES}


def tags(text: str) -> tuple[str, ...]:
    return tagging.tags(text, extract(text, now=NOW, home=Path("/home/o"), cwd=Path("/home/o")))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("find the PDFs in ~/inbox and extract their text", {"pdf", "text"}),
        ("sposta le fatture di ieri in ~/archivio", {"invoice"}),
        ("find invoice.pdf", {"pdf", "invoice"}),
        ("resize the photos in Foto", {"images"}),
        ("total quantity in ~/data/sales.csv", {"tables"}),
    ],
)
def test_a_turn_is_tagged_with_what_it_is_about(text: str, wanted: set[str]) -> None:
    assert wanted <= set(tags(text))


def test_nothing_that_is_no_tag_is_one() -> None:
    assert tags("find the letters of my divorce lawyer Smith") == ("letter",)
    assert tags("") == ()


@given(st.text(max_size=200))
def test_whatever_is_said_tags_are_words_of_the_closed_list(text: str) -> None:
    found = tags(text)
    assert set(found) <= CLOSED
    assert len(found) <= tagging.MOST
