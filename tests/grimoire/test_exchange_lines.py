"""A line of a memory that was taken out is what it was."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grimoire.taught import START, episode, fact
from metnos.core.embedding import Space
from metnos.grimoire.affect import Pad
from metnos.grimoire.exchange_lines import (
    decoded,
    encoded,
    episode_in,
    episode_out,
    fact_in,
    fact_out,
    space_in,
    space_out,
    text_in,
    vector_in,
    vector_out,
)
from metnos.grimoire.fact import Decay, Kind
from tables import try_each

SPACE = Space("test", "1", "", 8)
CAUSE = fact(
    "F2", "Mail fails after the network fails.", kind=Kind.CAUSAL, confidence=0.61, decay=Decay.TACTICAL, shown=3,
    data={"cause": "network fails", "effect": "mail fails", "lag": 4.5, "count": 7, "lift": 3.0}, helped=2, harmed=1,
    valid_until=START + timedelta(days=9), pad=Pad(-0.5, 0.25, 0.0), bloodstain=True, pinned=True, generation=2,
)  # fmt: skip


@given(st.text(st.characters(exclude_categories=["Cs"])), st.floats(0, 1), st.lists(st.text("ab☃"), max_size=3))
def test_a_line_is_what_it_was(text: str, share: float, tags: list[str]) -> None:
    one = episode("E", text, importance=share, tags=tuple(tags), payload={"a": [text, share]})
    assert episode_in(json.loads(json.dumps(episode_out(one)))) == one
    two = replace(CAUSE, text=text, confidence=share, tags=tuple(tags), sources=tuple(tags))
    assert fact_in(json.loads(json.dumps(fact_out(two)))) == two


@given(st.lists(st.floats(-1, 1, width=32), min_size=8, max_size=8).filter(lambda row: any(abs(x) > 0.1 for x in row)))
def test_a_vector_is_what_it_was(row: list[float]) -> None:
    vector = np.array(row, dtype=np.float32)
    vector /= np.linalg.norm(vector)
    assert np.array_equal(vector_in(vector_out(vector), SPACE), vector)


def test_a_line_has_one_kind_and_one_value() -> None:
    assert decoded(encoded("space", space_out(SPACE))) == ("space", space_out(SPACE))
    assert space_in(space_out(SPACE)) == SPACE
    assert space_in(None) is None


@try_each("line", [b"[" * 100_000, b'{"fact": NaN}', b'{"fact": -Infinity}', b"[]", b"{}", b'{"a": 1, "b": 2}', b"{"])
def test_what_is_no_line_of_a_memory_is_refused(line: bytes) -> None:
    with pytest.raises(ValueError):
        decoded(line)


SPACED: dict[str, Any] = {"model": "test", "version": "1", "preprocess_hash": "", "dim": 8}


@try_each(
    ("read", "value"),
    [
        (space_in, SPACED | {"dim": 0}),
        (space_in, SPACED | {"dim": 70_000}),
        (space_in, SPACED | {"dim": 8.0}),
        (space_in, SPACED | {"dim": True}),
        (space_in, SPACED | {"more": 1}),
        (text_in, 7),
        (text_in, "x" * 4_000_001),
        (text_in, "\ud800"),
        (lambda value: vector_in(value, None), "AACAPw=="),
        (lambda value: vector_in(value, SPACE), 7),
        (lambda value: vector_in(value, SPACE), "AACAPw=="),
    ],
)
def test_what_cannot_be_is_refused(read: Callable[[Any], object], value: object) -> None:
    with pytest.raises(ValueError):
        read(value)


@try_each(
    ("name", "value"),
    [("shown", -1), ("shown", 1 << 53), ("shown", True), ("helped", 2.0), ("pinned", 1), ("tags", "a"), ("data", []),
     ("confidence", 1.5), ("confidence", True), ("pad", [0, 0, 2]), ("id", ""), ("kind", "rumour"), ("text", None)],
)  # fmt: skip
def test_a_field_that_cannot_be_makes_no_fact(name: str, value: object) -> None:
    assert fact_in(fact_out(CAUSE)) == CAUSE
    with pytest.raises(ValueError):
        fact_in(fact_out(CAUSE) | {name: value})
