import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.context.tokens_bpe import SPLITS, BytePairs, byte_signs

PAIRS = {("h", "e"): 0, ("l", "l"): 1, ("he", "ll"): 2, ("hell", "o"): 3, ("\u0120", "hello"): 4, ("1", "2"): 5}


def test_pairs_are_joined_in_the_order_of_the_vocabulary() -> None:
    counted = BytePairs(PAIRS, "qwen2")
    assert counted.count("hello") == 1
    assert counted.count("hello hello") == 2
    assert counted.count("help") == 3
    assert counted.count("") == 0


def test_models_differ_in_how_they_read_digits() -> None:
    assert BytePairs(PAIRS, "qwen2").count("1212") == 4
    assert BytePairs(PAIRS, "llama-bpe").count("1212") == 3
    assert BytePairs(PAIRS, "gpt-2").count("1212") == 2


@pytest.mark.parametrize("split", SPLITS)
@given(text=st.text(max_size=100))
def test_without_merges_every_byte_is_a_token(split: str, text: str) -> None:
    assert BytePairs({}, split).count(text) == len(text.encode("utf-8", "replace"))


def test_every_byte_has_a_sign_of_its_own() -> None:
    assert len(set(byte_signs())) == 256
    assert byte_signs()[ord(" ")] == "\u0120"
    assert byte_signs()[ord("a")] == "a"
