import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastpath.reading import slots, told
from metnos.fastpath.slots import Kind
from metnos.fastpath.slots_numbers import value_of
from tables import try_each

NUMBERS = [
    ("add 3 and 4.5", ["number 3", "number 4.5"]),
    ("somma 3 e 4,5", ["number 3", "number 4.5"]),
    ("what is 1,234.5 plus 2,000?", ["number 1234.5", "number 2000"]),
    ("quanto fa 1.234,5 più 2.000?", ["number 1234.5", "number 2000"]),
    ("the number 1.234", ["number 1.234"]),
    ("il numero 0.125", ["number 0.125"]),
    ("sum 3, 4 and 5", ["number 3", "number 4", "number 5"]),
    ("somma 3, 4 e 5", ["number 3", "number 4", "number 5"]),
    ("add 1,2,3", ["number 1", "number 2", "number 3"]),
    ("the values 3,4 and 5", ["number 3", "number 4", "number 5"]),
    ("1,234,567 rows", ["number 1234567"]),
    ("1.234.567 righe", ["number 1234567"]),
    ("15% of 80", ["number 15", "number 80"]),
    ("il 15 per cento di 80", ["number 15", "number 80"]),
    ("-5 degrees", ["number -5"]),
    ("convert minus 5 to it", ["number -5"]),
    ("converti meno 5 gradi", ["number -5"]),
    ("10 minus 5", ["number 10", "number 5"]),
    ("$20 or 20€", ["number 20", "number 20"]),
    ("200px wide", ["number 200"]),
    ("resize to 800x600", ["number 800", "number 600"]),
    ("delete reminder #3", ["number 3"]),
    ("1e5 steps", ["number 100000.0"]),
    ("3 million people", ["number 3000000"]),
    ("2 milioni di euro", ["number 2000000"]),
    # in words
    ("three sentences", ["number 3"]),
    ("tre frasi", ["number 3"]),
    ("twenty-five words", ["number 25"]),
    ("one hundred and five", ["number 105"]),
    ("two thousand", ["number 2000"]),
    ("ventitré righe", ["number 23"]),
    ("trentotto righe", ["number 38"]),
    ("duecentocinquanta parole", ["number 250"]),
    ("tremila euro", ["number 3000"]),
    ("a dozen eggs", ["number 12"]),
    ("una dozzina di uova", ["number 12"]),
    ("half of 250", ["number 0.5", "number 250"]),
    ("metà di 250", ["number 0.5", "number 250"]),
    ("un paio di righe", ["number 2"]),
    # what is no number
    ("this one is fine", []),
    ("which one?", []),
    ("reminders that are due", []),
    ("le due tabelle", ["number 2"]),
    ("chi sei?", []),
    ("sei un robot?", []),
    ("le sei righe", ["number 6"]),
    ("mp3 and sha256 of E1234", ["files *.mp3"]),
    ("utf-8", []),
    ("covid-19", []),
    ("IMG_2231", []),
    ("un file e una riga", []),
]


@try_each(("text", "expected"), NUMBERS)
def test_numbers(text: str, expected: list[str]) -> None:
    assert told(text) == expected


@given(st.integers(0, 10**12), st.sampled_from(["en", "it"]))
def test_a_grouped_number_is_what_it_was_before(value: int, language: str) -> None:
    grouped = f"{value:,}" if language == "en" else f"{value:,}".replace(",", ".")
    assert value_of(grouped, language) == value
    assert value_of(str(value), language) == value


@given(st.decimals(0, 10**9, places=2, allow_nan=False))
def test_a_decimal_number_is_what_it_was_before(value: object) -> None:
    text = f"{value:,}"
    assert value_of(text, "en") == pytest.approx(float(str(value)))
    swapped = text.translate(str.maketrans(",.", ".,"))
    assert value_of(swapped, "it") == pytest.approx(float(str(value)))


@given(st.integers(1, 10**9))
def test_a_plain_number_is_found(value: int) -> None:
    (slot,) = slots(f"keep {value} of them")
    assert (slot.kind, slot.value, slot.text) == (Kind.NUMBER, value, str(value))


@pytest.mark.parametrize("figures", ["3.5.2", "1,2,3", "1.2,3.4", "12.34.567", "9e999"])
def test_what_is_no_number_has_no_value(figures: str) -> None:
    assert value_of(figures, "en") is None
