from hypothesis import given
from hypothesis import strategies as st

from metnos.models.veil import HIDDEN, Veil, hide

KEY = "sk-aabaab-0123"


def said(pieces: list[str], key: str = KEY) -> str:
    veil = Veil(key)
    return "".join([*map(veil.pass_on, pieces), veil.rest()])


@given(st.lists(st.sampled_from([KEY, KEY[:5], KEY[5:], KEY[:-1], "s", "sk-", "aab", "word ", "\n", ""]), max_size=12))
def test_the_key_never_comes_through_wherever_it_is_cut(pieces: list[str]) -> None:
    text = said(pieces)
    assert KEY not in text
    if KEY not in "".join(pieces):
        assert text == "".join(pieces)


@given(st.lists(st.text(max_size=20), max_size=10))
def test_everything_else_does(pieces: list[str]) -> None:
    assert said(pieces) == "".join(pieces)


@given(st.text(max_size=30))
def test_what_cannot_become_the_key_is_not_held_back(text: str) -> None:
    if not any(text.endswith(KEY[:length]) for length in range(1, len(KEY))):
        assert Veil(KEY).pass_on(text) == text


def test_cut_in_single_characters() -> None:
    assert said(list(f"my key is {KEY}, and again {KEY}")) == f"my key is {HIDDEN}, and again {HIDDEN}"


def test_a_key_too_short_to_be_told_from_a_word_is_left() -> None:
    assert said(["a", "word"], key="word") == "aword"
    assert hide("a word", "word") == "a word"
    assert hide("a word", "") == "a word"
