"""Worlds of the lab: repeatable, fair to whoever guesses, and changing only when they say."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.life.lab_world import NOISE, STREAMS, WAYS, Size, Stream, Task, lives, tasks

SMALL = Size(generations=2, ticks=120, forms=6)
by_name = {stream.name: stream for stream in STREAMS}


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream.name)
def test_the_same_seed_gives_the_same_tasks(stream: Stream) -> None:
    assert tasks(stream, 7, SMALL) == tasks(stream, 7, SMALL)
    assert tasks(stream, 7, SMALL) != tasks(stream, 8, SMALL)


@given(st.integers(0, 10_000), st.sampled_from(STREAMS))
def test_what_is_right_is_one_of_the_ways_and_never_a_trap(seed: int, stream: Stream) -> None:
    size = Size(generations=1, ticks=40, forms=6)
    for task in tasks(stream, seed, size):
        assert task.right in task.ways
        assert len(set(task.ways)) == WAYS
        assert task.right not in task.traps
        assert task.traps < set(task.ways)


def test_where_nothing_changes_one_way_stays_right_but_for_noise() -> None:
    made = tasks(by_name["still"], 1, Size())
    usual = {
        form: Counter(task.right for task in made if task.form == form).most_common(1)[0][0] for form in forms(made)
    }
    off = sum(task.right != usual[task.form] for task in made) / len(made)
    assert off <= NOISE + 0.03
    assert not any(task.recent for task in made)


def test_a_regime_that_comes_back_brings_back_what_was_right() -> None:
    size = Size()
    made = tasks(by_name["returning"], 3, size)
    often = Counter(task.form for task in made).most_common(1)[0][0]
    spans = [(0.0, 0.5), (0.5, 1.5), (1.5, 2.5)]
    usual = [
        Counter(
            task.right for task in made if task.form == often and first <= task.day / size.life_days < last
        ).most_common(1)[0][0]
        for first, last in spans
    ]
    assert usual[0] == usual[2] != usual[1]


def test_in_a_mixed_world_half_of_the_forms_never_change() -> None:
    made = tasks(by_name["mixed"], 1, Size())
    steady = [form for form in forms(made) if not any(task.recent for task in made if task.form == form)]
    assert len(forms(made)) / 3 <= len(steady) <= 2 * len(forms(made)) / 3


def test_lives_are_as_long_as_one_another_and_in_order() -> None:
    made = tasks(by_name["shock"], 1, SMALL)
    first, second = lives(made, 2)
    assert (len(first), len(second), first + second) == (120, 120, made)


def test_there_are_words_for_so_many_requests_and_no_more() -> None:
    with pytest.raises(ValueError, match="not so many words"):
        tasks(by_name["still"], 1, Size(areas=7))


def forms(made: list[Task]) -> list[str]:
    return sorted({task.form for task in made})
