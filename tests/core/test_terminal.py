"""Who has a terminal of their own, asked of the kernel about real processes."""

import os
import pty
from collections.abc import Callable

import pytest

from metnos.core.terminal import CONTROLLING, is_at_terminal


def _closed() -> None:
    os.close(0)


def _nothing() -> None:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)


def _pipe() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"yes\n")
    os.dup2(reading, 0)


def _another_terminal() -> None:
    os.dup2(pty.openpty()[1], 0)


def _a_session_without_one() -> None:
    held = os.dup(0)
    if os.fork():
        os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
    os.setsid()
    os.dup2(held, 0)


def _by_its_other_name() -> None:
    os.dup2(os.open(CONTROLLING, os.O_RDWR), 0)


def found(change: Callable[[], None]) -> bool:
    """What a process on a terminal of its own finds out about itself after a change."""
    child, terminal = pty.fork()
    if child == 0:
        try:
            change()
            os._exit(int(is_at_terminal()))
        finally:
            os._exit(2)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(terminal)
    assert code in (0, 1)
    return code == 1


def test_whoever_has_the_terminal_that_controls_them_is_at_it() -> None:
    assert found(lambda: None)
    assert found(_by_its_other_name)


@pytest.mark.parametrize("change", [_closed, _nothing, _pipe, _another_terminal, _a_session_without_one])
def test_whatever_else_is_given_is_none(change: Callable[[], None]) -> None:
    assert not found(change)


def test_another_process_is_seen_from_outside() -> None:
    child, terminal = pty.fork()
    if child == 0:
        os.write(1, b"here")
        os.read(0, 1)
        os._exit(0)
    assert os.read(terminal, 4) == b"here"
    assert is_at_terminal(child)
    os.write(terminal, b"\n")
    os.waitpid(child, 0)
    os.close(terminal)
    assert not is_at_terminal(child), "it is gone"
    assert not any(is_at_terminal(pid) for pid in (0, -1, 1 << 30))
