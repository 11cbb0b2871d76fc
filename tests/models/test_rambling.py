import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.models.rambling import rambles


@given(st.text(min_size=1, max_size=150), st.text(max_size=500))
def test_a_piece_repeated_to_the_end_is_rambling(piece: str, before: str) -> None:
    assert rambles(before + piece * (2000 // len(piece) + 1))


@given(st.text(max_size=400))
def test_short_text_never_is_unless_it_is_blank(text: str) -> None:
    assert not rambles(text + "x")


@pytest.mark.parametrize(
    "text",
    [
        "-" * 200,
        "\n".join(f"| file_{number}.pdf | {number * 37} bytes |" for number in range(60)),
        "\n".join(f'{{"step": {number}, "executor": "find_files"}}' for number in range(60)),
        "word " * 200 + "and then it went on with something else",
        " " * 300 + "x",
    ],
)
def test_rulers_tables_and_lists_pass(text: str) -> None:
    assert not rambles(text)


def test_a_run_of_nothing_is_rambling() -> None:
    assert rambles('{"a":' + "\n \t" * 200)
