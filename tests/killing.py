"""Processes that are killed while they work: each is a fork, and it ends with its block, whatever happens there."""

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import forking

PATIENCE_S = 120.0

Say = Callable[[str], object]


@dataclass(slots=True)
class Worker:
    """A process at work. What it says comes through a pipe, one line at a time."""

    pid: int
    pipe: int
    ended: int | None = None

    def kill(self) -> list[str]:
        """Kill it, wherever it is; all that it has said. One that had ended by itself is a fault."""
        self.end()
        assert self.ended is not None
        assert os.WIFSIGNALED(self.ended), "a process ended by itself"
        assert os.WTERMSIG(self.ended) == signal.SIGKILL, "a process died of something else"
        content = b""
        while chunk := os.read(self.pipe, 1 << 16):
            content += chunk
        return content.decode().splitlines()

    def end(self) -> None:
        if self.ended is None:
            os.kill(self.pid, signal.SIGKILL)
            self.ended = os.waitpid(self.pid, 0)[1]


@contextlib.contextmanager
def at_work(*works: Callable[[Say], object]) -> Iterator[list[Worker]]:
    """Each in a process of its own; what still runs at the end of the block is killed."""
    workers: list[Worker] = []
    try:
        workers.extend(_start(work) for work in works)
        yield workers
    finally:
        for worker in workers:
            worker.end()
            os.close(worker.pipe)


def _start(work: Callable[[Say], object]) -> Worker:
    ours, theirs = os.pipe()

    def begin() -> None:
        os.close(ours)
        work(lambda line: os.write(theirs, f"{line}\n".encode()))

    child = forking.start(begin)
    os.close(theirs)
    return Worker(child, ours)


def wait_for_a_word(*workers: Worker) -> None:
    """Wait until one of them has said something."""
    heard, _, _ = select.select([worker.pipe for worker in workers], [], [], PATIENCE_S)
    assert heard, "nobody said anything"


def killed_after(seconds: float, act: Callable[[], object]) -> None:
    """Begin this in a process of its own that is killed after a while, wherever it is then, or when it is done."""
    child = forking.start(act)
    try:
        time.sleep(seconds)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
