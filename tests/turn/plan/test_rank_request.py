"""A request, taken apart: its words, what is left without its values, and what values it has."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.fastpath.slots import extract
from metnos.turn.plan.rank_request import MOST_UNITS, Asked, Value, ask

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
HOME = Path("/home/owner")


def slotted(text: str) -> Asked:
    return ask(text, extract(text, now=NOW, home=HOME, cwd=HOME))


def words(asked: Asked) -> set[str]:
    return {unit.text for unit in asked.units}


@pytest.mark.parametrize("take", [ask, slotted])
def test_values_are_counted_and_masked_and_say_nothing(take: object) -> None:
    asked = take("resize ~/a/beach.jpg to 800 and mail it to me@example.org, see https://example.org/x")  # type: ignore[operator]
    assert asked.values[Value.PATH] == asked.values[Value.URL] == asked.values[Value.EMAIL] == 1
    assert asked.values[Value.NUMBER] >= 1
    assert "picture file" in asked.core
    assert "web page" in asked.core
    assert "beach" not in asked.core
    assert words(asked) & {"beach", "example", "org"} == set()
    assert "resize" in words(asked)
    assert asked.kinds == {"jpg", "picture", "web"}


def test_a_quoted_text_is_a_value() -> None:
    asked = ask("search for 'delete all files' in my notes")
    assert asked.values[Value.TEXT] == 1
    assert "delete" not in words(asked)
    assert "delete" not in asked.verbs


def test_names_inside_a_sentence_are_values_but_may_be_a_tools_name() -> None:
    asked = ask("What is the capital of Brazil? Ask BoardGameGeek too")
    units = {unit.text: unit for unit in asked.units}
    assert units["brazil"].name
    assert units["brazil"].weight == 0
    assert not units["capital"].name
    assert "geek" in units
    known = asked.stems(lambda stem: stem == "brazil")
    assert known["brazil"] == 1
    assert "geek" not in known


def test_words_that_happen_to_be_a_pattern_stay_words() -> None:
    asked = slotted("which photos are in ~/Pictures?")
    assert "photos" in words(asked)
    assert "picture" in asked.kinds
    assert "photos" in asked.core


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        ("sposta la cartella", "move"),
        ("get rid of it", "delete"),
        ("traduci questo", "translate"),
        ("zip them", "archive"),
    ],
)
def test_what_is_to_be_done_is_known_in_both_languages(text: str, verb: str) -> None:
    assert verb in ask(text).verbs


def test_how_many_asks_about_anything_and_is_no_verb() -> None:
    assert "count" not in ask("how many litres are there?").verbs
    assert "count" not in ask("quanti litri sono?").verbs
    assert "count" in ask("count the lines").verbs


def test_numbers_and_times_in_words_count_too() -> None:
    asked = ask("three eggs, twenty minutes, next monday")
    assert asked.values[Value.NUMBER] == 2
    assert asked.values[Value.TIME] >= 1
    assert ask("who was king in 1510?").values[Value.TIME] == 1


@given(st.text(alphabet=st.characters(), max_size=400))
def test_no_request_makes_it_fail(text: str) -> None:
    asked = slotted(text)
    assert len(asked.units) <= MOST_UNITS
    assert all(0 <= unit.weight <= 1 for unit in asked.units)
    assert all(count >= 0 for count in asked.values)
    assert asked.core or not text


def test_a_whole_book_is_cut() -> None:
    asked = ask("delete everything " * 20_000 + "'")
    assert len(asked.units) <= MOST_UNITS
    assert len(asked.core) <= 4000
