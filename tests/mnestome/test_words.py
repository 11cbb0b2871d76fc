import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.mnestome import words
from tables import try_each


@pytest.mark.parametrize("name", ["read_files", "a", "x" * 64])
def test_names(name: str) -> None:
    assert words.is_name(name)


@try_each("odd", ["", "Read", "1st", "a b", "a\n", "naïve", "x" * 65, "../a"])
def test_what_is_no_name(odd: str) -> None:
    assert not words.is_name(odd)


def test_versions() -> None:
    assert all(map(words.is_version, ("", "1.0.0", "2.0.0-rc.1+build")))
    assert not any(map(words.is_version, ("1 0", "1.0\n", "v" * 65)))


@given(st.lists(st.text(st.characters(codec=None)), max_size=40))
def test_whatever_tags_are_said_can_be_stored_and_come_back(said: list[str]) -> None:
    kept = words.tags(said)
    assert words.from_json(words.to_json(kept)) == kept
    assert len(kept) == len(set(kept)) <= words.TAGS


@given(st.lists(st.text(max_size=3)), st.lists(st.text(max_size=3)))
def test_merging_keeps_what_was_there_first(known: list[str], more: list[str]) -> None:
    both = words.merged(known, more)
    assert both == list(dict.fromkeys([*known, *more]))[: words.TAGS]
    assert words.merged(both, more) == both or len(both) == words.TAGS
