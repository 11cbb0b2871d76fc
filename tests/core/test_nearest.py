"""Names that were meant."""

import time

from metnos.core.nearest import LONGEST, nearest


def test_the_most_alike_comes_first() -> None:
    assert nearest("find_fils", ["read_files", "find_files"], 2) == ["find_files", "read_files"]
    assert nearest("qqq", ["read_files"]) == []


def test_what_is_longer_than_a_name_is_meant_for_none() -> None:
    assert nearest("a" * (LONGEST + 1), ["a" * LONGEST]) == []
    assert nearest("a" * LONGEST, ["a" * (LONGEST + 1), "a" * LONGEST]) == ["a" * LONGEST]


def test_no_words_make_it_slow() -> None:
    known = [("ab" * 32)[: 40 + number % 24] for number in range(100_000)]
    before = time.process_time()
    nearest("ba" * 10_000_000, known)
    nearest("ba" * 20, iter(known[:300]), 1, 0.99)
    assert time.process_time() - before < 1
