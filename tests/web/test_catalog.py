"""Executors in words: what is found, in which order, and what it is called."""

import pytest

from metnos.web import catalog
from web.recorded import EXECUTORS


def test_what_is_in_trouble_comes_first_then_what_is_used_most() -> None:
    names = [each["name"] for each in catalog.found(EXECUTORS, "", "")]
    assert names[:4] == ["count_words", "get_prices", "read_notes", "find_files"]


def test_every_word_must_occur_and_how_it_is_written_does_not_matter() -> None:
    assert [each["name"] for each in catalog.found(EXECUTORS, "", "MOVE_files")] == ["move_files"]
    assert catalog.found(EXECUTORS, "", "move notes") == []


def test_tabs_count_what_they_would_show() -> None:
    for view, _, count in catalog.tabs(EXECUTORS, "files"):
        assert count == len(catalog.found(EXECUTORS, view, "files"))


@pytest.mark.parametrize(
    ("value", "said"),
    [(1.5, "helps +1.50"), (-0.5, "hinders \N{MINUS SIGN}0.50"), (0.0, "nobody could"), (None, "nobody could")],
)
def test_a_fitness_is_said_in_words(value: float | None, said: str) -> None:
    assert catalog.worth(value)[0].startswith(said)


def test_a_neighbour_stands_on_its_side_and_the_strongest_first() -> None:
    known = [{"source": "a", "target": "me", "weight": 0.1}, {"source": "b", "target": "me", "weight": 0.9},
             {"source": "me", "target": "c", "weight": 0.5}]  # fmt: skip
    sides = catalog.neighbours({"name": "me", "neighbours": known})
    assert [each["name"] for each in sides["before"]] == ["b", "a"]
    assert [each["name"] for each in sides["after"]] == ["c"]


def test_what_was_allowed_is_said_without_the_name_of_a_capability() -> None:
    assert catalog.allowed("move_files may fs.write /home/you") == "move_files may change what is in /home/you"
    assert catalog.allowed("x may frobnicate y") == "x may frobnicate y"


def test_an_unknown_state_is_shown_by_its_own_name() -> None:
    assert catalog.standing({"state": "new"}).word == "new"
