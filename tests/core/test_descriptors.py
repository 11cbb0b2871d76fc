"""Waiting for a descriptor, above all for one that `select` would refuse."""

import os
import resource
from collections.abc import Iterator

import pytest

from metnos.core.descriptors import has_input


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """A pipe whose reading end is numbered above what `select` takes, where the machine allows it."""
    reading, writing = os.pipe()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2048:
        pytest.skip("this machine allows no descriptor above 1023")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2048), hard))
    high = os.dup2(reading, 2000)
    os.close(reading)
    yield high, writing
    os.close(high)
    os.close(writing)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_nothing_to_read_is_said_when_the_time_is_up(pipe: tuple[int, int]) -> None:
    assert not has_input(pipe[0], 0.0)
    assert not has_input(pipe[0], -1.0)
    assert not has_input(pipe[0], 0.01)


def test_what_was_written_is_seen(pipe: tuple[int, int]) -> None:
    os.write(pipe[1], b"x")
    assert has_input(pipe[0], 0.0)


def test_the_end_counts_as_something_to_read(pipe: tuple[int, int]) -> None:
    reading, writing = os.pipe()
    os.close(writing)
    assert has_input(reading, 0.0)
    os.close(reading)
