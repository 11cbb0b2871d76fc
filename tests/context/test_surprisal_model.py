"""A language model as the one who says what is telling: words and bits, its bounds, and what happens without it."""

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context.test_compress import STORY, TEXTS
from metnos.context.compress import Part, compress_parts
from metnos.context.pieces import pieces
from metnos.context.surprisal import general
from metnos.context.surprisal_model import ModelSurprisal, Scorer, words
from metnos.context.tokens import estimate
from metnos.core.errors import ModelError
from metnos.models.scoring import Token

USUAL = general()


class Model:
    """Splits a text anywhere, also inside a character, and finds all of it equally likely."""

    def __init__(self, size: int = 3, fails: bool = False) -> None:
        self.size, self.fails = size, fails
        self.asked: list[str] = []

    def __call__(self, text: str, most: int, _seconds: float) -> Sequence[Token]:
        self.asked.append(text)
        if self.fails:
            raise ModelError("the local model cannot score a text: HTTP 501", kind="broken")
        content = text.encode()
        found = [content[at : at + self.size] for at in range(0, len(content), self.size)]
        assert len(found) <= most
        return [Token(each, 8.0) for each in found]


def scorer(model: Model, tokens: int = 100_000, seconds: float = 60.0) -> Scorer:
    return Scorer("small (local)", model, lambda text: -(-len(text.encode()) // model.size), tokens, seconds)


def one(model: Model, tokens: int = 100_000) -> ModelSurprisal:
    return ModelSurprisal(USUAL, scorer(model, tokens))


# -- the guarantees of compression hold whoever scores


@given(
    TEXTS.filter(lambda text: text.isascii() or text.encode(errors="ignore").decode() == text),
    st.integers(0, 60),
    st.integers(1, 7),
    st.sampled_from(["", "how many kids?", "the path of the file"]),
)
def test_it_meets_its_target_with_whole_pieces_of_the_text_in_their_order(
    text: str, target: int, size: int, question: str
) -> None:
    made = compress_parts([Part(text)], target, question=question, count=estimate, model=one(Model(size)))[0]
    assert estimate(made.text) <= target or not made.text
    if made.text == text:
        return
    assert set(made.spans) <= {(piece.start, piece.end) for piece in pieces(text)}
    assert list(made.spans) == sorted(made.spans)
    assert "".join(made.text.split()) == "".join("".join(text[start:end] for start, end in made.spans).split())


@given(st.text(st.characters(codec="utf-8"), max_size=200), st.integers(1, 9))
def test_words_share_all_bits_but_those_of_blanks_wherever_tokens_begin(text: str, size: int) -> None:
    content = text.encode()
    tokens = [Token(content[at : at + size], 2.0) for at in range(0, len(content), size)]
    found = words(text, tokens)
    assert all(word.bits >= 0 and 0 <= word.start < word.end <= len(text) for word in found)
    assert all(before.end <= after.start for before, after in itertools.pairwise(found))
    assert [(each.start, each.end) for each in found] == [(each.start, each.end) for each in USUAL.score(text)]
    assert sum(word.bits for word in found) <= sum(each.bits for each in tokens) + 1e-6


def test_a_word_has_the_bits_of_its_tokens_and_a_blank_none() -> None:
    tokens = [Token(b"The", 1.0), (Token(b" Tr", 6.0)), Token(b"ento", 3.0), Token(b" ", 9.0), Token(b'"),', 3.0)]
    text = 'The Trento "),'
    found = {text[word.start : word.end]: word.bits for word in words(text, tokens)}
    assert found == {"The": 1.0, "Trento": pytest.approx(9.0), '"': 1.0, ")": 1.0, ",": 1.0}


def test_of_words_that_tell_the_same_by_themselves_those_go_first_that_the_model_expects() -> None:
    text = "lamp " * 8

    def expects_every_second(_text: str, _most: int, _seconds: float) -> Sequence[Token]:
        return [Token(b"lamp ", 20.0 * (at % 2)) for at in range(8)]

    asked = ModelSurprisal(USUAL, Scorer("m", expects_every_second, estimate))
    (made,) = compress_parts([Part(text)], estimate("lamp lamp lamp lamp"), count=estimate, model=asked)
    assert [start for start, _ in made.spans] == [5, 15, 25, 35]


# -- bounds


def test_without_the_model_the_small_one_scores_everything_and_it_is_said() -> None:
    model = Model(fails=True)
    asked = one(model)
    for _ in range(2):
        assert asked.scores([STORY, "more"]) == USUAL.scores([STORY, "more"])
    assert model.asked == [STORY]  # once a context
    assert asked.note == "scored without it: the local model cannot score a text: HTTP 501"


def test_texts_that_are_compared_are_scored_by_one_and_the_same() -> None:
    model = Model()
    asked = one(model, tokens=30)
    both = ["x" * 60, "y" * 60]
    assert asked.scores(both) == USUAL.scores(both)
    assert model.asked == []
    assert asked.note == "scored without it: 40 tokens, and of 30 a context 30 are left"
    asked.scores(both[:1])
    assert asked.note.startswith("20 tokens scored by small (local); scored without it: ")
    assert asked.scores(both[1:]) == USUAL.scores(both[1:])  # ten are left


def test_what_was_scored_is_not_scored_again_in_the_next_context() -> None:
    model = Model()
    shared = scorer(model, tokens=25)
    first, second = (ModelSurprisal(USUAL, shared) for _ in range(2))
    assert first.scores(["x" * 60]) == second.scores(["x" * 60])
    assert model.asked == ["x" * 60]
    assert (first.note, second.note) == ("20 tokens scored by small (local)", "")


def test_it_has_the_seconds_that_are_left_of_a_context() -> None:
    given_s: list[float] = []
    hands = iter([100.0, 110.0, 130.0])

    def score(text: str, _most: int, seconds: float) -> Sequence[Token]:
        given_s.append(seconds)
        return [Token(text.encode(), 1.0)]

    asked = ModelSurprisal(USUAL, Scorer("m", score, len, 100, 60.0), lambda: next(hands))
    asked.scores(["one", "two"])
    assert given_s == [50.0, 30.0]


def test_what_is_remembered_has_an_end() -> None:
    model = Model()
    shared = scorer(model)
    ModelSurprisal(USUAL, shared).scores([f"text {number}" for number in range(600)])
    assert len(shared.kept) == 512
    ModelSurprisal(USUAL, shared).scores(["text 599", "text 0"])
    assert model.asked[600:] == ["text 0"]


def test_what_a_question_is_about_is_known_without_asking() -> None:
    model = Model()
    assert one(model).information("Zanzibar") == USUAL.information("Zanzibar")
    assert model.asked == []
