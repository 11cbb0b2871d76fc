"""A bucket lets so many through at once, and so many a second, whatever the order."""

from hypothesis import given
from hypothesis import strategies as st

from metnos.api.http import rate
from metnos.api.http.rate import Buckets, Rate


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@given(
    burst=st.integers(1, 20),
    per_s=st.floats(0.1, 50),
    pauses=st.lists(st.floats(0, 3), min_size=1, max_size=60),
)
def test_never_more_than_the_burst_and_what_time_gives(burst: int, per_s: float, pauses: list[float]) -> None:
    time = Time()
    buckets = Buckets(Rate(per_s, burst), time)
    let = 0
    for pause in pauses:
        time.now += pause
        wait = buckets.take("one")
        let += not wait
        assert let <= burst + time.now * per_s + 1e-6
        if wait:
            time.now += wait + 1e-6
            assert buckets.take("one") == 0  # who waits as long as it was told gets through
            let += 1


def test_each_has_a_bucket_of_its_own_and_strangers_do_not_fill_the_memory() -> None:
    time = Time()
    buckets = Buckets(Rate(1, 1), time)
    assert [buckets.take("a"), buckets.take("b")] == [0, 0]
    assert buckets.take("a") > 0
    for number in range(rate._MOST + 10):
        buckets.take(str(number))
    assert len(buckets._held) == rate._MOST


def test_a_clock_that_goes_back_gives_nothing() -> None:
    time = Time()
    buckets = Buckets(Rate(1, 1), time)
    time.now = 100
    assert buckets.take("a") == 0
    time.now = 0
    assert buckets.take("a") > 0
