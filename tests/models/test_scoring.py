"""Scoring a given text: against a server that speaks like llama.cpp's, and (slow) against the real one."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.errors import ModelError
from metnos.models import scoring
from metnos.models.scoring import Token, score
from models.server import Act, Running, Talk, fails, garbage, hangs, hangs_up, serving
from tables import try_each

TEXT = "The cat sat \U0001f9d1."


def tokens_of(text: str) -> list[bytes]:
    """As many servers do it: letters by threes, and a long character in two halves."""
    content = text.encode()
    return [content[at : at + 3] for at in range(0, len(content), 3)]


def piece(content: bytes) -> str | list[int]:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return list(content)


class Llama:
    """A server like llama.cpp's: what it is biased to it writes, and says how likely that was before."""

    def __init__(self, **changes: Any) -> None:
        self.changes = changes
        self.known: list[bytes] = []
        self.read: list[list[int]] = []

    def __call__(self, talk: Talk) -> None:
        seen = talk.running.seen[-1]
        talk.head(200, "application/json")
        talk.wfile.write(json.dumps(self.answer(seen.path, seen.body) | self.changes).encode())

    def answer(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        if path == "/tokenize":
            assert body["parse_special"] is False
            return {"tokens": [{"id": self.number(each), "piece": piece(each)} for each in tokens_of(body["content"])]}
        assert (path, body["n_predict"], body["cache_prompt"]) == ("/completion", 1, True)
        self.read.append(body["prompt"])
        ((wanted, _),) = body["logit_bias"]
        if isinstance(piece(self.known[wanted]), list) and self.known[wanted][-1] >= 0xC0:
            return {}  # nothing is told of half a character
        return {"completion_probabilities": [{"id": wanted, "logprob": -math.log(2) * len(self.read)}]}

    def number(self, content: bytes) -> int:
        if content not in self.known:
            self.known.append(content)
        return self.known.index(content)


def ask(running: Running, text: str = TEXT, most: int = 100, seconds: float = 20.0) -> tuple[Token, ...]:
    return score(running.url.removesuffix("/v1"), "key", text, most=most, seconds=seconds)


def test_every_token_has_the_bits_that_it_had_after_those_before_it() -> None:
    llama = Llama()
    with serving(llama) as running:
        found = ask(running)
    assert b"".join(each.text for each in found) == TEXT.encode()
    assert [each.bits for each in found] == pytest.approx(list(range(1, len(found) + 1)))
    assert {seen.headers["authorization"] for seen in running.seen} == {"Bearer key"}
    before = llama.read[0]
    assert [each[len(before) :] for each in llama.read] == [
        [llama.known.index(each.text) for each in found[:at]] for at in range(len(found))
    ]


def test_an_empty_text_has_no_tokens() -> None:
    with serving(Llama()) as running:
        assert ask(running, "") == ()


def test_a_text_of_too_many_tokens_is_not_begun() -> None:
    llama = Llama()
    with serving(llama) as running, pytest.raises(ModelError, match="6 tokens, and 5 may") as caught:
        ask(running, "x" * 16, most=5)
    assert caught.value.kind == "budget"
    assert llama.read == []


@try_each(
    ("act", "says"),
    [
        (Llama(tokens=[{"id": 1, "piece": "The"}]), "do not make up the text"),
        (Llama(completion_probabilities=[{"id": 77, "logprob": -1.0}]), "wrote something else"),
        (Llama(completion_probabilities=[{"id": 0, "logprob": float("nan")}]), "no number"),
        (Llama(completion_probabilities=[]), "cannot score"),
        (Llama(completion_probabilities=[{"id": 0, "logprob": None}]), "cannot score"),
        (Llama(tokens={"id": 1}), "cannot score"),
        (Llama(tokens=[{"id": 1, "piece": [300]}]), "cannot score"),
        (fails(501), "HTTP 501"),
        (hangs_up, "cannot score"),
        (garbage, "cannot score"),
    ],
)
def test_whatever_does_not_fit_is_a_failure_of_the_model(act: Act, says: str) -> None:
    with serving(act) as running, pytest.raises(ModelError, match=says) as caught:
        ask(running)
    assert caught.value.kind == "broken"
    assert "ngram" in caught.value.fix


def test_a_server_that_is_silent_is_left_after_its_time() -> None:
    with serving(hangs) as running, pytest.raises(ModelError) as caught:
        ask(running, seconds=0.1)
    assert caught.value.kind == "timeout"


def test_half_a_character_that_nothing_is_told_of_counts_nothing() -> None:
    with serving(Llama()) as running:
        found = ask(running, "ab\U0001f9d1")
    assert [(each.text, each.bits) for each in found] == [(b"ab\xf0", 0.0), (b"\x9f\xa7\x91", pytest.approx(2.0))]


@given(st.floats(allow_nan=False))
def test_bits_are_never_negative_nor_without_bounds(logprob: float) -> None:
    def post(_path: str, _body: Any) -> Any:
        return {"completion_probabilities": [{"id": 3, "logprob": logprob}]}

    assert 0.0 <= scoring._bits(post, [1], 3, broken=False) <= 64.0
