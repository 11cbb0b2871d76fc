"""Differences for people: right for every text, and cheap for the worst."""

import difflib
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core import difference
from metnos.core.difference import LONGEST, MOST_EDITS, changes, unified

LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=30)
NAMES = ("old", "new")


@given(LINES, LINES)
def test_what_was_replaced_leads_from_the_one_to_the_other(before: list[str], after: list[str]) -> None:
    made, at = [], 0
    for a, b, c, d in changes(before, after):
        assert at <= a <= b
        assert b > a or d > c
        made += before[at:a] + after[c:d]
        assert made == after[:d]
        at = b
    assert made + before[at:] == after


@given(LINES, LINES)
def test_no_way_is_longer_than_needed(before: list[str], after: list[str]) -> None:
    edits = sum(b - a + d - c for a, b, c, d in changes(before, after))
    lengths = [[0] * (len(after) + 1) for _ in range(len(before) + 1)]
    for i, one in enumerate(before):
        for j, other in enumerate(after):
            same = one == other
            lengths[i + 1][j + 1] = lengths[i][j] + 1 if same else max(lengths[i][j + 1], lengths[i + 1][j])
    assert edits == len(before) + len(after) - 2 * lengths[-1][-1]


@pytest.mark.parametrize("around", [1, 3])
@pytest.mark.parametrize("places", [[0], [10], [39], [3, 9], [3, 12], [3, 30], [0, 20, 39]])
def test_it_reads_like_any_unified_difference(places: list[int], around: int) -> None:
    before = [f"line {number}" for number in range(40)]
    after = [f"{line}!" if number in places else line for number, line in enumerate(before)]
    wanted = list(difflib.unified_diff(before, after, *NAMES, n=around, lineterm=""))
    assert unified("\n".join(before), "\n".join(after), NAMES, around=around) == wanted


@pytest.mark.parametrize(("old", "new"), [("", "a\nb"), ("a\nb", ""), ("a", "a\nb"), ("b", "a\nb"), ("a", "b")])
def test_also_at_the_ends_of_a_text(old: str, new: str) -> None:
    wanted = list(difflib.unified_diff(old.splitlines(), new.splitlines(), *NAMES, lineterm=""))
    assert unified(old, new, NAMES) == wanted


def test_equal_texts_differ_in_nothing() -> None:
    assert unified("a\nb", "a\nb", NAMES) == []
    assert unified("", "", NAMES) == []


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("a\nb\n", "a\r\nb\n", ["-a", "+a␍", " b"]),
        ("# note ok\n", "# note\x0cok\n", ["-# note ok", "+# note␌ok"]),
        ("a b\n", "a\u2028b\n", ["-a b", "+a␤b"]),
        ("a\n", "a", ["-a", "+a (no end of line)"]),
        ("a", "a\n", ["-a (no end of line)", "+a"]),
        ("", "\n", ["+"]),
    ],
)
def test_no_difference_is_hidden(old: str, new: str, shown: list[str]) -> None:
    assert unified(old, new, NAMES)[3:] == shown


@given(st.text("a\r\n\x0b\x0c\x1c\x85\u2028 "), st.text("a\r\n\x0b\x0c\x1c\x85\u2028 "))
def test_only_equal_texts_differ_in_nothing(old: str, new: str) -> None:
    shown = unified(old, new, NAMES)
    assert bool(shown) is (old != new)
    assert not any(sign in line for line in shown for sign in "\r\n\x0b\x0c\x1c\x85\u2028")


def test_what_differs_too_much_is_one_block_and_says_how_long_it_is() -> None:
    old, new = (f"{each}\n" * (MOST_EDITS * 2) for each in ("old", "new"))
    shown = unified(f"top\n{old}end", f"top\n{new}end", NAMES, most=10)
    assert len(shown) == 10
    assert shown[3:5] == [" top", "-old"]
    assert shown[-1] == f"… and {2 + 1 + 1 + 4 * MOST_EDITS + 1 - 9:,} more lines"


def test_long_lines_are_cut_and_say_so() -> None:
    shown = unified("", "x" * 100_000, NAMES)
    assert max(map(len, shown)) < LONGEST + 50
    assert "99,601 more characters" in shown[-1]


def _hostile() -> dict[str, tuple[str, str]]:
    """Texts of 256 KB that make comparing expensive."""
    size, chance = 128 * 1024, random.Random(5)
    few = [chance.choice("ab") for _ in range(size)]
    return {
        "two letters at random": ("\n".join(few), "\n".join(chance.choice("ab") for _ in range(size))),
        "one line again and again": ("a\n" * size, "b\n" + "a\n" * (size - 2)),
        "shifted": ("\n".join(few), "\n".join(few[size // 2 :] + few[: size // 2])),
        "turned around": ("\n".join(few), "\n".join(reversed(few))),
        "just within the bounds": ("\n".join(few[:4000]), "\n".join(chance.choice("ab") for _ in range(4000))),
        "blocks": ("a\nb\nc\n" * 43_000, "c\na\nb\nb\n" * 32_000),
        "one long line": ("a" * 2 * size, "b" * 2 * size),
        "line ends alone": ("\n" * 2 * size, "\n" * (2 * size - 7) + "x"),
    }


@pytest.mark.parametrize("name", list(_hostile()))
def test_no_text_makes_it_slow(name: str) -> None:
    old, new = _hostile()[name]
    before = time.process_time()
    shown = unified(old, new, NAMES, most=40)
    assert time.process_time() - before < 1
    assert 0 < len(shown) <= 40


def test_the_bounds_hold_also_one_below_them() -> None:
    half = difference.MOST_LINES // 2
    chance = random.Random(6)
    texts = ["\n".join(chance.choice("ab") for _ in range(half)) for _ in range(2)]
    before = time.process_time()
    assert changes(*(text.splitlines() for text in texts))
    assert time.process_time() - before < 1
