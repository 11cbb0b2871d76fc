from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.gguf import gguf
from metnos.context.tokens import Tokens, estimate, estimated, of_file, served

# What three real vocabularies (of 100,000 to 200,000 tokens) make of these, at most.
REAL = [
    ("How are you doing today? I am doing well, thank you, and how about you?", 18),
    ("Dopo sono tornato a casa, ho preparato la cena e poi sono andato a letto perché ero stanco.", 27),
    ("sha256 cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046", 51),
    ("Привет, как дела? Сегодня очень хорошая погода.", 24),
    ("今天天气很好我们去公园吧", 18),
]


@pytest.mark.parametrize(("text", "real"), REAL)
def test_an_estimate_is_not_too_small_and_not_wild(text: str, real: int) -> None:
    assert real <= estimate(text) <= 3 * real


@given(st.text(max_size=100), st.text(max_size=100))
def test_an_estimate_is_never_nothing_for_something(one: str, other: str) -> None:
    assert estimate("") == 0
    assert estimate(one) >= bool(one.strip())
    assert estimate(one + other) >= 0


def test_a_model_file_is_counted_by_its_own_vocabulary(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf())
    found = of_file(path)
    assert found.how == "vocabulary"
    assert found.exact
    assert found.count("ababa") == 2


def test_without_a_vocabulary_it_is_estimated(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"no model")
    for name in ("m.gguf", "none.gguf"):
        found = of_file(tmp_path / name)
        assert found.how == "estimate"
        assert found.count("two words") == estimate("two words")


def test_a_server_that_stops_answering_is_no_longer_asked() -> None:
    asked: list[str] = []

    def ask(text: str) -> int:
        asked.append(text)
        if len(asked) > 1:
            raise ConnectionError
        return 7

    found = served(ask)
    assert (found.count("one"), found.how) == (7, "server")
    assert found.count("two words") == estimate("two words")
    assert found.how == "estimate"
    assert found.count("three more words") == estimate("three more words")
    assert asked == ["one", "two words"]


def test_the_same_text_is_counted_once() -> None:
    asked: list[str] = []
    found = Tokens(lambda text: asked.append(text) or len(text), "server")
    assert [found.count(text) for text in ("a", "bb", "a")] == [1, 2, 1]
    assert asked == ["a", "bb"]


def test_what_servers_say_moves_an_estimate_towards_it() -> None:
    found = estimated()
    text = "some words that are read again and again " * 20
    for _ in range(40):
        found.learn(text, round(1.3 * estimate(text)))
    assert 1.3 * estimate(text) <= found.count(text) <= 1.4 * estimate(text)


@given(st.lists(st.integers(-5, 10**9), max_size=12))
def test_a_server_that_lies_moves_it_within_bounds(said: list[int]) -> None:
    found = estimated()
    text = "word " * 200
    for each in said:
        found.learn(text, each)
    assert 0.5 <= found.factor <= 2.0


def test_what_was_learnt_can_be_kept_and_an_exact_count_learns_nothing() -> None:
    found = estimated()
    found.settle(1.5)
    assert found.count("word " * 100) == pytest.approx(1.5 * estimate("word " * 100), abs=1)
    found.settle(99)
    assert found.factor == 2.0
    exact = Tokens(len, "vocabulary")
    exact.learn("word " * 100, 5000)
    assert exact.count("word") == 4
