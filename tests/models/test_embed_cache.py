"""An embedder that remembers: what it asks for again, what it forgets, and that it stays itself among threads."""

import threading
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from metnos.models.embed import Space
from metnos.models.embed_cache import Cached

SPACE = Space("counting", "1", "none", 2)


class Counting:
    """Turns a text into its length, and remembers what it was asked for."""

    space = SPACE

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        self.asked += texts
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32).reshape(-1, 2)


def test_a_text_is_embedded_once_however_often_it_is_wanted() -> None:
    inner = Counting()
    cached = Cached(inner, 10)
    assert cached.embed(["a", "bb", "a"])[:, 0].tolist() == [1, 2, 1]
    assert cached.embed(["bb", "ccc"])[:, 0].tolist() == [2, 3]
    assert inner.asked == ["a", "bb", "ccc"]
    assert cached.space is SPACE


def test_what_was_used_longest_ago_is_forgotten_first() -> None:
    inner = Counting()
    cached = Cached(inner, 2)
    cached.embed(["a", "bb"])
    cached.embed(["a"])
    cached.embed(["ccc"])
    assert cached.size == 2
    cached.embed(["a"])
    assert inner.asked == ["a", "bb", "ccc"]
    cached.embed(["bb"])
    assert inner.asked[-1] == "bb"


def test_more_texts_than_it_can_remember_are_embedded_all_the_same() -> None:
    cached = Cached(Counting(), 2)
    assert cached.embed([str(10**n) for n in range(6)])[:, 0].tolist() == [1, 2, 3, 4, 5, 6]
    assert cached.size == 2


def test_nothing_in_nothing_out() -> None:
    assert Cached(Counting(), 2).embed([]).shape == (0, 2)


def test_what_is_handed_out_is_a_copy() -> None:
    cached = Cached(Counting(), 2)
    cached.embed(["a"])[:] = 99
    assert cached.embed(["a"])[0, 0] == 1


def test_long_texts_are_told_apart() -> None:
    cached = Cached(Counting(), 10)
    long = "x" * 5000
    rows = cached.embed([long, long + "y", "\ud800" * 300])
    assert rows[:, 0].tolist() == [5000, 5001, 300]


@given(st.lists(st.text(max_size=4), max_size=30), st.integers(min_value=1, max_value=5))
def test_it_gives_what_the_other_gives(texts: list[str], most: int) -> None:
    cached = Cached(Counting(), most)
    for batch in (texts, texts[::-1], texts[:3]):
        assert np.array_equal(cached.embed(batch), Counting().embed(batch))
    assert cached.size <= most


def test_threads_do_not_disturb_one_another() -> None:
    cached = Cached(Counting(), 5)
    wrong: list[str] = []

    def work(seed: int) -> None:
        for number in range(300):
            text = "x" * ((seed * 7 + number) % 23)
            if cached.embed([text])[0, 0] != len(text):
                wrong.append(text)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert cached.size <= 5
