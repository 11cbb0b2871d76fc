import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.fastpath.words import Words

texts = st.lists(st.text(max_size=40), min_size=1, max_size=8)


@given(texts, st.text(max_size=40))
def test_likeness_is_between_nothing_and_the_same(said: list[str], asked: str) -> None:
    words = Words(said)
    alike = words.likeness(words.read(asked), range(len(said)))
    assert alike.shape == (len(said) + 1,) * 2
    assert np.isfinite(alike).all()
    assert (alike >= 0).all()
    assert (alike <= 1.0001).all()
    assert np.allclose(alike, alike.T)


def test_a_text_is_as_like_itself_as_can_be() -> None:
    words = Words(["turn the light on", "turn the light off"])
    assert words.likeness(words.read("Turn the light ON"), [0])[0, 1] == pytest.approx(1, abs=1e-5)


def test_rare_words_say_more_than_common_ones() -> None:
    words = Words(["find files here", "find files there", "find files everywhere", "translate files"])
    alike = words.likeness(words.read("translate find"), range(4))[0, 1:]
    assert alike[3] == max(alike)


def test_words_that_no_form_has_make_a_text_less_like_any() -> None:
    words = Words(["turn the light on"])
    near = words.likeness(words.read("turn the light on"), [0])[0, 1]
    assert words.likeness(words.read("turn the light on in the unheard cellar"), [0])[0, 1] < near
