"""Text that is text: whatever goes out can be sent, and whatever could not be kept does not come in."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.api.http.plain import plain, sound, text
from tables import try_each

_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3),
    max_leaves=8,
)


@given(_ANY)
def test_whatever_goes_out_can_be_sent_and_means_the_same(value: Any) -> None:
    sent = plain(value)
    assert json.loads(json.dumps(sent, allow_nan=False, ensure_ascii=False).encode()) == sent
    assert plain(sent) == sent
    if isinstance(value, str) and value.isascii():
        assert sent == value


def test_half_a_character_is_shown_as_an_escape() -> None:
    assert text("a\udcff") == "a\\udcff"
    assert plain({"a": ("\ud800", math.nan)}) == {"a": ["\\ud800", None]}


@try_each("value", ["\ud800", "a\0", {"\0": 1}, [[["\udfff"]]], 1 << 63, -(1 << 63) - 1, math.inf, math.nan])
def test_what_nothing_could_keep_does_not_come_in(value: Any) -> None:
    with pytest.raises(ValueError):
        sound(value)


def test_what_is_nested_too_deeply_does_not_come_in() -> None:
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    with pytest.raises(ValueError, match="deep"):
        sound(deep)
    assert sound({"a": [1, 2.5, "ü", None, True]}) == {"a": [1, 2.5, "ü", None, True]}
