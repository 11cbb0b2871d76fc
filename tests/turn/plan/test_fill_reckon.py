"""Expressions, units, days and places of the clock."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.turn.plan import fill_values
from metnos.turn.plan.fill_reckon import conversion, expression, holiday
from tables import try_each
from turn.plan.routing import NOW


@try_each(("text", "expected"), [
    ("what is 2+2?", "2+2"), ("quanto fa 12,50 per 3 diviso 7?", "12.50 * 3 / 7"), ("15% of 80", "15% of 80"),
    ("quanto fa il 20 per cento di 350", "20% of 350"), ("the square root of 144", "sqrt(144)"), ("3 plus 4", "3 + 4"),
    ("1,000 times 3", "1000 * 3"), ("2^10", "2^10"), ("calcola 3 al quadrato", "3^2"), ("2026-11-15", None),
    ("find 2 + 2 files", None), ("delete a*b", None), ("12", None), ("how much is the fish", None),
    ("12/03/2026", None),
])  # fmt: skip
def test_an_expression_is_the_whole_of_it(text: str, expected: str | None) -> None:
    assert expression(text) == expected


@given(st.integers(0, 10**6), st.integers(1, 10**6), st.sampled_from("+*/"))
def test_digits_and_signs_stay_what_they_are(one: int, other: int, sign: str) -> None:
    assert expression(f"what is {one} {sign} {other}?") == f"{one} {sign} {other}"


@try_each(("text", "expected"), [
    ("convert 10 miles to km", ([10], "miles", "km")),
    ("how many kilometres are 26.2 miles?", ([26.2], "miles", "kilometres")),
    ("quanti gradi centigradi sono 100 fahrenheit?", ([100], "fahrenheit", "celsius")),
    ("5 GB in MB", ([5], "GB", "MB")),
    ("converti 3,5 kg in libbre", ([3.5], "kg", "libbre")), ("100 °F in °C", ([100], "fahrenheit", "celsius")),
    ("convert a.png to jpeg", None), ("convert 10 euros to dollars", None), ("move 3 files in a", None),
])  # fmt: skip
def test_a_conversion_has_a_number_and_two_units(text: str, expected: tuple[Any, ...] | None) -> None:
    found = conversion(text)
    assert (found and (found["values"], found["from"], found["to"])) == expected


def test_a_feast_is_the_next_one() -> None:
    assert holiday("how long until Christmas?", NOW) == "2026-12-25"
    assert holiday("quanto manca a ferragosto", NOW) == "2027-08-15"
    assert holiday("how long until lunch", NOW) is None


@pytest.mark.parametrize("said", ["123456789012345678", "12345678901234567890123", "9007199254740993"])
def test_a_long_number_is_read_to_its_last_digit(said: str) -> None:
    assert [each.value for each in fill_values.numbers(f"the factorial of {said} please")] == [int(said)]
    assert [each.value for each in fill_values.numbers(f"-{said}")] == [-int(said)]


def test_what_is_too_long_for_a_number_is_none() -> None:
    assert fill_values.numbers("look at " + "7" * 60) == []
