import threading
from collections.abc import Callable

from metnos.core.errors import StoreBusy
from metnos.night.watch import Watch


class Ticks:
    """Counts, and does what the test says; ``nap`` is how long it then wants to sleep."""

    def __init__(self, *does: Callable[[], None], nap: float = 60.0) -> None:
        self.does = list(does)
        self.nap = nap
        self.seen = threading.Semaphore(0)

    def __call__(self, stop: Callable[[], bool]) -> float:
        try:
            if self.does:
                self.does.pop(0)()
        finally:
            self.seen.release()
        return self.nap

    def wait(self, count: int = 1) -> None:
        for _ in range(count):
            assert self.seen.acquire(timeout=60)


def test_it_ticks_at_once_sleeps_and_can_be_woken() -> None:
    ticks, logged = Ticks(), list[str]()
    watch = Watch(ticks, logged.append)
    watch.start()
    ticks.wait()
    watch.wake()
    ticks.wait()
    assert watch.stop(60)
    assert logged == []


def test_it_goes_on_after_a_nap() -> None:
    ticks = Ticks(nap=0.001)
    watch = Watch(ticks, lambda _: None)
    watch.start()
    ticks.wait(5)
    assert watch.stop(60)


def test_whatever_goes_wrong_it_goes_on() -> None:
    def busy() -> None:
        raise StoreBusy("somebody writes")

    def mistaken() -> None:
        raise ZeroDivisionError("oh")

    ticks, logged = Ticks(busy, mistaken), list[str]()
    watch = Watch(ticks, logged.append)
    watch.start()
    for _ in range(3):
        ticks.wait()
        watch.wake()
    assert watch.stop(60)
    assert logged == [
        "the clock of the house: somebody writes",
        "the clock of the house: a mistake in Metnos: ZeroDivisionError",
    ]


def test_stopping_waits_for_what_goes_on_only_so_long() -> None:
    begun, over = threading.Event(), threading.Event()

    def tick(stop: Callable[[], bool]) -> float:
        begun.set()
        over.wait(60)
        assert stop()
        return 0

    watch = Watch(tick, lambda _: None)
    watch.start()
    assert begun.wait(60)
    assert not watch.stop(0.05)
    over.set()
    assert watch.stop(60)


def test_one_that_was_never_started_stops_too() -> None:
    assert Watch(lambda _: 0.0, lambda _: None).stop(1)
