import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metnos.context.ngrams import Ngrams

SMALL = ((18, 16), (12, 10), (8, 0))  # large enough that nothing of this alphabet shares a slot
SYMBOLS = st.lists(st.integers(3, 9), max_size=30)
ALPHABET = range(3, 10)


def uniform(_place: int, _mine: bool) -> float:
    return 1 / len(ALPHABET)


def made(*sequences: list[int]) -> Ngrams:
    found = Ngrams(SMALL)
    for each in sequences:
        found.add(each)
    return found


def chance(model: Ngrams, before: list[int], symbol: int) -> float:
    return list(model.chances([*before, symbol], uniform))[-1]


@settings(max_examples=settings().max_examples // 2)
@given(st.lists(SYMBOLS, max_size=6), st.lists(st.integers(3, 9), min_size=1, max_size=2))
def test_the_chances_of_all_that_may_follow_sum_to_one(sequences: list[list[int]], before: list[int]) -> None:
    model = made(*sequences)
    assert sum(chance(model, before, symbol) for symbol in ALPHABET) == pytest.approx(1)


@given(st.lists(SYMBOLS, max_size=6), SYMBOLS, st.booleans())
def test_a_chance_is_never_nothing_and_never_more_than_sure(
    sequences: list[list[int]], asked: list[int], seen: bool
) -> None:
    assert all(0 < each <= 1 for each in made(*sequences).chances(asked, uniform, seen))


def test_what_followed_often_is_expected_and_what_never_did_is_not() -> None:
    model = made(*[[3, 4, 5]] * 10, [3, 4, 6])
    assert chance(model, [3, 4], 5) > 0.7 > chance(model, [3, 4], 6) > chance(model, [3, 4], 7)


def test_a_symbol_that_only_follows_one_other_is_not_expected_elsewhere() -> None:
    """Both are as frequent; but one of them stands in many places."""
    tied = [[7, 3]] * 6
    free = [[4, 8], [5, 8], [6, 8], [9, 8], [3, 8], [8, 8]]
    model = made(*tied, *free)
    assert chance(model, [8, 9], 8) > chance(model, [8, 9], 3)


def test_scored_as_if_it_had_not_been_counted_is_as_from_a_model_without_it() -> None:
    others = [[random.Random(n).choice(ALPHABET) for _ in range(20)] for n in range(20)]
    one = [3, 4, 5]
    with_it, without = made(*others, one), made(*others)
    for told, expected in zip(with_it.chances(one, uniform, seen=True), without.chances(one, uniform), strict=True):
        assert told == pytest.approx(expected, rel=0.15)
    assert next(iter(with_it.chances(one, uniform))) > next(iter(without.chances(one, uniform)))


@given(st.lists(SYMBOLS, max_size=6), SYMBOLS)
def test_tables_are_the_same_after_they_were_kept(sequences: list[list[int]], asked: list[int]) -> None:
    model, again = made(*sequences), Ngrams(SMALL)
    content = model.to_bytes()
    assert again.read(memoryview(content)) == len(content)
    assert list(again.chances(asked, uniform)) == list(model.chances(asked, uniform))


def test_tables_that_end_too_early_are_refused() -> None:
    with pytest.raises(ValueError):
        Ngrams(SMALL).read(memoryview(made([3, 4]).to_bytes()[:-1]))


def test_the_load_says_how_full_the_largest_table_is() -> None:
    assert made().load == 0
    assert 0 < made([3, 4, 5]).load < made([3, 4, 5], [6, 7, 8, 9]).load < 1
