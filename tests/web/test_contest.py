"""The bars of an arena lie within their width and are as long as what they stand for."""

from hypothesis import given
from hypothesis import strategies as st

from metnos.web.contest import bars

_VALUE = st.floats(-1e6, 1e6)
_FIGHTER = st.fixed_dictionaries(
    {"name": st.just("a"), "state": st.just("fit"), "fitness": _VALUE, "signals": st.integers(0, 3), "uses": st.just(1)}
)


@given(st.lists(_FIGHTER, max_size=8))
def test_a_bar_begins_or_ends_in_the_middle_and_stays_within_the_width(executors: list[dict[str, object]]) -> None:
    for bar in bars({"executors": executors}):
        assert 0 <= bar.begin <= bar.begin + bar.length <= 100
        assert bar.begin == 50 if bar.good else abs(bar.begin + bar.length - 50) < 1e-9


def test_the_greatest_fills_its_half_and_the_others_are_in_proportion() -> None:
    fighters = [{"name": name, "state": "fit", "signals": 1, "fitness": value} for name, value in (("a", -8), ("b", 2))]
    first, second = bars({"executors": fighters})
    assert (first.begin, first.length, first.good) == (0, 50, False)
    assert (second.begin, second.length, second.good) == (50, 12.5, True)


def test_who_was_not_judged_has_neither_bar_nor_figure() -> None:
    (bar,) = bars({"executors": [{"name": "a", "state": "neutral", "signals": 0, "fitness": 3.0}]})
    assert (bar.length, bar.value, bar.word) == (0, "", "not known")
