"""A line of a memory that was taken out is what it was."""

import json
from dataclasses import replace
from datetime import timedelta

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from grimoire.taught import START, episode, fact
from metnos.core.embedding import Space
from metnos.grimoire.affect import Pad
from metnos.grimoire.exchange_lines import episode_in, episode_out, fact_in, fact_out, vector_in, vector_out
from metnos.grimoire.fact import Decay, Kind

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
