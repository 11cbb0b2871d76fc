import os
import threading
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metnos.core.clock import MovableClock
from metnos.core.ids import LENGTH, UlidMaker, made_at

START = datetime(2026, 11, 15, tzinfo=UTC)


@given(st.lists(st.integers(-1000, 1000), max_size=50))
def test_ids_only_ever_grow_even_when_the_clock_goes_back(steps: list[int]) -> None:
    clock = MovableClock(START)
    make = UlidMaker(clock)
    made = [make()]
    for step in steps:
        clock.move(timedelta(milliseconds=step))
        made.append(make())
    assert made == sorted(set(made))
    assert {len(each) for each in made} == {LENGTH}


def test_an_id_knows_when_it_was_made() -> None:
    assert made_at(UlidMaker(MovableClock(START))()) == START


@pytest.mark.parametrize("text", ["", "0" * 25, "U" * 26, "8" + "0" * 25, "é" * 26])
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a ULID"):
        made_at(text)


def test_a_fork_does_not_repeat_its_parents_ids() -> None:
    make = UlidMaker(MovableClock(START))
    make()
    ours, theirs = os.pipe()
    if os.fork() == 0:
        os.write(theirs, make().encode())
        os._exit(0)
    os.wait()
    assert os.read(ours, 100).decode() != make()


def test_threads_never_get_the_same_id() -> None:
    make = UlidMaker(MovableClock(START))
    made: list[str] = []
    threads = [threading.Thread(target=lambda: made.extend(make() for _ in range(200))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 800
